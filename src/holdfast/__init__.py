"""Holdfast keeps Spark Structured Streaming pipelines safe across every restart.

>>> import holdfast
>>> answer = holdfast.inspect("checkpoints/orders")      # doctest: +SKIP
>>> answer.result.next_start.action                      # doctest: +SKIP
<Action.PLAN: 'plan'>
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from holdfast.answers import Answer
    from holdfast.backup.results import BackupList, BackupReport, Restoration
    from holdfast.diagnosis.comparison.result import Comparison
    from holdfast.diagnosis.doctor.examination import Examination
    from holdfast.diagnosis.explain.explaining import explain
    from holdfast.diagnosis.explain.explanation import Explanation
    from holdfast.diagnosis.inspection.fact import Evidence
    from holdfast.diagnosis.inspection.result import Inspection
    from holdfast.diagnosis.status.result import Status
    from holdfast.errors import HoldfastError
    from holdfast.findings import Finding, Severity
    from holdfast.jobs.built import Job
    from holdfast.ledgers.custom.batchledger import BatchLedger
    from holdfast.ledgers.custom.onceperbatch import once_per_batch
    from holdfast.ledgers.files.manifests import CommittedFile, committed_files
    from holdfast.ledgers.identity import BatchId, BatchIdentity
    from holdfast.library import (
        back_up,
        diff,
        doctor,
        evidence,
        inspect,
        list_backups,
        open_checkpoint,
        read_state,
        restore,
        run,
        settle_restore,
        start,
        status,
    )
    from holdfast.spark.heldquery import HeldQuery
    from holdfast.spark.report import JobReport, RunReport
    from holdfast.state.frames import StateAnswer, StateReader
    from holdfast.state.opened import OpenedCheckpoint
    from holdfast.state.results import StateRows

_HOMES = {
    "Answer": "holdfast.answers",
    "BackupList": "holdfast.backup.results",
    "BackupReport": "holdfast.backup.results",
    "BatchId": "holdfast.ledgers.identity",
    "BatchIdentity": "holdfast.ledgers.identity",
    "BatchLedger": "holdfast.ledgers.custom.batchledger",
    "CommittedFile": "holdfast.ledgers.files.manifests",
    "Comparison": "holdfast.diagnosis.comparison.result",
    "Evidence": "holdfast.diagnosis.inspection.fact",
    "Examination": "holdfast.diagnosis.doctor.examination",
    "Explanation": "holdfast.diagnosis.explain.explanation",
    "Finding": "holdfast.findings",
    "HeldQuery": "holdfast.spark.heldquery",
    "HoldfastError": "holdfast.errors",
    "Inspection": "holdfast.diagnosis.inspection.result",
    "Job": "holdfast.jobs.built",
    "JobReport": "holdfast.spark.report",
    "OpenedCheckpoint": "holdfast.state.opened",
    "Restoration": "holdfast.backup.results",
    "RunReport": "holdfast.spark.report",
    "Severity": "holdfast.findings",
    "StateAnswer": "holdfast.state.frames",
    "StateReader": "holdfast.state.frames",
    "StateRows": "holdfast.state.results",
    "Status": "holdfast.diagnosis.status.result",
    "back_up": "holdfast.library",
    "committed_files": "holdfast.ledgers.files.manifests",
    "diff": "holdfast.library",
    "doctor": "holdfast.library",
    "evidence": "holdfast.library",
    "explain": "holdfast.diagnosis.explain.explaining",
    "inspect": "holdfast.library",
    "list_backups": "holdfast.library",
    "once_per_batch": "holdfast.ledgers.custom.onceperbatch",
    "open_checkpoint": "holdfast.library",
    "read_state": "holdfast.library",
    "restore": "holdfast.library",
    "run": "holdfast.library",
    "settle_restore": "holdfast.library",
    "start": "holdfast.library",
    "status": "holdfast.library",
}
_COMMANDS = frozenset({"holdfast.library", "holdfast.diagnosis.explain.explaining"})

__all__ = [
    "Answer",
    "BackupList",
    "BackupReport",
    "BatchId",
    "BatchIdentity",
    "BatchLedger",
    "CommittedFile",
    "Comparison",
    "Evidence",
    "Examination",
    "Explanation",
    "Finding",
    "HeldQuery",
    "HoldfastError",
    "Inspection",
    "Job",
    "JobReport",
    "OpenedCheckpoint",
    "Restoration",
    "RunReport",
    "Severity",
    "StateAnswer",
    "StateReader",
    "StateRows",
    "Status",
    "__version__",
    "back_up",
    "committed_files",
    "diff",
    "doctor",
    "evidence",
    "explain",
    "inspect",
    "list_backups",
    "once_per_batch",
    "open_checkpoint",
    "read_state",
    "restore",
    "run",
    "settle_restore",
    "start",
    "status",
]


def __dir__() -> list[str]:
    """Return every public name, also those that are not loaded yet: notebooks complete them."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


def __getattr__(name: str) -> object:
    """Load a public name at its first use, so that `import holdfast` costs next to nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    import importlib

    public: object = getattr(importlib.import_module(_HOMES[name]), name)
    if _HOMES[name] in _COMMANDS and callable(public):
        from holdfast.answers import in_python

        # Commands call the same functions, and are answered with options.
        return in_python(public)
    return public
