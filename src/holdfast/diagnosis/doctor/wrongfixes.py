"""Fixes that people commonly advise and that do harm here, by the code of the finding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from holdfast.findings import Finding, Severity

WRONG_FIXES = "wrong_fixes"
"""The key under which a finding's evidence holds them."""

ONE_OFFSETS_FILE = (
    "deleting one offsets file: Spark plans that id again with other data, which the sink, knowing "
    "the id, skips (file sink, Delta) or takes twice (foreachBatch)"
)
THE_COMMIT = (
    "deleting the commit that is left over: Spark plans the id again; measured, the file sink lost "
    "2 of 8 rows, and foreachBatch wrote 2 of 8 rows twice"
)
CHECKPOINT = (
    "deleting the checkpoint: position, state and the query id that the sink knows are lost at once"
)
SPARK_METADATA = (
    "deleting _spark_metadata: readers then see files of failed attempts, rows double, and the "
    "next compaction fails for good"
)
COPY = (
    "copying the folder and running both: they share one query id, and make each other's batches "
    "look done"
)
SCHEMA_CHECK = (
    "turning the schema check off (stateSchemaCheck=false): Spark then reads the old bytes with "
    "the new meaning and mixes them in"
)
NEW_CHECKPOINT = (
    "starting with a new checkpoint on the same output: a file sink throws the first batches away, "
    "every other sink gets everything twice"
)
RESTORE_TABLE = (
    "RESTORE or DELETE on the table: transaction identifiers stay, so the same batches are still "
    "skipped"
)
FORMER_ID = (
    "writing the old query id into a new checkpoint: measured, Delta dropped the batches that it "
    "knows under that id, and 10 of 24 rows were lost without an error"
)
MANIFESTS = (
    "deleting the manifests: the sink then knows no batch, and the job stops at the files that no "
    "manifest names (HF5006)"
)
SECOND_JOB = "hunting for a second job: the message about concurrent updates is false here"
OLD_SPARK = "starting on 3.5 to 4.1, which make a new id without a word"
DATA_LOSS = "failOnDataLoss=false: it skips the data that is missing and says nothing"

_BY_CODE: Mapping[str, tuple[str, ...]] = {
    "HF2101": (ONE_OFFSETS_FILE, CHECKPOINT),
    "HF2103": (CHECKPOINT,),
    "HF2105": (ONE_OFFSETS_FILE, CHECKPOINT),
    "HF2106": (ONE_OFFSETS_FILE, CHECKPOINT),
    "HF2201": (CHECKPOINT, OLD_SPARK),
    "HF2203": (THE_COMMIT, SECOND_JOB, CHECKPOINT),
    "HF2204": (ONE_OFFSETS_FILE, CHECKPOINT),
    "HF2208": (CHECKPOINT,),
    "HF2210": (SECOND_JOB, CHECKPOINT),
    "HF2216": (CHECKPOINT,),
    "HF2221": (ONE_OFFSETS_FILE, CHECKPOINT),
    "HF2225": (COPY, SCHEMA_CHECK),
    "HF2226": (SCHEMA_CHECK,),
    "HF2240": (SCHEMA_CHECK,),
    "HF2243": (ONE_OFFSETS_FILE, CHECKPOINT),
    "HF2314": (ONE_OFFSETS_FILE, CHECKPOINT),
    "HF2316": (ONE_OFFSETS_FILE, CHECKPOINT),
    "HF2317": (ONE_OFFSETS_FILE, CHECKPOINT),
    "HF2318": (SCHEMA_CHECK,),
    "HF2323": (NEW_CHECKPOINT,),
    "HF2324": (NEW_CHECKPOINT,),
    "HF2325": (NEW_CHECKPOINT, DATA_LOSS),
    "HF2401": (SPARK_METADATA,),
    "HF2402": (SPARK_METADATA, NEW_CHECKPOINT),
    "HF2403": (SPARK_METADATA, CHECKPOINT),
    "HF2404": (SPARK_METADATA, ONE_OFFSETS_FILE),
    "HF2405": (SPARK_METADATA,),
    "HF2406": (SPARK_METADATA,),
    "HF2407": (NEW_CHECKPOINT,),
    "HF2408": (SPARK_METADATA,),
    "HF2411": (RESTORE_TABLE, CHECKPOINT),
    "HF2412": (CHECKPOINT, FORMER_ID),
    "HF2413": (RESTORE_TABLE,),
    "HF2414": (ONE_OFFSETS_FILE, CHECKPOINT),
    "HF2421": (COPY,),
    "HF2441": (CHECKPOINT, NEW_CHECKPOINT),
    "HF2442": (ONE_OFFSETS_FILE, CHECKPOINT),
    "HF2443": (CHECKPOINT,),
    "HF2455": (MANIFESTS,),
    "HF2456": (MANIFESTS,),
}

ALL: tuple[str, ...] = tuple(dict.fromkeys(text for texts in _BY_CODE.values() for text in texts))
"""Every one of them, once."""


def wrong_fixes_of(code: str) -> tuple[str, ...]:
    """Return the fixes that do harm where this code is found."""
    return _BY_CODE.get(code, ())


def with_wrong_fixes(finding: Finding) -> Finding:
    """Return the finding with the fixes that do harm in its evidence, where there are any."""
    fixes = wrong_fixes_of(finding.code)
    if not fixes or finding.severity is Severity.INFO:
        return finding
    return replace(finding, evidence={**finding.evidence, WRONG_FIXES: list(fixes)})
