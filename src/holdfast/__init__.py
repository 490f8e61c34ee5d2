"""Holdfast keeps Spark Structured Streaming pipelines safe across every restart.

>>> import holdfast
>>> holdfast.inspect("demo/orders").result.next_start.action
<Action.RERUN: 'rerun'>
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    # What type checkers see of _NAMES; tests/test_package.py compares the two.
    from holdfast.answers import Answer as Answer
    from holdfast.backup.results import BackupList as BackupList
    from holdfast.backup.results import BackupReport as BackupReport
    from holdfast.backup.results import Restoration as Restoration
    from holdfast.checkpoint.recovery.outcome import Action as Action
    from holdfast.diagnosis.comparison.result import Comparison as Comparison
    from holdfast.diagnosis.doctor.examination import Examination as Examination
    from holdfast.diagnosis.explain.explaining import Explanation as Explanation
    from holdfast.diagnosis.explain.explaining import explain as explain
    from holdfast.diagnosis.inspection.evidence import Evidence as Evidence
    from holdfast.diagnosis.inspection.result import Inspection as Inspection
    from holdfast.diagnosis.status.result import Status as Status
    from holdfast.errors import CheckpointError as CheckpointError
    from holdfast.errors import DecodeError as DecodeError
    from holdfast.errors import HoldfastError as HoldfastError
    from holdfast.errors import JvmDiedError as JvmDiedError
    from holdfast.errors import LeaseError as LeaseError
    from holdfast.errors import NotFoundError as NotFoundError
    from holdfast.errors import PlanError as PlanError
    from holdfast.errors import ProjectError as ProjectError
    from holdfast.errors import RefusedError as RefusedError
    from holdfast.errors import RunError as RunError
    from holdfast.errors import SinkError as SinkError
    from holdfast.errors import SourceError as SourceError
    from holdfast.errors import SparkStartError as SparkStartError
    from holdfast.errors import StorageError as StorageError
    from holdfast.errors import UsageError as UsageError
    from holdfast.findings import Finding as Finding
    from holdfast.findings import Severity as Severity
    from holdfast.jobs.built import Job as Job
    from holdfast.jobs.scaffold import NewProject as NewProject
    from holdfast.jobs.sinks import DeltaSink as DeltaSink
    from holdfast.jobs.sinks import FileSink as FileSink
    from holdfast.jobs.sinks import JdbcSink as JdbcSink
    from holdfast.jobs.sinks import PostgresSink as PostgresSink
    from holdfast.ledgers.custom import BatchLedger as BatchLedger
    from holdfast.ledgers.custom import once_per_batch as once_per_batch
    from holdfast.ledgers.files.manifests import CommittedFile as CommittedFile
    from holdfast.ledgers.files.manifests import committed_files as committed_files
    from holdfast.ledgers.identity import BatchId as BatchId
    from holdfast.ledgers.identity import BatchIdentity as BatchIdentity
    from holdfast.library.backups import back_up as back_up
    from holdfast.library.backups import list_backups as list_backups
    from holdfast.library.backups import restore as restore
    from holdfast.library.backups import settle_restore as settle_restore
    from holdfast.library.checking import check as check
    from holdfast.library.jobs import init_project as init_project
    from holdfast.library.jobs import status as status
    from holdfast.library.looking import diff as diff
    from holdfast.library.looking import doctor as doctor
    from holdfast.library.looking import evidence as evidence
    from holdfast.library.looking import inspect as inspect
    from holdfast.library.program import start as start
    from holdfast.library.recording import NotRecordedWarning as NotRecordedWarning
    from holdfast.library.recording import record as record
    from holdfast.library.recording import record_event_log as record_event_log
    from holdfast.library.recording import record_jobs as record_jobs
    from holdfast.library.rehearsing import rehearse as rehearse
    from holdfast.library.remedies import apply as apply
    from holdfast.library.remedies import finish_plan as finish_plan
    from holdfast.library.remedies import journal as journal
    from holdfast.library.remedies import plan as plan
    from holdfast.library.remedies import undo as undo
    from holdfast.library.running import run as run
    from holdfast.library.state import open_checkpoint as open_checkpoint
    from holdfast.library.state import read_state as read_state
    from holdfast.records.run import Ended as Ended
    from holdfast.remedy.plan import Plan as Plan
    from holdfast.remedy.plan import Remedy as Remedy
    from holdfast.remedy.rehearsal.results import Rehearsal as Rehearsal
    from holdfast.remedy.results import Applied as Applied
    from holdfast.remedy.results import JournalReport as JournalReport
    from holdfast.restart.recorded import RecordReport as RecordReport
    from holdfast.restart.result import Check as Check
    from holdfast.restart.verdict import Verdict as Verdict
    from holdfast.running.report import BatchDone as BatchDone
    from holdfast.running.report import Event as Event
    from holdfast.running.report import JobEnded as JobEnded
    from holdfast.running.report import JobReport as JobReport
    from holdfast.running.report import JobRestarting as JobRestarting
    from holdfast.running.report import JobsFailed as JobsFailed
    from holdfast.running.report import JobStarted as JobStarted
    from holdfast.running.report import JobStarting as JobStarting
    from holdfast.running.report import JobStopping as JobStopping
    from holdfast.running.report import JobWaiting as JobWaiting
    from holdfast.running.report import JobWaitingForUpstream as JobWaitingForUpstream
    from holdfast.running.report import RecordFailing as RecordFailing
    from holdfast.running.report import RunReport as RunReport
    from holdfast.running.report import RunStep as RunStep
    from holdfast.running.report import Watcher as Watcher
    from holdfast.running.stopping import Stopping as Stopping
    from holdfast.spark.heldquery import HeldQuery as HeldQuery
    from holdfast.state.opened import OpenedCheckpoint as OpenedCheckpoint
    from holdfast.state.opened import StateAnswer as StateAnswer
    from holdfast.state.opened import StateReader as StateReader
    from holdfast.state.results import StateRows as StateRows

_NAMES: dict[str, tuple[str, ...]] = {
    "holdfast.answers": ("Answer",),
    "holdfast.backup.results": ("BackupList", "BackupReport", "Restoration"),
    "holdfast.checkpoint.recovery.outcome": ("Action",),
    "holdfast.diagnosis.comparison.result": ("Comparison",),
    "holdfast.diagnosis.doctor.examination": ("Examination",),
    "holdfast.diagnosis.explain.explaining": ("Explanation", "explain"),
    "holdfast.diagnosis.inspection.evidence": ("Evidence",),
    "holdfast.diagnosis.inspection.result": ("Inspection",),
    "holdfast.diagnosis.status.result": ("Status",),
    "holdfast.errors": (
        "CheckpointError",
        "DecodeError",
        "HoldfastError",
        "JvmDiedError",
        "LeaseError",
        "NotFoundError",
        "PlanError",
        "ProjectError",
        "RefusedError",
        "RunError",
        "SinkError",
        "SourceError",
        "SparkStartError",
        "StorageError",
        "UsageError",
    ),
    "holdfast.findings": ("Finding", "Severity"),
    "holdfast.jobs.built": ("Job",),
    "holdfast.jobs.scaffold": ("NewProject",),
    "holdfast.jobs.sinks": ("DeltaSink", "FileSink", "JdbcSink", "PostgresSink"),
    "holdfast.ledgers.custom": ("BatchLedger", "once_per_batch"),
    "holdfast.ledgers.files.manifests": ("CommittedFile", "committed_files"),
    "holdfast.ledgers.identity": ("BatchId", "BatchIdentity"),
    "holdfast.library.backups": ("back_up", "list_backups", "restore", "settle_restore"),
    "holdfast.library.checking": ("check",),
    "holdfast.library.jobs": ("init_project", "status"),
    "holdfast.library.looking": ("diff", "doctor", "evidence", "inspect"),
    "holdfast.library.program": ("start",),
    "holdfast.library.recording": (
        "NotRecordedWarning",
        "record",
        "record_event_log",
        "record_jobs",
    ),
    "holdfast.library.rehearsing": ("rehearse",),
    "holdfast.library.remedies": ("apply", "finish_plan", "journal", "plan", "undo"),
    "holdfast.library.running": ("run",),
    "holdfast.library.state": ("open_checkpoint", "read_state"),
    "holdfast.records.run": ("Ended",),
    "holdfast.remedy.plan": ("Plan", "Remedy"),
    "holdfast.remedy.rehearsal.results": ("Rehearsal",),
    "holdfast.remedy.results": ("Applied", "JournalReport"),
    "holdfast.restart.recorded": ("RecordReport",),
    "holdfast.restart.result": ("Check",),
    "holdfast.restart.verdict": ("Verdict",),
    "holdfast.running.report": (
        "BatchDone",
        "Event",
        "JobEnded",
        "JobReport",
        "JobRestarting",
        "JobStarted",
        "JobStarting",
        "JobStopping",
        "JobWaiting",
        "JobWaitingForUpstream",
        "JobsFailed",
        "RecordFailing",
        "RunReport",
        "RunStep",
        "Watcher",
    ),
    "holdfast.running.stopping": ("Stopping",),
    "holdfast.spark.heldquery": ("HeldQuery",),
    "holdfast.state.opened": ("OpenedCheckpoint", "StateAnswer", "StateReader"),
    "holdfast.state.results": ("StateRows",),
}
"""Every public name, under the module that it is loaded from at its first use."""
_HOMES = {name: module for module, names in _NAMES.items() for name in names}
_COMMANDS = ("holdfast.library.", "holdfast.diagnosis.explain.")

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 - all of them are strings


def __dir__() -> list[str]:
    """Return every public name, also those that are not loaded yet: notebooks complete them."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


def _drawn(answer: Answer[Any]) -> str | None:
    """Draw an answer for a notebook, by the face that has the pages."""
    import importlib

    drawn: str | None = importlib.import_module("holdfast.cli.pages").html_of(answer)
    return drawn


if not TYPE_CHECKING:
    # Type checkers report a name that is not public.

    def __getattr__(name: str) -> object:
        """Load a public name at its first use, so that `import holdfast` costs next to nothing."""
        if name not in _HOMES:
            raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
        import importlib

        public: object = getattr(importlib.import_module(_HOMES[name]), name)
        if _HOMES[name].startswith(_COMMANDS) and callable(public) and not isinstance(public, type):
            from holdfast.answers import Answer, in_python

            Answer.notebook = staticmethod(_drawn)
            # Commands call the same functions, and are answered with options.
            return in_python(public)
        return public
