"""The compiled step, checks: the certificate and the energy balance, from the problem posed and the states."""

from __future__ import annotations

import math

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, perform, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.dynamics.bodies import EVEN, body_energy
from signorini.dynamics.flight import SPUN, flies
from signorini.engine.arrays import (
    A_BODY,
    ACTIVE,
    B_BODY,
    BALANCE,
    BALANCE_COUNT,
    BEGIN,
    BEGIN_AGAIN,
    BOUND,
    CHECK,
    COLLIDES,
    COMPLIANCE,
    COMPLIANT,
    CONE_VIOLATION,
    CONTACTS,
    CORRECTED,
    CORRECTION,
    CORRECTION_WORK,
    COUNTS,
    DEEPEST,
    DEEPEST_A,
    DEEPEST_B,
    DEEPEST_EXTENT,
    DEFLECTION,
    DISSIPATION_ANGLE,
    DISTANCE,
    DRIFT,
    DRIVE,
    DRIVE_WORK,
    DRIVEN,
    EFFORT,
    ELASTIC_GAIN,
    ENERGY_AT_PLAY,
    ENERGY_CHANGE,
    ENERGY_ERROR,
    ENERGY_MOVING,
    ENERGY_SCALE,
    FEATURE,
    FIXED,
    FLOWN,
    FRICTION_LOSS,
    GAIN_SCALE,
    GAINED,
    GRAVITY,
    GRAVITY_X,
    HIT_BODY,
    HIT_TURN,
    IMPACT_LOSS,
    IMPULSE,
    INDEX,
    INERTIA,
    INTEGRATION_LOSS,
    JOINED,
    LOAD,
    LOAD_WORK,
    LOST_MOMENTUM,
    MASS,
    MIN_GAP,
    MODE,
    MU,
    NORMAL,
    NUMBERS,
    OLD,
    OLD_FEATURE,
    OLD_SOFTNESS,
    ORDER,
    OVERLAP,
    OVERLAP_EXTENT,
    P_EXT,
    PAUSE,
    PLACE,
    POSITION,
    PRESS_JOINED,
    PRESSED,
    Q_0,
    Q_START,
    REFERENCE,
    RESCUED,
    RESIDUAL,
    RHO,
    ROWS,
    SCRATCH,
    SEEN,
    SEEN_INDEX,
    SEEN_VALUE,
    SLID,
    SOFTEN,
    SOFTNESS,
    SOFTNESS_COLUMNS,
    SPRING,
    SPUN_UP,
    STAGE,
    STORED,
    SUCCESS,
    SWEEPS,
    THIN,
    TOLERANCE,
    TURNED,
    TURNED_ENERGY,
    UNSURE,
    UNSURE_BODY,
    V_0,
    V_SPUN,
    VALUE,
    WAY,
    WEIGHT,
    B,
    H,
    P,
    Q,
    U,
    V,
)
from signorini.engine.contacts import contact_arms, point_velocity
from signorini.engine.softness import count_spare_rows, judge_softness
from signorini.engine.uncertain_motion import uncertain_motion
from signorini.math.cones import ROUNDING, allowed_error, leaves_load, natural_norms, natural_square
from signorini.math.rotation import dot, tangent_frame
from signorini.posing.contact_checks import SEPARATING, STICK, contact_checks
from signorini.posing.lost_momentum import lost_momentum


