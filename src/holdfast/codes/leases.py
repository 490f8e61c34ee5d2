"""HF25xx what stands in the way of evidence, HF26xx leases and records."""

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
        "the bundle would be inside the checkpoint or the sink's directory",
        "evidence is never written to, and Spark's readers list these directories",
        ("give a path outside of both with --bundle",),
        exit_status=2,
    ),
    Code(
        "HF2503",
        "the bundle cannot be written",
        "nothing of it was left behind, and the checkpoint was only read",
        ("give a path in a directory that exists and can be written",),
        exit_status=2,
    ),
    Code(
        "HF2506",
        "the file is not a bundle that a change can be checked against",
        "`holdfast evidence TARGET --bundle FILE.zip` writes the query of the last run into a "
        "bundle, if a run of this version recorded it",
        ("make a new bundle where the checkpoint is, after a run of this version",),
        exit_status=2,
    ),
    Code(
        "HF2507",
        "the event log cannot be read",
        "the query is read from the events of its batches: a log of Spark in JSON lines, plain or "
        "compressed with zstd, lz4, lzf, snappy or gzip, or an eventlog_v2_… directory",
        (
            "give the file, or the eventlog_v2_… directory, that Spark wrote to spark.eventLog.dir",
            "copy it to this machine first: it is read from the local disk only",
        ),
        exit_status=2,
    ),
    Code(
        "HF2508",
        "the event log has no batch of the checkpoint's query",
        "a log of another application says nothing about the query that last ran here",
        ("give the event log of the application that ran the query of this checkpoint",),
        exit_status=2,
    ),
    Code(
        "HF2504",
        "the sink's directory has no log of batches",
        "what the sink has decides whether a batch that runs again is duplicated; without its "
        "log that stays unknown",
        (
            "give the directory that contains _spark_metadata or _delta_log with --sink",
            "a sink written by foreachBatch keeps no such log: ask the table itself",
        ),
    ),
    Code(
        "HF2505",
        "the project file and what the query wrote contradict each other",
        "Spark silently accepts another output mode or sink at a restart, and the output "
        "becomes a mixture of both",
        (
            "find out which of the two is intended before the next start",
            "change holdfast.yaml where it is the one that is wrong",
        ),
    ),
)


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
        "a record next to the checkpoint cannot be read",
        "the information in it is lost; the checkpoint itself is not affected",
        (
            "look at the file: was it cut by a full disk, or edited?",
            "keep it for evidence, under another name; the next run writes its own record",
        ),
    ),
    Code(
        "HF2604",
        "the offsets of a batch differ from those kept of it",
        "the rows of a batch begin where the entry before it ends, and end with its own entry. "
        "One of the two was replaced, edited or planned again after a batch was delivered with "
        "it: a start would lose or duplicate rows",
        (
            "do not start the query before this is settled",
            "holdfast doctor TARGET asks the sink and says whether the kept copy may be put back",
            "holdfast backup TARGET keeps what is there now",
            "do not put a copy back by guess: where the sink has the batch with other offsets, "
            "Spark would deliver it again with other rows",
        ),
        exit_status=30,
    ),
    Code(
        "HF2605",
        "the opposite was stated about this batch",
        "a run may have acted on the first statement: undoing it now would lose or duplicate rows",
        (
            "holdfast doctor TARGET says what the checkpoint and the sink hold",
            "if nothing ran since and the first statement is wrong, move its file elsewhere and "
            "state again",
        ),
        exit_status=30,
    ),
    Code(
        "HF2606",
        "the offsets entry before a batch is missing",
        "the rows of a batch begin where the entry before it ends. Spark never removes that "
        "entry, so it was lost; without it, it cannot be determined whether the sink has the "
        "same batch",
        (
            "do not start the query before the entry is back: Spark would fail without it",
            "holdfast backups TARGET   (restore offsets/ID, if a backup has it)",
            "do not delete other entries to close the gap: Spark would plan their batches again",
        ),
        exit_status=30,
    ),
    Code(
        "HF2610",
        "an act on the checkpoint lost its lease before it was done",
        "it was silent for too long (suspended, or its storage failed), so that another process "
        "may use the checkpoint by now; it stopped before its next change. If it had begun to "
        "change files, its journal entry is open and no job starts on the checkpoint",
        (
            "holdfast status shows who uses the checkpoint now",
            "holdfast apply --finish TARGET, or holdfast undo TARGET",
        ),
        exit_status=22,
    ),
    Code(
        "HF2611",
        "the record of a run could not be written for a while",
        "the job continued: its rows are in the sink, and status showed an older state of the run",
        ("look at the space that is left next to the checkpoint, and at this user's rights",),
    ),
    Code(
        "HF2612",
        "the record of a run does not say how the run ended",
        "the rows are delivered as the report says; only the record next to the checkpoint is "
        "behind, so that status shows the run as killed",
        (
            "look at the space that is left next to the checkpoint, and at this user's rights",
            "start the job again: its next run is recorded under a number of its own",
        ),
    ),
    Code(
        "HF2613",
        "the lease on the checkpoint would not be shared",
        "the checkpoint is a mount of its own, and its records, with the lease, are next to it "
        "on another file system: a second container that mounts the checkpoint would not see "
        "the lease, and two drivers would write the same batches twice",
        (
            "mount the directory around the checkpoint instead of the checkpoint itself",
            "or mount a directory for its records, too, in every container that uses it",
        ),
        exit_status=30,
    ),
    Code(
        "HF2614",
        "the run took a higher generation because the sink knows a newer one",
        "the records next to the checkpoint were lost, so that generations started again, or a "
        "job with another checkpoint cleared the same output. A sink refuses drivers of older "
        "generations; under the lease a start continues after the newest one, and late drivers "
        "stay refused",
        ("nothing needs to be done; keep the records (.holdfast) together with the checkpoint",),
    ),
    Code(
        "HF2615",
        "the last attempt to start the job failed",
        "the start ended before its first batch, so that no run was recorded and nothing was "
        "delivered; the next start fails in the same way unless the cause is gone",
        ("holdfast explain CODE   (with the code of the error)",),
    ),
    Code(
        "HF2616",
        "an attempt to start the job could not be recorded",
        "the error itself is reported; status and evidence will not show this attempt",
        ("look at the space that is left next to the checkpoint, and at this user's rights",),
    ),
    Code(
        "HF2617",
        "a start was refused because the checkpoint was in use",
        "the driver that has the lease was not disturbed; the second start delivered nothing",
        ("find out what starts the job twice, such as a schedule shorter than the run",),
    ),
)
