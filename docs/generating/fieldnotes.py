"""What a field means where its name nearly says it and the code has no docstring for it."""

from __future__ import annotations

NOTES: dict[str, dict[str, str]] = {
    "Inspection": {
        "location": "Where it was read, without secrets.",
        "query_id": "The id in `metadata`; null where the file is missing or unreadable.",
        "size_bytes": "Of all files.",
        "file_count": "Files of all kinds, checksums as well.",
        "batches": "The span of batches.",
        "next_start": "What the next start does.",
        "logs": "Versions and ids of both logs.",
        "sources": "How far each source was read.",
        "operators": "The stateful operators, empty for a stateless query.",
        "spark_version": "Which Spark wrote it, as far as the files or a record tell.",
        "sink": "Null where neither the checkpoint nor a record names one.",
    },
    "Batches": {
        "last_planned": "The newest batch with an offsets entry.",
        "last_committed": "The newest batch with a commit.",
    },
    "NextStart": {
        "action": "What Spark does first.",
        "batch_id": "The batch that it does it with; null where it fails before that.",
        "reason": "Why, in one sentence.",
        "assumes_spark": "The release that this holds for.",
        "sink_touched": "The batch reaches the sink although the start ends in failure.",
        "differs": "Releases that would act differently.",
    },
    "Action": {"FAIL": "Stop with an error, perhaps after the sink was touched."},
    "Difference": {
        "spark": "The release.",
        "action": "What it does first.",
        "reason": "Why, in one sentence.",
    },
    "Logs": {"offsets": "The plans.", "commits": "The receipts."},
    "Source": {
        "index": "Its place in the offsets log.",
        "note": "What else is to be known of it.",
    },
    "Amount": {
        "unit": "What is counted, such as records or files.",
        "note": "What the number leaves out, or why there is none.",
    },
    "Operator": {"id": "Its number in the query's plan.", "stores": "Its state stores."},
    "Store": {"name": "`default`, or the store's name.", "key_schema": "The columns of its keys."},
    "Column": {"name": "As in the schema.", "nullable": "As in the schema."},
    "SparkVersion": {
        "low": "The oldest release that fits; null where only releases before 3.5 do.",
        "high": "The newest release that fits.",
        "basis": "What it was concluded from.",
    },
    "Sink": {
        "kind": "Its provider, or its format where it is recorded.",
        "identity": "Its name in the query; recorded, its path, table or function, if it has one.",
    },
    "Standing": {"HELD": "Its holder lives on this machine."},
    "Ended": {"FAILED": "Something went wrong; `failure` says what."},
    "Failure": {
        "code": "Its page: holdfast explain CODE.",
        "message": "In one sentence.",
    },
    "Batch": {
        "id": "The batch id.",
        "planned": "It has an offsets entry.",
        "committed": "It has a commit.",
    },
    "Addition": {
        "file": "The file that holds it.",
        "field": "The field's name.",
        "value": "What it says.",
    },
    "Part": {
        "name": "metadata, offsets, commits, sources, state or other.",
        "files": "How many.",
        "size_bytes": "Of these files.",
    },
    "Comparison": {
        "left": "The first checkpoint.",
        "right": "The second checkpoint.",
        "offsets": "How the offsets logs compare.",
        "commits": "How the commit logs compare.",
        "sources": "How far the newest entries are apart, a source each.",
    },
    "Side": {
        "location": "Where it was read, without secrets.",
        "query_id": "The id in `metadata`.",
        "last_planned": "The newest batch with an offsets entry.",
        "last_committed": "The newest batch with a commit.",
    },
    "LogComparison": {"only_left": "Ids kept on the left only, as inclusive ranges."},
    "EntryDifference": {
        "batch_id": "The batch.",
        "field": "What differs in it.",
        "left": "What the left says.",
        "right": "What the right says.",
    },
    "Severity": {
        "INFO": "Good to know; nothing needs to be done.",
        "WARNING": "Something is not as it should be; the next start goes on.",
        "ERROR": "Something is lost or in danger; the next start may go on all the same.",
        "FATAL": "The next start fails, or corrupts.",
    },
    "SourceDistance": {
        "index": "Its place in the right offsets log.",
        "name": "Its name.",
        "left": "The offset on the left, as text.",
        "right": "The offset on the right, as text.",
        "amount": "How much lies between.",
    },
}
"""Class to field to note; a docstring in the code comes before it."""
