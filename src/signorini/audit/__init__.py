"""Repeats the certificate of a run from its file alone, without the engine that made it."""

from signorini._grades import Grade
from signorini.audit.audit import audit_file, audit_tree
from signorini.audit.findings import Audit, Finding
from signorini.audit.writing import write_record

__all__ = ["Audit", "Finding", "Grade", "audit_file", "audit_tree", "write_record"]
