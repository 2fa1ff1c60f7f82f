"""``signorini audit``: can the result in this file be trusted?"""

from __future__ import annotations

from pathlib import Path

from signorini.audit import Grade, audit_file
from signorini.cli.output import announce_first_run, to_json

NOT_TRUSTED = 1


def audit(path: Path, *, as_json: bool) -> int:
    """Repeat the certificate of a run; return 1 if it is not trusted."""
    announce_first_run()
    found = audit_file(path)
    print(to_json(found.to_dict()) if as_json else found.text())
    return NOT_TRUSTED if found.verdict is Grade.NOT_TRUSTED else 0