@inner_kernel
def check_law(t: IntArray) -> None:
    """Check the contact law as it was posed; u is that of the impulses, load and compliance included."""
    counts, check, tolerance = wholes(t, COUNTS), reals(t, CHECK), reals(t, NUMBERS)[TOLERANCE]
    n_c = counts[ACTIVE]
    p, u, load, compliance = (
        real_rows(t, P)[:n_c],
        real_rows(t, U)[:n_c],
        real_rows(t, LOAD)[:n_c],
        real_rows(t, COMPLIANCE),
    )
    mu, rho = reals(t, MU)[:n_c], reals(t, RHO)[:n_c]
    error, size, scale = natural_norms(p, u, load, mu, rho)
    scale = max(size, scale)
    residual = error / scale if scale > 0.0 else error
    check[RESIDUAL] = residual if residual >= 0.0 else math.inf
    fastest, largest, rounding = 0.0, 0.0, 0.0
    for c in range(n_c):
        impulse = math.sqrt(p[c, 0] * p[c, 0] + p[c, 1] * p[c, 1] + p[c, 2] * p[c, 2])
        rounding = max(rounding, ROUNDING * impulse / rho[c])
        for k in range(3):
            fastest = max(fastest, abs(load[c, k]))
        largest = max(largest, compliance[c, 0])
    check[COMPLIANT] = largest
    lost = rounding / fastest if fastest > 0.0 else 0.0
    credible, allowed = leaves_load(tolerance, lost), allowed_error(tolerance, lost) * fastest
    for c in range(n_c):
        square = natural_square(p[c, 0], p[c, 1], p[c, 2], u[c, 0], u[c, 1], u[c, 2], mu[c], rho[c])
        credible = credible and square <= (allowed * rho[c]) ** 2 and -u[c, 0] <= allowed
    check[SUCCESS] = 1.0 if credible and check[RESIDUAL] <= tolerance else 0.0
    check[EFFORT] = counts[SWEEPS]
    check[CONE_VIOLATION], check[DISSIPATION_ANGLE] = contact_checks(
        p, u, mu, rho, tolerance * scale, wholes(t, ORDER), wholes(t, MODE)[: counts[SEEN]]
    )


@inner_kernel
def hand_over(t: IntArray) -> None:
    """Free u of what gap and compliance ask for, put it and the impulses in the order of features, remember all."""
    counts, order = wholes(t, COUNTS), wholes(t, ORDER)
    p, u, b, load = real_rows(t, P), real_rows(t, U), real_rows(t, B), real_rows(t, LOAD)
    compliance, softness = real_rows(t, COMPLIANCE), real_rows(t, SOFTNESS)
    impulse, index = real_rows(t, IMPULSE), whole_rows(t, SEEN_INDEX)
    mode = wholes(t, MODE)
    old_feature, old_softness = wholes(t, OLD_FEATURE), real_rows(t, OLD_SOFTNESS)
    judge_softness(t)
    count_spare_rows(t)
    for k in range(counts[ACTIVE], counts[ROWS]):  # asleep
        mode[order[k]] = STICK if p[k, 0] > 0.0 else SEPARATING
        for i in range(3):
            u[k, i] = 0.0
    for k in range(counts[ROWS]):
        c = order[k]
        for i in range(3):
            if k < counts[ACTIVE]:
                u[k, i] -= compliance[k, i] * p[k, i] + (load[k, i] - b[k, i])
            impulse[c, i] = p[k, i]
        for i in range(SOFTNESS_COLUMNS):
            old_softness[c, i] = softness[k, i]
        old_feature[c] = index[c, FEATURE]
    counts[OLD] = counts[ROWS]
    counts[SOFTEN] = 0
    counts[RESCUED] = 0


@inner_kernel
def _velocity(v: Array, b: int) -> tuple[float, float, float, float, float, float]:
    return (v[b, 0], v[b, 1], v[b, 2], v[b, 3], v[b, 4], v[b, 5])


@inner_kernel
def _velocity_at_end(t: IntArray, b: int) -> tuple[float, float, float, float, float, float]:
    """Return the velocity at the end of the step: flight changes spins."""
    flown, v = real_rows(t, FLOWN), _velocity(real_rows(t, V), b)
    if not flies(flown, b):
        return v
    return (v[0], v[1], v[2], flown[b, SPUN], flown[b, SPUN + 1], flown[b, SPUN + 2])


