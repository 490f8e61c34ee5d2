"""HF234x: a checkpoint with what its own records say."""

from __future__ import annotations

from holdfast.codes.code import Code

_ASK_SINK = "ask the sink which batch it holds: holdfast evidence TARGET --sink PATH"

RECORDED_CODES: tuple[Code, ...] = (
    Code(
        "HF2341",
        "the checkpoint is another query's than the one that its records speak of",
        "somebody put another checkpoint here, or let Spark begin a new one: the sink knows the "
        "old query id, and takes everything that the new one delivers for new rows. The records "
        "are not relied on",
        (
            "do not start the job before it is known where the recorded checkpoint went",
            "holdfast backups TARGET   (a backup of the recorded one may be kept)",
        ),
    ),
    Code(
        "HF2342",
        "the checkpoint holds less than its records know",
        "it was rolled back or emptied, or lost an entry: the next start plans batches anew that "
        "the sink may hold, so that rows are skipped or doubled",
        (
            "do not start the job",
            "holdfast backups TARGET   (bring the newest state back, if a backup has it)",
            _ASK_SINK,
        ),
    ),
    Code(
        "HF2343",
        "the records of this checkpoint belong to another job",
        "one checkpoint is one job's for ever: a second job on it would read on where the first "
        "one ended, and both would stop or spoil each other",
        (
            "if the job was only renamed: keep its old name",
            "a job of its own needs a checkpoint and an output of its own",
        ),
    ),
    Code(
        "HF2344",
        "a driver runs on this checkpoint now",
        "what is read moves on while it is read; a second driver is kept away by the lease",
        ("wait until it ends, or stop it, before anything is changed here",),
    ),
    Code(
        "HF2345",
        "the last run was killed",
        "it left no word of how it ended, and its processes are gone; a batch that it had planned "
        "is run again by the next start",
        ("holdfast inspect TARGET   (shows what the next start does)",),
    ),
    Code(
        "HF2346",
        "the last run failed",
        "the job stands still until somebody looks; the next start meets the same cause, unless "
        "it is gone",
        ("holdfast explain CODE   (with the code or the error class of the failure)",),
    ),
    Code(
        "HF2347",
        "the checkpoint and its records were copied or moved here",
        "if the original still exists, both have one query id: started on one sink, each takes "
        "the other's batches for its own",
        ("make sure that the other place is never started again",),
    ),
    Code(
        "HF2348",
        "batches were committed that no recorded run delivered",
        "the query was started without Holdfast: neither the lease nor the record of its offsets "
        "protected those batches",
        (
            "find out who started it, and let `holdfast run` start it alone",
            _ASK_SINK,
        ),
    ),
)
