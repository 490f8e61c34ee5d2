"""HF53xx: jobs that fail while they run."""

from __future__ import annotations

from holdfast.codes.code import Code

_PENDING = "a batch that was running has no commit: the next start runs it again, the same rows"

RUNNING_CODES: tuple[Code, ...] = (
    Code(
        "HF5301",
        "a job failed in the user's code",
        _PENDING,
        ("correct the line that is named, and start the job again",),
        exit_status=53,
    ),
    Code(
        "HF5302",
        "Spark stopped a job",
        _PENDING,
        ("holdfast explain, with Spark's error class or its text, tells what it means",),
        exit_status=53,
    ),
    Code(
        "HF5303",
        "a job failed for a reason that is neither Spark's nor the user's",
        _PENDING,
        ("start the job again; if it fails again, --trace shows where",),
        exit_status=53,
    ),
    Code(
        "HF5310",
        "Spark delivered a batch without telling its query",
        "without the query's id the sink can't know the batch again; nothing was written",
        ("start the job again: the batch is still pending",),
        exit_status=53,
    ),
    Code(
        "HF5311",
        "the demonstration broke off",
        "what it shows needs every step; no data but its own is touched",
        ("start it again; if it breaks off again, report it with its last words",),
        exit_status=53,
    ),
)
