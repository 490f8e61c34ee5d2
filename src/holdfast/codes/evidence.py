"""HF25xx what stands in the way of evidence: the archive, the sink's log, the declaration."""

from __future__ import annotations

from holdfast.codes.code import Code

EVIDENCE_CODES: tuple[Code, ...] = (
    Code(
        "HF2501",
        "a file of the bundle's name exists already",
        "evidence is never overwritten: the older bundle may be the only one of its moment",
        ("give another name with --bundle",),
        exit_status=2,
    ),
    Code(
        "HF2502",
        "the bundle would lie inside of the checkpoint or of the sink's folder",
        "nothing is written to what is evidence, and Spark's readers list these folders",
        ("give a path outside of both with --bundle",),
        exit_status=2,
    ),
    Code(
        "HF2503",
        "the bundle can't be written",
        "nothing of it was left behind, and the checkpoint was only read",
        ("give a path in a folder that exists and can be written",),
        exit_status=2,
    ),
    Code(
        "HF2504",
        "the sink's folder tells nothing of batches",
        "what the sink holds decides whether a batch that runs again is doubled; without its log "
        "that stays unknown",
        (
            "give the folder that holds _spark_metadata or _delta_log with --sink",
            "a sink written by foreachBatch keeps no such log: ask the table itself",
        ),
    ),
    Code(
        "HF2505",
        "the project file and what the query wrote contradict each other",
        "Spark accepts another output mode or sink at a restart without a word, and the output "
        "becomes a mixture of both",
        (
            "find out which of the two is meant before the next start",
            "change holdfast.yaml where it is the one that is wrong",
        ),
    ),
)
