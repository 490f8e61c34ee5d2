"""HF46xx: plans of remedies, what refuses them, and the journal of what was applied."""

from __future__ import annotations

from holdfast.codes.code import Code

_LOOK = "holdfast doctor TARGET shows what is wrong and which remedy fits"

REMEDY_CODES: tuple[Code, ...] = (
    Code(
        "HF4601",
        "the remedy would lose or duplicate rows here",
        "a remedy is only offered where its result is known: every batch once, none twice",
        (_LOOK,),
        exit_status=40,
    ),
    Code(
        "HF4602",
        "the sink cannot be rewound or cleared",
        "batches that the sink holds would be planned again under ids that it knows; their rows "
        "would be skipped or duplicated",
        (_LOOK,),
        exit_status=40,
    ),
    Code(
        "HF4603",
        "something that the remedy depends on cannot be determined",
        "unknown is never safe: the remedy could lose or duplicate rows",
        (_LOOK,),
        exit_status=40,
    ),
    Code(
        "HF4604",
        "the job is protected",
        "protect: true in the project file forbids remedies that remove its output or process "
        "batches again",
        (
            "find out why the job is protected; if it is meant all the same: holdfast plan … "
            "--force-protected, which the journal keeps",
        ),
        exit_status=40,
    ),
    Code(
        "HF4605",
        "the plan is stale",
        "something that the plan was made from has changed since; what was safe then may not be "
        "safe now",
        ("make the plan again and read it before you apply it",),
        exit_status=41,
    ),
    Code(
        "HF4606",
        "an applied plan was interrupted and is neither finished nor undone",
        "some steps are done and others are not; a job that starts now could lose or duplicate "
        "rows",
        (
            "do not start the query",
            "holdfast journal TARGET shows which steps are done",
            "holdfast apply --finish TARGET, or holdfast undo TARGET",
        ),
        exit_status=42,
    ),
    Code(
        "HF4607",
        "this is not a plan",
        "only a plan that Holdfast wrote can be applied; nothing was changed",
        ("make one with holdfast plan … -o PLAN.json",),
        exit_status=2,
    ),
    Code(
        "HF4608",
        "the change was not confirmed",
        "applying or undoing a plan changes a checkpoint or a sink; nothing was changed",
        ("pass --yes to confirm",),
        exit_status=2,
    ),
    Code(
        "HF4609",
        "this can no longer be undone",
        "the job has run, or something else was applied since; undoing would make Spark plan "
        "batches again that the sink already has",
        ("holdfast journal TARGET shows what happened since",),
        exit_status=40,
    ),
    Code(
        "HF4610",
        "the journal has no such act",
        "nothing was changed",
        ("holdfast journal TARGET lists every act with its id",),
        exit_status=2,
    ),
    Code(
        "HF4611",
        "nothing has to be done",
        "the remedy would change nothing here",
        ("nothing needs to be done",),
        exit_status=2,
    ),
    Code(
        "HF4612",
        "the source no longer has the data",
        "what is not in the source any more cannot be processed again; its rows would be missing "
        "from the sink",
        (_LOOK,),
        exit_status=40,
    ),
    Code(
        "HF4613",
        "the state before the batch cannot be loaded",
        "a stateful query continues from the state that the batch before it left; without it, "
        "results would be wrong",
        (_LOOK,),
        exit_status=40,
    ),
    Code(
        "HF4614",
        "the remedy needs a job of the project",
        "sources, sink and transform of the job decide what is safe; a path alone does not show "
        "them",
        ("pass the name of a job, with --project FILE if it is not the nearest holdfast.yaml",),
        exit_status=2,
    ),
    Code(
        "HF4616",
        "the journal was changed after it was written",
        "each record names the digest of the one before it, and one does not match: the journal "
        "no longer proves what was done",
        ("find out who changed files in .holdfast; the checkpoint itself is not affected",),
    ),
    Code(
        "HF4617",
        "the plan cannot be written to this file",
        "a plan is applied from the file that it was read in; nothing was changed",
        ("pass another path with -o",),
        exit_status=2,
    ),
    Code(
        "HF4618",
        "no proven repair is known",
        "a repair is only offered where a test on real Spark showed that every row is there once",
        (
            "holdfast backups TARGET   (a backup may have the checkpoint whole)",
            "holdfast doctor TARGET shows what is wrong, and what to do",
        ),
        exit_status=40,
    ),
    Code(
        "HF4619",
        "a checkpoint cannot be moved to this place",
        "a move never writes over files, and both places must be apart from each other",
        ("pass --to with a path or URL where nothing is, neither files nor records in .holdfast",),
        exit_status=40,
    ),
    Code(
        "HF4640",
        "a query ran on the checkpoint while a plan was being applied",
        "it wrote offsets or commits that are neither in the backup of the plan nor written by the "
        "plan; going on would mix both, and the batches may be in the sink",
        (
            "stop the query; do not start it again before somebody has looked",
            "holdfast journal TARGET, and holdfast undo TARGET puts back what the plan changed and "
            "keeps the entries of the query",
        ),
        exit_status=40,
    ),
    Code(
        "HF4643",
        "an option of the remedy does not fit the job",
        "the plan would not do what the option says; nothing was changed",
        ("pass another value: holdfast plan --help lists the remedies",),
        exit_status=2,
    ),
    Code(
        "HF4644",
        "this act is a part of the reset of another job",
        "finished or undone alone, it would leave jobs that read from each other at different "
        "beginnings: rows would be lost or duplicated",
        ("finish or undo the reset of the job that the message names",),
        exit_status=40,
    ),
    Code(
        "HF4645",
        "a backfill is running, or was interrupted",
        "it may still write rows of its range to the sink; a remedy that removes rows from there "
        "has to wait. The job itself may run",
        (
            "holdfast journal TARGET shows how far it is",
            "if it does not run any more: holdfast apply --finish TARGET, or holdfast undo TARGET "
            "if nothing of it is in the sink",
            "if it cannot be finished: holdfast undo TARGET --keep-rows gives up the batches that "
            "are left; the rows of those in the sink stay",
        ),
        exit_status=40,
    ),
    Code(
        "HF4646",
        "Spark did not run the batch that the backfill wrote down",
        "a backfill runs batches with offsets that are in its plan; nothing that Spark planned "
        "itself was written to the sink",
        ("holdfast apply --finish TARGET runs the batch again; the sink skips what it has",),
        exit_status=53,
    ),
    Code(
        "HF4647",
        "the job declares another output than the one that the plan is about",
        "its steps would remove rows that the plan never looked at, or look for rows where they "
        "never were",
        (
            "declare the sink as it was when the plan was made; the message names both",
            "then holdfast apply --finish TARGET, or holdfast undo TARGET",
        ),
        exit_status=40,
    ),
    Code(
        "HF4648",
        "the output was replaced by another table after the plan was made",
        "the rows in it are not those that the plan is about; nothing of it was changed",
        (
            "holdfast undo TARGET",
            "then holdfast doctor TARGET shows what the checkpoint and the new table mean together",
        ),
        exit_status=40,
    ),
    Code(
        "HF4650",
        "a scheduled backup failed",
        "the job continues, and the backups that exist are untouched; there is none of the newest "
        "batches",
        ("holdfast backup JOB makes one now, and shows what is in its way",),
    ),
    Code(
        "HF4660",
        "the plan cannot be rehearsed",
        "a rehearsal changes copies alone; what would reach beyond them is not tried",
        ("read the plan: holdfast plan …, and apply it without a rehearsal if it is clear",),
        exit_status=40,
    ),
    Code(
        "HF4662",
        "an original changed while the plan was rehearsed",
        "another process wrote there: a rehearsal changes copies alone. The plan may be stale now",
        ("find out which process writes there, then make the plan again",),
    ),
    Code(
        "HF4663",
        "a rehearsal cannot use this place",
        "copies are written there and removed at the end; nothing was changed",
        ("pass a directory that does not exist yet, or that is empty",),
        exit_status=2,
    ),
    Code(
        "HF4664",
        "a rehearsal that was killed left its copies",
        "they use space, and nothing reads them",
        ("remove the directory that the message names",),
    ),
)
