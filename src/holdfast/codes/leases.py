"""HF26xx: who may run on a checkpoint, and what its records say."""

from __future__ import annotations

from holdfast.codes.code import Code

LEASE_CODES: tuple[Code, ...] = (
    Code(
        "HF2601",
        "another driver runs on the checkpoint",
        "two drivers on one checkpoint write the same batches twice, and then one of them dies",
        (
            "let it run, or stop it there and start again",
            "a driver that is dead is noticed by itself: at once on its own machine, after 30 s "
            "from another one",
            "a JVM that outlived its Python process still writes: end that process first",
        ),
        exit_status=22,
    ),
    Code(
        "HF2602",
        "the lease on the checkpoint was lost",
        "this driver was silent for too long (it was suspended, or its storage failed), so that "
        "another one may run by now; it stopped before its next batch",
        (
            "holdfast status shows who runs now",
            "start again if nobody does; the pending batch is then run with its recorded offsets",
        ),
        exit_status=22,
    ),
    Code(
        "HF2603",
        "a record beside the checkpoint can't be read",
        "what it knew is not known any more; the checkpoint itself is not touched by this",
        (
            "look at the file: was it cut by a full disk, or edited?",
            "keep it for evidence, under another name; the next run writes its own record",
        ),
    ),
    Code(
        "HF2604",
        "the offsets of a batch differ from those kept of it",
        "this batch id was planned before, with other offsets, and may have reached the sink with "
        "them; delivering it as it is planned now could lose or double rows. That happens when "
        "the file in offsets was lost or set aside after the batch was begun, or when an older "
        "checkpoint was put in its place",
        (
            "do not start the query before this is settled",
            "holdfast doctor TARGET says whether the sink holds the batch",
            "holdfast backup TARGET keeps what is there now",
            "then put the kept copy back as offsets/ID, without the .crc file of the other one: "
            "Spark runs the batch again as it was planned first",
        ),
        exit_status=30,
    ),
    Code(
        "HF2605",
        "the opposite was stated about this batch",
        "a run may have acted on the first statement: taken back afterwards, rows would be lost or "
        "doubled",
        (
            "holdfast doctor TARGET says what the checkpoint and the sink hold",
            "if nothing ran since and the first statement is wrong, move its file elsewhere and "
            "state again",
        ),
        exit_status=30,
    ),
)
