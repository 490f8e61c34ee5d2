"""Meaning of fields whose code has no docstring."""

from __future__ import annotations

NOTES: dict[str, dict[str, str]] = {
    "Inspection": {
        "location": "Location, without secrets.",
        "query_id": "The id in `metadata`; null if the file is missing or unreadable.",
        "size_bytes": "Total size of all files.",
        "file_count": "Number of files, including checksum files.",
        "batches": "Oldest and newest batches.",
        "next_start": "What the next start does.",
        "logs": "Versions and ids of both logs.",
        "sources": "How far each source was read.",
        "operators": "The stateful operators, empty for a stateless query.",
        "spark_version": "Which Spark wrote it, as far as the files or a run record show.",
        "sink": "Null if neither the checkpoint nor a run record names one.",
    },
    "Batches": {
        "last_planned": "The newest batch with an offsets entry.",
        "last_committed": "The newest batch with a commit.",
    },
    "NextStart": {
        "action": "What Spark does first.",
        "batch_id": "The batch concerned; null if the start fails before it gets to a batch.",
        "reason": "Why, in one sentence.",
        "assumes_spark": "The Spark release that this applies to.",
        "sink_touched": "True if the batch reaches the sink even though the start fails.",
        "differs": "Releases that behave differently.",
    },
    "Action": {"FAIL": "Stop with an error, possibly after writing to the sink."},
    "Difference": {
        "spark": "The release.",
        "action": "What it does first.",
        "reason": "Why, in one sentence.",
    },
    "Logs": {
        "offsets": "The offset log: planned batches.",
        "commits": "The commit log: committed batches.",
    },
    "Source": {
        "index": "Index in the offset log.",
        "note": "Additional information.",
    },
    "Amount": {
        "unit": "What is counted, such as records or files.",
        "note": "What the number does not include, or why there is none.",
    },
    "Operator": {"id": "Operator id in the query plan.", "stores": "Its state stores."},
    "Store": {"name": "`default`, or the store's name.", "key_schema": "The columns of its keys."},
    "Column": {"name": "As in the schema.", "nullable": "As in the schema."},
    "SparkVersion": {
        "low": "The oldest release that fits; null if only releases before 3.5 fit.",
        "high": "The newest release that fits.",
        "basis": "What it was inferred from.",
    },
    "Sink": {
        "kind": "Its provider, or its format if a run recorded it.",
        "identity": "Its name in the query; if a run recorded it, its path, table or function.",
    },
    "RunReport": {"jobs": "In the order in which they ran."},
    "JobReport": {
        "job": "Its name.",
        "query_id": "Query id of the checkpoint; null if the query never started.",
        "run_id": "Spark's id of this start; null if the query never started.",
        "generation": "Lease generation, which increases with every start; null if no lease "
        "was taken.",
        "batches": "Number of batches that reached the sink in this run, including skipped ones.",
        "rows": "Number of source rows in these batches.",
        "ended": "How it ended.",
        "seconds": "Duration.",
        "checkpoint": "Location of the checkpoint, without secrets.",
        "first_batch": "The first batch of this run; null if there was none.",
        "last_batch": "The last batch of this run; null if there was none.",
        "failure": "Why it failed; null if it ran out of data or was asked to stop.",
    },
    "Demonstration": {
        "folder": "Where the pipeline ran; a temporary directory is deleted at the end.",
        "kills": "Both kills, and the state of the files right after each.",
        "counts": "Row counts of every table compared with the input lines.",
        "lost": "Missing rows, total of all tables.",
        "doubled": "Duplicate rows, total of all tables.",
        "seconds": "Duration of the whole demonstration.",
    },
    "Kill": {
        "job": "The job that was killed.",
        "point": "Name of the crash point.",
        "meaning": "What has happened at that point.",
        "batch_id": "The running batch.",
        "next_start": "What `inspect` reported about the next start.",
    },
    "Count": {
        "table": "Table name.",
        "expected": "Expected rows, from the input lines.",
        "found": "Rows found.",
        "lost": "Expected rows that are missing.",
    },
    "Standing": {"HELD": "The holder is alive on this machine."},
    "Ended": {"FAILED": "Failed; `failure` has the reason."},
    "Failure": {
        "code": "Code; see holdfast explain CODE.",
        "message": "In one sentence.",
    },
    "Batch": {
        "id": "The batch id.",
        "planned": "It has an offsets entry.",
        "committed": "It has a commit.",
    },
    "Addition": {
        "file": "The file that contains it.",
        "field": "The field's name.",
        "value": "The value.",
    },
    "Part": {
        "name": "metadata, offsets, commits, sources, state or other.",
        "files": "Number of files.",
        "size_bytes": "Size of these files.",
    },
    "Comparison": {
        "left": "The first checkpoint.",
        "right": "The second checkpoint.",
        "offsets": "Comparison of the offset logs.",
        "commits": "Comparison of the commit logs.",
        "sources": "Distance between the newest entries, one item per source.",
    },
    "Side": {
        "location": "Location, without secrets.",
        "query_id": "The id in `metadata`.",
        "last_planned": "The newest batch with an offsets entry.",
        "last_committed": "The newest batch with a commit.",
    },
    "LogComparison": {"only_left": "Batch ids that only the left side has, as inclusive ranges."},
    "EntryDifference": {
        "batch_id": "The batch.",
        "field": "The field that differs.",
        "left": "Value on the left.",
        "right": "Value on the right.",
    },
    "Severity": {
        "INFO": "For information; no action needed.",
        "WARNING": "Something is wrong; the next start works anyway.",
        "ERROR": "Data is lost or at risk; the next start may work anyway.",
        "FATAL": "The next start fails or corrupts data.",
    },
    "SourceDistance": {
        "index": "Index in the offset log on the right.",
        "name": "Its name.",
        "left": "The offset on the left, as text.",
        "right": "The offset on the right, as text.",
        "amount": "Distance between the two.",
    },
}
"""Class to field to note; a docstring in the code takes precedence."""