@inner_kernel
def _drive_work(t: IntArray) -> float:
    """Return the work of prescribed motions through contacts [J]."""
    counts, order, index = wholes(t, COUNTS), wholes(t, ORDER), whole_rows(t, SEEN_INDEX)
    p, value, q, drive = real_rows(t, P), real_rows(t, SEEN_VALUE), real_rows(t, Q_0), real_rows(t, DRIVE)
    work = 0.0
    for k in range(counts[ACTIVE]):
        c = order[k]
        a = index[c, A_BODY]
        if c < counts[SEEN] and a < counts[FIXED] and p[k, 0] != 0.0:
            n = (value[c, NORMAL], value[c, NORMAL + 1], value[c, NORMAL + 2])
            tangent, other = tangent_frame(n)
            r, _ = contact_arms(value, q, c, a, index[c, B_BODY], counts[FIXED])
            v = point_velocity(drive, a, r)
            work += p[k, 0] * dot(n, v) + p[k, 1] * dot(tangent, v) + p[k, 2] * dot(other, v)
    return work


@inner_kernel
def _contact_work(t: IntArray) -> tuple[float, float, float, float, float]:
    """Return what recovery, friction and normal impulses did [J], and mark the bodies that were pressed.

    Then the energy that impulses gave to bodies which had felt all loads, ``p . (u + b) / 2``, and the energy that they
    would give to bodies at rest.
    """
    counts, order, index, place = wholes(t, COUNTS), wholes(t, ORDER), whole_rows(t, SEEN_INDEX), whole_rows(t, PLACE)
    p, u, free, correction = real_rows(t, P), real_rows(t, U), real_rows(t, B), reals(t, CORRECTED)
    for b in range(place.shape[0]):
        place[b, PRESSED] = 0
    lifted, friction, normal, given, pushed = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(counts[ACTIVE]):
        for i in range(3):
            pushed += 0.5 * abs(p[k, i] * (u[k, i] - free[k, i]))
        p0, p1, p2 = p[k, 0], p[k, 1], p[k, 2]
        c = order[k]
        if c >= counts[SEEN] or (p0 == 0.0 and p1 == 0.0 and p2 == 0.0):
            continue
        place[index[c, A_BODY], PRESSED] = 1
        place[index[c, B_BODY], PRESSED] = 1
        lifted += p0 * correction[k]
        friction -= p1 * u[k, 1] + p2 * u[k, 2]
        normal += p0 * u[k, 0]
        for i in range(3):
            given += 0.5 * p[k, i] * (u[k, i] + free[k, i])
    return (lifted, friction, normal, given, pushed)


@inner_kernel
def _pumped(t: IntArray) -> float:
    """Return the energy that compliances gained because they were made larger under load [J]; remember what is stored.

    A compliance that gave way stores ``a p^2 / 2``, counted as lost in friction and impact until it comes back.
    """
    counts, numbers, check = wholes(t, COUNTS), reals(t, NUMBERS), reals(t, CHECK)
    if check[COMPLIANT] == 0.0:
        numbers[STORED] = 0.0
        return 0.0
    p, compliance, reference = real_rows(t, P), real_rows(t, COMPLIANCE), real_rows(t, REFERENCE)
    found, left = 0.0, 0.0
    for k in range(counts[ACTIVE]):
        for i in range(3):
            found += 0.5 * compliance[k, i] * reference[k, i] ** 2
            left += 0.5 * compliance[k, i] * p[k, i] ** 2
    gained: float = max(0.0, found - numbers[STORED])
    numbers[STORED] = left
    return gained


@inner_kernel
def _gained_by_springs(t: IntArray) -> float:
    """Return by how much the energy in contacts with a stiffness grew [J]; remember what is stored."""
    numbers, p, before, square = reals(t, NUMBERS), real_rows(t, P), reals(t, NUMBERS)[STORED], 0.0
    for k in range(wholes(t, COUNTS)[ROWS]):
        if wholes(t, ORDER)[k] < wholes(t, COUNTS)[SEEN]:
            square += p[k, 0] ** 2
    stored: float = 0.5 * numbers[SPRING] * square * numbers[DRIFT] / numbers[H]  # p^2/(2 h^2 k)
    numbers[STORED] = stored
    gained: float = stored - before
    return gained


