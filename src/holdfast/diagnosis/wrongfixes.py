"""Fixes that people commonly advise and that do harm here, by the code of the finding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from holdfast.findings import Finding, Severity

WRONG_FIXES = "wrong_fixes"
"""The key under which a finding's evidence holds them."""

_ONE_OFFSETS_FILE = (
    "deleting one offsets file: Spark plans that id anew with other data, which the sink, knowing "
    "the id, skips (file sink, Delta) or takes twice (foreachBatch)"
)
_THE_COMMIT = (
    "deleting the commit that is left over: Spark plans the id anew; measured, the file sink kept "
    "6 rows of 7 and foreachBatch wrote 9"
)
_CHECKPOINT = (
    "deleting the checkpoint: position, state and the query id that the sink knows are lost at once"
)
_SPARK_METADATA = (
    "deleting _spark_metadata: readers then see files of failed attempts, rows double, and the "
    "next compaction fails for good"
)
_COPY = (
    "copying the folder and running both: they share one query id, and make each other's batches "
    "look done"
)
_SCHEMA_CHECK = (
    "turning the schema check off (stateSchemaCheck=false): Spark then reads the old bytes with "
    "the new meaning and mixes them in"
)
_NEW_CHECKPOINT = (
    "starting with a new checkpoint on the same output: a file sink throws the first batches away, "
    "every other sink gets everything twice"
)
_RESTORE_TABLE = (
    "RESTORE or DELETE on the table: transaction identifiers stay, so the same batches are still "
    "skipped"
)
_MANIFESTS = (
    "deleting the manifests: the sink then knows no batch, and takes what runs again for new"
)
_SECOND_JOB = "hunting for a second job: the message about concurrent updates is false here"
_DATA_LOSS = "failOnDataLoss=false: it skips the data that is missing and says nothing"

_BY_CODE: Mapping[str, tuple[str, ...]] = {
    "HF2101": (_ONE_OFFSETS_FILE, _CHECKPOINT),
    "HF2103": (_CHECKPOINT,),
    "HF2105": (_ONE_OFFSETS_FILE, _CHECKPOINT),
    "HF2106": (_ONE_OFFSETS_FILE, _CHECKPOINT),
    "HF2201": (_CHECKPOINT, "starting on 3.5 to 4.1, which make a new id without a word"),
    "HF2203": (_THE_COMMIT, _SECOND_JOB, _CHECKPOINT),
    "HF2204": (_ONE_OFFSETS_FILE, _CHECKPOINT),
    "HF2208": (_CHECKPOINT,),
    "HF2210": (_SECOND_JOB, _CHECKPOINT),
    "HF2216": (_CHECKPOINT,),
    "HF2221": (_ONE_OFFSETS_FILE, _CHECKPOINT),
    "HF2225": (_COPY, _SCHEMA_CHECK),
    "HF2226": (_SCHEMA_CHECK,),
    "HF2240": (_SCHEMA_CHECK,),
    "HF2243": (_ONE_OFFSETS_FILE, _CHECKPOINT),
    "HF2314": (_ONE_OFFSETS_FILE, _CHECKPOINT),
    "HF2316": (_ONE_OFFSETS_FILE, _CHECKPOINT),
    "HF2317": (_ONE_OFFSETS_FILE, _CHECKPOINT),
    "HF2318": (_SCHEMA_CHECK,),
    "HF2323": (_NEW_CHECKPOINT,),
    "HF2324": (_NEW_CHECKPOINT,),
    "HF2325": (_NEW_CHECKPOINT, _DATA_LOSS),
    "HF2401": (_SPARK_METADATA,),
    "HF2402": (_SPARK_METADATA, _NEW_CHECKPOINT),
    "HF2403": (_SPARK_METADATA, _CHECKPOINT),
    "HF2404": (_SPARK_METADATA, _ONE_OFFSETS_FILE),
    "HF2405": (_SPARK_METADATA,),
    "HF2406": (_SPARK_METADATA,),
    "HF2407": (_NEW_CHECKPOINT,),
    "HF2408": (_SPARK_METADATA,),
    "HF2411": (_RESTORE_TABLE, _CHECKPOINT),
    "HF2412": (_CHECKPOINT,),
    "HF2413": (_RESTORE_TABLE,),
    "HF2414": (_ONE_OFFSETS_FILE, _CHECKPOINT),
    "HF2421": (_COPY,),
    "HF2441": (_CHECKPOINT, _NEW_CHECKPOINT),
    "HF2442": (_ONE_OFFSETS_FILE, _CHECKPOINT),
    "HF2443": (_CHECKPOINT,),
    "HF2455": (_MANIFESTS,),
    "HF2456": (_MANIFESTS,),
}


def wrong_fixes_of(code: str) -> tuple[str, ...]:
    """Give the fixes that do harm where this code is found."""
    return _BY_CODE.get(code, ())


def with_wrong_fixes(finding: Finding) -> Finding:
    """Give the finding with the fixes that do harm in its evidence, where there are any."""
    fixes = wrong_fixes_of(finding.code)
    if not fixes or finding.severity is Severity.INFO:
        return finding
    return replace(finding, evidence={**finding.evidence, WRONG_FIXES: list(fixes)})
