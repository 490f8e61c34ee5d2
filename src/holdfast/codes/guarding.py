"""HF30xx: what a start is refused or warned for, before it happens."""

from __future__ import annotations

from holdfast.codes.code import Code

GUARD_CODES: tuple[Code, ...] = (
    Code(
        "HF3001",
        "Spark would fail on this checkpoint",
        "the start would end in an error, and may reach the sink before that",
        ("holdfast doctor TARGET", "holdfast backups TARGET"),
        exit_status=30,
    ),
    Code(
        "HF3002",
        "the job has another number of sources than its checkpoint",
        "Spark gives offsets to sources by their place: a source would go on with the offsets of "
        "another one, or the start would fail",
        (
            "put the sources back as they were",
            "or give the changed job a name, a checkpoint and a sink of its own",
        ),
        exit_status=30,
    ),
    Code(
        "HF3003",
        "a source of the job is of another kind than the one in its checkpoint",
        "the stored offset means nothing to the new source: the start fails, or reads elsewhere",
        (
            "put the source back, or the sources back into their order",
            "or give the changed job a name, a checkpoint and a sink of its own",
        ),
        exit_status=30,
    ),
    Code(
        "HF3004",
        "the job has other stateful operators than its checkpoint",
        "state is found by an operator's place: Spark refuses, or fills one operator with the "
        "state of another",
        (
            "put the transform back as it was",
            "or give the changed job a name, a checkpoint and a sink of its own",
        ),
        exit_status=30,
    ),
    Code(
        "HF3005",
        "the sink is ahead of the checkpoint",
        "the sink holds batches that this checkpoint would plan anew under the same ids: it skips "
        "them, and their rows are lost",
        (
            "holdfast backups TARGET     (put the newer checkpoint back)",
            "or give the job a new sink",
        ),
        exit_status=30,
    ),
    Code(
        "HF3006",
        "the sink is behind the checkpoint",
        "the checkpoint takes batches for delivered that the sink does not hold: their rows are "
        "missing from it, and going on never brings them back",
        (
            "put the sink back to the state that belongs to this checkpoint",
            "or, where the rows are meant to be gone: holdfast run JOB --accept sink-behind",
        ),
        exit_status=30,
    ),
    Code(
        "HF3007",
        "the sink holds batches of another query, and this checkpoint is new",
        "a job whose checkpoint was lost or moved starts from zero and delivers everything a "
        "second time",
        (
            "holdfast backups TARGET     (put the old checkpoint back)",
            "or, where several jobs write this sink on purpose: holdfast run JOB --accept "
            "shared-sink",
        ),
        exit_status=30,
    ),
    Code(
        "HF3008",
        "the checkpoint pins another value of a setting than the one that is given",
        "Spark goes on with the value of the checkpoint, and takes no notice of the given one",
        ("write the checkpoint's value into the project, so that both say the same",),
        exit_status=30,
    ),
    Code(
        "HF3009",
        "the adopted checkpoint has a pending batch, and the sink can't tell whether it has it",
        "Spark runs the batch again: delivered already, its rows would be there twice; skipped "
        "although it was not delivered, they would be missing",
        (
            "look into the sink, then state it: holdfast run JOB --pending delivered, or "
            "--pending not-delivered",
        ),
        exit_status=31,
    ),
    Code(
        "HF3010",
        "a statement about a pending batch does not fit the checkpoint",
        "a statement counts for one batch with its recorded offsets, and for no other",
        ("holdfast inspect TARGET     (which batch is pending)",),
        exit_status=40,
    ),
    Code(
        "HF3011",
        "the plan of the query could not be compared with the checkpoint",
        "a changed operator would be noticed by Spark alone, if at all",
        ("compare the job with the code that last ran on this checkpoint",),
        exit_status=31,
    ),
    Code(
        "HF3012",
        "the place of a job's checkpoint can't be remembered in the project's folder",
        "a path that changes by accident is not noticed at the next start",
        ("run the job once where the folder can be written, and keep .holdfast/checkpoints.json",),
        exit_status=30,
    ),
)