@inner_kernel
def _differ(a: Array, b: Array) -> bool:
    found = False
    for k in range(a.shape[0]):
        found = found or a[k] != b[k]
    return found


@inner_kernel
def _kinetic_terms(t: IntArray, late: float) -> tuple[float, float, float, float, float, float]:
    """Return kinetic energies before and after [J], and what parting, jumps of pressed bodies and the scheme took.

    At last what bodies gained that kept their momentum, but turned evenly and not as they would fly.
    """
    mass, inertia, numbers, place = reals(t, MASS), real_blocks(t, INERTIA), reals(t, NUMBERS), whole_rows(t, PLACE)
    q, v, q_0, v_0 = real_rows(t, Q), real_rows(t, V), real_rows(t, Q_START), real_rows(t, V_0)
    q_displaced, v_spun = real_rows(t, Q_0), real_rows(t, V_SPUN)
    T_0, T_1, displaced, pressed_loss, free_loss, turned, way = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, wholes(t, WAY)
    for b in range(wholes(t, COUNTS)[FIXED], mass.shape[0]):
        I = inertia[b]
        e_0, e_1 = (q_0[b, 3], q_0[b, 4], q_0[b, 5], q_0[b, 6]), (q[b, 3], q[b, 4], q[b, 5], q[b, 6])
        e_displaced = (q_displaced[b, 3], q_displaced[b, 4], q_displaced[b, 5], q_displaced[b, 6])
        if late > 0.0:
            e_0 = e_displaced
        new, spun = _velocity(v, b), _velocity(v_spun, b)
        start = body_energy(mass[b], I, e_0, _velocity(v_0, b))  # the same all along a drift
        jump = body_energy(
            mass[b],
            I,
            e_0,
            (
                new[0] - spun[0],
                new[1] - spun[1],
                new[2] - spun[2],
                new[3] - spun[3],
                new[4] - spun[4],
                new[5] - spun[5],
            ),
        )
        # All of the step belongs to the orientation before overlapping bodies were displaced.
        if late == 0.0 and _differ(q_displaced[b], q_0[b]):
            displaced += body_energy(mass[b], I, e_displaced, new) - body_energy(mass[b], I, e_0, new)
            for k in range(3):
                displaced -= mass[b] * numbers[GRAVITY_X + k] * (q_displaced[b, k] - q_0[b, k])
        free_loss += start - body_energy(mass[b], I, e_0, spun)
        if place[b, PRESSED] == 1:
            pressed_loss += jump
        else:
            free_loss += jump
        T_0 += start
        end = body_energy(mass[b], I, e_1, _velocity_at_end(t, b))
        if way[b] == EVEN:
            turned += end - body_energy(mass[b], I, e_displaced, new)
        T_1 += end
    return (T_0, T_1, displaced, pressed_loss, free_loss, turned)


@inner_kernel
def _load_terms(t: IntArray, late: float) -> tuple[float, float, float, float, float]:
    """Return what gravity and other loads do [J].

    Potential energies before and after, the weight of the scene times its extent, the work of the other loads over the
    way of the step, and how much more that of all loads would be at the new velocities.
    """
    mass, bound, numbers, fixed = reals(t, MASS), reals(t, BOUND), reals(t, NUMBERS), wholes(t, COUNTS)[FIXED]
    q, v, q_0, v_0 = real_rows(t, Q), real_rows(t, V), real_rows(t, Q_START), real_rows(t, V_0)
    p_ext, weight, h = real_rows(t, P_EXT), real_rows(t, WEIGHT), numbers[H]
    before, after, load, more, extent, largest, heaviness = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(3):
        least, most = math.inf, -math.inf
        for b in range(fixed, mass.shape[0]):
            least, most = min(least, q[b, k]), max(most, q[b, k])
        extent = max(extent, most - least)
    for b in range(mass.shape[0]):
        largest = max(largest, bound[b])
        if b < fixed:
            continue
        for k in range(3):
            g = mass[b] * numbers[GRAVITY_X + k]
            before -= g * q_0[b, k]
            after -= g * q[b, k]
        for k in range(6):
            change = late * (v[b, k] - v_0[b, k])
            load += (p_ext[b, k] - h * weight[b, k]) * (v[b, k] - change)
            more += p_ext[b, k] * change
        heaviness += mass[b] * numbers[GRAVITY]
    return (before, after, heaviness * (extent + largest), load, more)


