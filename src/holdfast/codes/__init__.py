"""The registry of every code that Holdfast can raise or report, a file per subject."""

from __future__ import annotations

from holdfast.codes.backups import BACKUP_CODES
from holdfast.codes.checkpoint import CHECKPOINT_CODES
from holdfast.codes.code import Code
from holdfast.codes.doctor import DOCTOR_CODES
from holdfast.codes.entries import ENTRY_CODES
from holdfast.codes.guarding import GUARD_CODES
from holdfast.codes.leases import EVIDENCE_CODES, LEASE_CODES
from holdfast.codes.project import EXPLAINING_CODES, METRICS_CODES, PROJECT_CODES
from holdfast.codes.remedies import REMEDY_CODES
from holdfast.codes.restarting import RESTART_CODES
from holdfast.codes.running import RUNNING_CODES, SPARK_START_CODES
from holdfast.codes.sinkwriting import SINK_WRITING_CODES
from holdfast.codes.sourceloading import SOURCE_LOADING_CODES
from holdfast.codes.state import STATE_FILE_CODES, STATE_ROW_CODES
from holdfast.codes.storage import STORAGE_CODES

CODES: tuple[Code, ...] = (
    *PROJECT_CODES,
    *METRICS_CODES,
    *EXPLAINING_CODES,
    *CHECKPOINT_CODES,
    *ENTRY_CODES,
    *STATE_FILE_CODES,
    *STATE_ROW_CODES,
    *DOCTOR_CODES,
    *BACKUP_CODES,
    *REMEDY_CODES,
    *EVIDENCE_CODES,
    *LEASE_CODES,
    *GUARD_CODES,
    *RESTART_CODES,
    *SINK_WRITING_CODES,
    *SOURCE_LOADING_CODES,
    *SPARK_START_CODES,
    *RUNNING_CODES,
    *STORAGE_CODES,
)

_BY_NUMBER = {code.number: code for code in CODES}


def code_of(number: str) -> Code:
    """Give the code with this number; an unregistered number is a bug and raises KeyError."""
    return _BY_NUMBER[number]


__all__ = ["CODES", "Code", "code_of"]
