"""Which couples and half axes the friction of a step has beyond Coulomb's cone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from signorini._arrays import Array, BoolArray
from signorini.model import Contacts, Model


@dataclass(frozen=True, slots=True)
class FrictionLaw:
    """Friction of the contacts of a step; None where no contact has it."""

    torsional: Array | None
    """(n_c,) [m]"""
    rolling: Array | None
    """(n_c,) [m]"""
    ellipsoid: Array | None
    """(n_c, 3): e_t, e_o, e_r [m]"""
    couples: tuple[int, ...]
    """Axes of the contact frame about which couples act: the normal for ellipsoids, again for torsional friction."""
    idle: BoolArray
    """Contacts whose couples about the normal may not act, although others have them, (n_c, 0, 1 or 2)."""

    def words(self, blocks: int) -> dict[str, Any]:
        """Return the arguments of a friction problem with so many blocks: contacts, then laws of joints."""
        out: dict[str, Any] = {}
        for word in ("torsional", "rolling"):
            value = getattr(self, word)
            if value is not None:
                out[word] = np.concatenate([value, np.zeros(blocks - value.size)])
        if self.ellipsoid is not None:
            out["ellipsoid"] = np.concatenate([self.ellipsoid, np.ones((blocks - self.ellipsoid.shape[0], 3))])
        return out


def has_couples(model: Model) -> bool:
    """Tell whether some pair of bodies has friction beyond Coulomb's cone."""
    materials = model.materials
    return any(np.any(values > 0.0) for values in (materials.torsional, materials.rolling, materials.ellipsoid))


def friction_law(model: Model, contacts: Contacts) -> FrictionLaw:
    """Return the friction of these contacts."""
    materials, rows = model.materials, contacts.material
    torsional, rolling = (
        values[rows] if np.any(values[rows] > 0.0) else None for values in (materials.torsional, materials.rolling)
    )
    e = materials.ellipsoid[rows]
    round_ones = ~np.any(e > 0.0, axis=1)
    ellipsoid = None
    if not round_ones.all():
        largest = float(np.max(e[:, 2]))
        ellipsoid = np.where(round_ones[:, None], [1.0, 1.0, largest], e)
    about_normal = [of for of, value in ((round_ones, ellipsoid), (~round_ones, torsional)) if value is not None]
    couples = (0,) * len(about_normal) + (() if rolling is None else (2,) if model.planar else (1, 2))
    idle = np.array(about_normal, dtype=bool).reshape(len(about_normal), rows.size).T
    return FrictionLaw(torsional, rolling, ellipsoid, couples, idle)