@inner_kernel
def _note_uncertain(t: IntArray) -> None:
    """Note which body errors of contacts may push aside the most."""
    counts, numbers, check, position = wholes(t, COUNTS), reals(t, NUMBERS), reals(t, CHECK), wholes(t, POSITION)
    seen, n_b, scratch = counts[SEEN], reals(t, MASS).shape[0], reals(t, SCRATCH)
    push, hit, contacts = scratch[:n_b], scratch[n_b : 2 * n_b], scratch[2 * n_b :]
    miss, mu = contacts[:seen], contacts[seen : 2 * seen]
    p, u, b, load, compliance = (
        real_rows(t, P),
        real_rows(t, U),
        real_rows(t, B),
        real_rows(t, LOAD),
        real_rows(t, COMPLIANCE),
    )
    for c in range(seen):
        k = position[c]
        awake = k < counts[ACTIVE]
        miss[c] = u[k, 0] + compliance[k, 0] * p[k, 0] + (load[k, 0] - b[k, 0]) if awake else 0.0
        mu[c] = reals(t, MU)[k] if awake else math.inf
    check[UNSURE], check[UNSURE_BODY], check[HIT_TURN], check[HIT_BODY] = uncertain_motion(
        real_rows(t, SEEN_VALUE)[:seen],
        whole_rows(t, SEEN_INDEX)[:seen],
        real_rows(t, IMPULSE)[:seen],
        miss,
        mu,
        counts[FIXED],
        real_rows(t, Q_0),
        real_rows(t, V_0),
        reals(t, MASS),
        reals(t, THIN),
        numbers[GRAVITY],
        numbers[H],
        push,
        hit,
    )


@inner_kernel
def account(t: IntArray) -> None:
    """Write the energy balance of the step, and how far it is from closing; see :mod:`.balance` for the identity."""
    counts, numbers, check, balance = wholes(t, COUNTS), reals(t, NUMBERS), reals(t, CHECK), reals(t, BALANCE)
    lifted, friction, normal, given, pushed = _contact_work(t)
    given += numbers[SPUN_UP] - lifted
    if counts[JOINED] == 1:
        perform(t[PRESS_JOINED, 0], (t,))
    drive = _drive_work(t) + numbers[DRIVEN] if counts[PAUSE] == 1 else 0.0
    friction += numbers[TURNED]
    stored = numbers[STORED]  # in what gave way, and comes back
    if numbers[SPRING] > 0.0:
        elastic = _gained_by_springs(t)
    else:
        elastic = 0.0
        lifted += _pumped(t)
    # Of theta < 1: the step acts where bodies have drifted to, and loads work over the way of the step.
    late = 1.0 - numbers[DRIFT] / numbers[H]
    T_0, T_1, displaced, pressed_loss, free_loss, turned = _kinetic_terms(t, late)
    before, after, scale, load, more = _load_terms(t, late)
    impact = pressed_loss + lifted - normal - elastic
    lifted += displaced
    free_loss -= more + turned
    if counts[COLLIDES] == 1:
        impact += friction - numbers[SLID]
        friction = numbers[SLID]
    balance[LOAD_WORK] = load
    balance[DRIVE_WORK] = drive
    balance[CORRECTION_WORK] = lifted
    balance[FRICTION_LOSS] = friction
    balance[IMPACT_LOSS] = impact
    balance[INTEGRATION_LOSS] = free_loss
    balance[ELASTIC_GAIN] = elastic
    check[CORRECTION] = lifted
    # Impulses, and the weight of the scene times its extent, keep the scale from vanishing in scenes at rest.
    moving = max(T_0, T_1, pushed)
    check[ENERGY_AT_PLAY] = max(moving, scale)
    check[ENERGY_MOVING] = moving
    # What gave way under a compliance comes back: such contacts may give.
    numbers[GAIN_SCALE] = moving if stored == 0.0 and check[COMPLIANT] == 0.0 else math.inf
    check[TURNED_ENERGY] = abs(turned) / moving if turned != 0.0 else 0.0
    check[GAINED] = given / numbers[GAIN_SCALE] if given > 0.0 else 0.0
    seen, value, index = counts[SEEN], real_rows(t, SEEN_VALUE), whole_rows(t, SEEN_INDEX)
    check[LOST_MOMENTUM] = lost_momentum(
        value[:seen],
        index[:seen],
        real_rows(t, IMPULSE)[:seen],
        True,
        counts[FIXED],
        real_rows(t, Q_0),
        real_rows(t, V_0),
        reals(t, MASS),
        real_blocks(t, INERTIA),
        reals(t, BOUND),
    )
    _note_uncertain(t)
    numbers[ENERGY_CHANGE] = (T_1 - T_0) + (after - before)
    numbers[ENERGY_SCALE] = max(moving, abs(before), abs(after), scale)  # rounding depends on the height
    if counts[JOINED] == 0:  # else energies of the joints follow, see engine/joints/checks.py
        close_balance(t)


