"""HF50xx: sinks that can't or mustn't be written."""

from __future__ import annotations

from holdfast.codes.code import Code

_SINK = 50

SINK_WRITING_CODES: tuple[Code, ...] = (
    Code(
        "HF5001",
        "this version does not write that sink",
        "a sink is written only where every batch arrives once, or where it says that it does not "
        "promise that; this one is not there yet",
        (
            "use `format: delta`, which takes every batch exactly once",
            "or `format: custom` with a function of your own, which is given the batch's identity",
        ),
        _SINK,
    ),
    Code(
        "HF5002",
        "the sink is not declared so that it can be written",
        "something that it needs is missing, or contradicts what makes a batch arrive once",
        ("correct the sink in the project file",),
        _SINK,
    ),
    Code(
        "HF5003",
        "the sink holds this batch with other offsets",
        "the same batch id was delivered before with other data: the checkpoint was rolled back, "
        "or another driver planned the id anew. Writing it would lose or double rows, and so would "
        "skipping it",
        (
            "put the checkpoint's newest entries back from a backup: holdfast backups TARGET",
            "keep every other driver away from this checkpoint and its copies",
        ),
        _SINK,
    ),
    Code(
        "HF5004",
        "the sink is closed for this query",
        "the job was given a new identity, and its old one was closed: whatever is written under "
        "it is skipped, for ever",
        ("start the job from its new checkpoint, and stop the driver of the old one",),
        _SINK,
    ),
    Code(
        "HF5005",
        "the rows do not fit the sink",
        "the first batch would fail, or columns would be dropped or left empty unnoticed",
        (
            "let the transform give the columns that the table has",
            "or let the table grow: `options: {mergeSchema: true}` adds columns",
        ),
        _SINK,
    ),
    Code(
        "HF5006",
        "the sink's folder holds something else",
        "files that are not the sink's own would become part of the output, or be hidden by it",
        ("give the sink a folder of its own",),
        _SINK,
    ),
    Code(
        "HF5007",
        "several rows of one key are in one batch",
        "an upsert keeps one row a key: which of them is kept would be chance, and a key that is "
        "new to the table would be inserted twice",
        (
            "name the column that decides: `order_by`, the row with the greatest value wins",
            "or let the transform give one row a key",
        ),
        _SINK,
    ),
    Code(
        "HF5008",
        "rows without a key are in the batch",
        "null equals nothing: such a row would be inserted again each time that it arrives",
        ("let the transform fill the key columns, or drop or set apart the rows without",),
        _SINK,
    ),
    Code(
        "HF5009",
        "the sink can't be asked what it holds",
        "whether it holds a batch with the same offsets is unknown: writing blindly could lose or "
        "double rows",
        (
            "run as a user that can read the output",
            "give the storage's address and credentials in the project file: `storage:`",
        ),
        _SINK,
    ),
    Code(
        "HF5010",
        "other writers kept the batch from being committed",
        "each attempt met a commit of somebody else that touched the same rows; nothing of the "
        "batch was written",
        (
            "start the job again: the batch is run again with its offsets",
            "keep large rewrites of the table apart from the job",
        ),
        _SINK,
    ),
)
