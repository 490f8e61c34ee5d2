"""HF53xx: jobs that fail while they run."""

from __future__ import annotations

from holdfast.codes.code import Code

_PENDING = "a batch that was running has no commit: the next start runs it again, the same rows"

_JVM_GONE = (
    "no job of this run goes on; a pending batch runs again at the next start, with the same rows, "
    "and a sink that has it already skips it if it promises exactly once"
)

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
        ("read Spark's whole trace, with the cause: holdfast run JOB --trace",),
        exit_status=53,
    ),
    Code(
        "HF5303",
        "a job failed for a reason that is neither Spark's nor the user's",
        _PENDING,
        ("start the job again; if it fails again, read the trace: holdfast run JOB --trace",),
        exit_status=53,
    ),
    Code(
        "HF5304",
        "Spark's JVM ended while jobs ran",
        _JVM_GONE,
        (
            "start the jobs again",
            "look for the reason if nobody killed it: hs_err_pid*.log in the working directory "
            "describes a crash of Java, the kernel's log (dmesg, journalctl -k) a killed process",
        ),
        exit_status=53,
    ),
    Code(
        "HF5305",
        "Spark's JVM ran out of memory",
        f"{_JVM_GONE}. With a local master the driver's JVM also runs the tasks",
        (
            "give the JVM more memory, spark.driver.memory under spark.conf (default 1g), and "
            "start the jobs again",
            "look for what grows if it is full again after some hours: holdfast state TARGET "
            "--summary counts the rows of each store",
        ),
        exit_status=53,
    ),
    Code(
        "HF5306",
        "the machine or container ran out of memory and Spark's JVM was killed",
        f"{_JVM_GONE}. The limit counts the heap (spark.driver.memory), memory of Java beside it, "
        "RocksDB and the Python workers together",
        (
            "raise the memory limit of the container or machine, or lower spark.driver.memory "
            "under spark.conf",
            "start the jobs again",
        ),
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
    Code(
        "HF5312",
        "a job was restarted",
        "with --keep-running a job that fails for a reason that passes is started again; each "
        "start took the lease and passed every check, and a pending batch was run again with the "
        "same rows",
        ("look at the reasons in the evidence; holdfast status shows every run",),
        exit_status=53,
    ),
    Code(
        "HF5313",
        "the limit of restarts is reached",
        "the job failed again and again without committing a batch, so it is not restarted; "
        + _PENDING,
        (
            "look at the last error of the job, and fix what caused it",
            "start the job again: it resumes where it stopped",
        ),
        exit_status=53,
    ),
    Code(
        "HF5314",
        "the hook on failure failed",
        "a job failed, and what on_failure names was not notified of it; the error of the job is "
        "reported unchanged",
        ("check the command or the URL under on_failure by calling it yourself",),
        exit_status=53,
    ),
)