@inner_kernel
def close_balance(t: IntArray) -> None:
    """Note how far the balance is from closing."""
    numbers, check, balance = reals(t, NUMBERS), reals(t, CHECK), reals(t, BALANCE)
    gained, lost, scale = 0.0, 0.0, numbers[ENERGY_SCALE]
    for k in range(BALANCE_COUNT):
        scale = max(scale, abs(balance[k]))
        if k < FRICTION_LOSS:
            gained += balance[k]
        else:
            lost += balance[k]
    gap = abs(numbers[ENERGY_CHANGE] - (gained - lost))
    check[ENERGY_ERROR] = gap / scale if scale > 0.0 else 0.0
    if not math.isfinite(gap):  # nor is the state
        check[ENERGY_ERROR] = math.inf
        check[SUCCESS] = 0.0


@inner_kernel
def smallest_gap(t: IntArray) -> None:
    """Note the smallest gap ahead, and which overlap of the step is deepest beside the width of its bodies."""
    counts, check, numbers = wholes(t, COUNTS), reals(t, CHECK), reals(t, NUMBERS)
    value, index, thin = real_rows(t, VALUE), whole_rows(t, INDEX), reals(t, THIN)
    if counts[STAGE] == BEGIN_AGAIN:  # which was done
        return
    begins = counts[STAGE] == BEGIN
    for k in range(4):
        check[OVERLAP + k] = numbers[DEEPEST + k]
    asked = 0.0
    if numbers[SPRING] > 0.0:  # springs give way as the user wants
        asked = math.inf if begins else check[DEFLECTION]
    least, deepest, width, a, b = math.inf, 0.0, math.inf, -1, -1
    for c in range(counts[CONTACTS]):
        gap = value[c, DISTANCE]
        least = min(least, gap)
        if gap < -asked:
            beside = min(thin[index[c, A_BODY]], thin[index[c, B_BODY]])
            if a < 0 or -(gap + asked) * width > deepest * beside:
                deepest, width, a, b = -(gap + asked), beside, index[c, A_BODY], index[c, B_BODY]
    check[MIN_GAP] = least
    numbers[DEEPEST], numbers[DEEPEST_EXTENT], numbers[DEEPEST_A], numbers[DEEPEST_B] = deepest, width, a, b
    if begins or deepest / width > check[OVERLAP] / check[OVERLAP_EXTENT]:
        for k in range(4):
            check[OVERLAP + k] = numbers[DEEPEST + k]
