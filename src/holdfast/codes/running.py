"""HF52xx what keeps Spark from starting, HF53xx jobs that fail while they run."""

from __future__ import annotations

from holdfast.codes.code import Code
from holdfast.wording import pip_line

_READING_WORKS = "reading commands (inspect, doctor, evidence, status) need neither Java nor Spark"

SPARK_START_CODES: tuple[Code, ...] = (
    Code(
        "HF5201",
        "Java was not found",
        f"Spark runs on Java 17 or later; {_READING_WORKS}",
        (
            "install a Java 17 or 21, for example with apt install openjdk-17-jre-headless, "
            "dnf install java-17-openjdk-headless or brew install openjdk@17",
            "where one is installed, set JAVA_HOME to its directory",
        ),
        exit_status=52,
    ),
    Code(
        "HF5202",
        "Spark does not start on this Java",
        f"Spark 4 needs Java 17 or later with all modules of a JDK; {_READING_WORKS}",
        ("install a Java 17 or 21 and set JAVA_HOME to its directory",),
        exit_status=52,
    ),
    Code(
        "HF5203",
        "pyspark is not installed",
        f"jobs run on pyspark, which is an extra; {_READING_WORKS}",
        (pip_line("spark"),),
        exit_status=52,
    ),
    Code(
        "HF5204",
        "this version of Spark is not one that Holdfast runs jobs on",
        "jobs run on Spark 4.0 to 4.3; checkpoints of 3.5 can be read, not run",
        ('pip install "pyspark==4.2.0", in an environment of its own if others need the old one',),
        exit_status=52,
    ),
    Code(
        "HF5205",
        "this is Spark Connect, which cannot run jobs exactly once",
        "with Connect a batch runs in a process on the server, which can reach neither the "
        "lease nor the checkpoint's files",
        (
            "run on the driver: unset SPARK_REMOTE and SPARK_CONNECT_MODE, take spark.remote and "
            "spark.api.mode out of the settings, and name the cluster under spark.master",
        ),
        exit_status=52,
    ),
    Code(
        "HF5206",
        "no library is known that fits this version of Spark",
        "a library made for another Spark fails late, in the middle of a batch",
        ("install the pyspark that the message names, or bring your own files under spark.jars",),
        exit_status=52,
    ),
    Code(
        "HF5207",
        "libraries are missing, and --offline forbids downloading them",
        "Delta, Kafka, S3 and PostgreSQL are reached with Java libraries that pyspark lacks",
        (
            "run once without --offline; they are kept for later",
            "or copy the files that the message names into that directory from another machine",
        ),
        exit_status=52,
    ),
    Code(
        "HF5208",
        "libraries could not be fetched",
        "Delta, Kafka, S3 and PostgreSQL are reached with Java libraries that pyspark lacks",
        (
            "try again; what arrived is kept",
            "behind a firewall, set HOLDFAST_MAVEN to a mirror of the central Maven repository",
            "or copy the files that the message names into that directory and run with --offline",
        ),
        exit_status=52,
    ),
    Code(
        "HF5209",
        "a library is not the one that it should be",
        "its SHA-256 differs from the locked one: it is damaged, or somebody changed it",
        (
            "fetch it again without --offline",
            "where it comes from a mirror (HOLDFAST_MAVEN), have the mirror checked",
        ),
        exit_status=52,
    ),
    Code(
        "HF5210",
        "a file under spark.jars does not exist",
        "Spark would start without it and fail at the first class that it needs",
        ("correct the path; a relative one counts from the project's directory",),
        exit_status=52,
    ),
    Code(
        "HF5211",
        "two versions of one library were requested",
        "Java loads either of them, and a mixture of both fails in the middle of a batch",
        ("take yours out of spark.jars: Holdfast brings the one that fits this Spark",),
        exit_status=52,
    ),
    Code(
        "HF5212",
        "the open Spark session has other settings than the ones declared",
        "the settings that a session was started with cannot be changed while it runs. Settings "
        "that Spark can change at run time are set in each job's own session and are not "
        "compared",
        ("stop the session (spark.stop()): Holdfast starts Spark as declared",),
        exit_status=52,
    ),
    Code(
        "HF5213",
        "Spark did not start",
        "no job was touched: leases, checkpoints and sinks are as they were",
        (
            "correct what the message names; to read all that Spark and Java say: holdfast run JOB "
            "--trace",
        ),
        exit_status=52,
    ),
    Code(
        "HF5214",
        "the directory for fetched libraries cannot be used",
        "libraries are fetched once and kept for all projects of this user",
        ("set HOLDFAST_CACHE to a directory that can be written",),
        exit_status=52,
    ),
    Code(
        "HF5215",
        "spark.master is not one that Spark knows",
        "a master is local, local[N] or local[*] (N threads or all cores of this machine), "
        "spark://host:port, yarn, or k8s://host:port",
        ("correct spark.master in the project file",),
        exit_status=52,
    ),
    Code(
        "HF5216",
        "the open Spark session lacks a library or a setting that the job needs",
        "libraries and SQL extensions are loaded when a session starts and cannot be added "
        "later. Nothing was started: no lease was taken, and checkpoint and sink are as they "
        "were",
        (
            "add the lines of the error to SparkSession.builder, in a new process or kernel",
            "or stop the session (spark.stop()) and let holdfast.run start one with all of it",
        ),
        exit_status=52,
    ),
    Code(
        "HF5217",
        "Spark reaches another storage than Holdfast",
        "Holdfast reads the checkpoint and the sink at the declared paths, and Spark would "
        "write elsewhere: existing data would be invisible to one of the two, so that batches "
        "could be lost or delivered twice",
        ("add the lines of the error to SparkSession.builder, in a new process or kernel",),
        exit_status=52,
    ),
    Code(
        "HF5218",
        "settings of the open Spark session are used in place of the declared ones",
        "they were named in keep_settings; they do not decide which rows are delivered, and the "
        "record of the run has the values that were used",
        ("nothing needs to be done",),
    ),
    Code(
        "HF5219",
        "the Spark session has been stopped",
        "a stopped session cannot be started again, and neither can its DataFrames. Nothing was "
        "started: no lease was taken, and checkpoint and sink are as they were",
        (
            "make a new session with SparkSession.builder.getOrCreate(), and the DataFrame again "
            "with it",
        ),
        exit_status=52,
    ),
)


_PENDING = "a batch that was running has no commit: the next start runs it again, the same rows"

_JVM_GONE = (
    "no job of this run continues; a pending batch runs again at the next start, with the same "
    "rows, and an exactly-once sink skips it if it is already there"
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
        (
            "holdfast doctor TARGET",
            "read Spark's whole trace, with the cause: holdfast run JOB --trace",
            'what a line of Spark\'s log means: holdfast explain "LINE"',
        ),
        exit_status=53,
    ),
    Code(
        "HF5303",
        "a job failed outside of Spark and of your code",
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
        f"{_JVM_GONE}. The limit counts the heap (spark.driver.memory), other memory of Java, "
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
        "Spark delivered a batch without its query id",
        "without the query's id the sink cannot recognize the batch; nothing was written",
        ("start the job again: the batch is still pending",),
        exit_status=53,
    ),
    Code(
        "HF5311",
        "the demonstration failed",
        "it needs every step to succeed; it touches no data but its own",
        ("start it again; if it breaks off again, report it with its last words",),
        exit_status=53,
    ),
    Code(
        "HF5312",
        "a job was restarted",
        "with --keep-running a job that fails for a temporary reason is started again; each "
        "start took the lease and passed every check, and a pending batch was run again with "
        "the same rows",
        ("look at the reasons in the evidence; holdfast status shows every run",),
        exit_status=53,
    ),
    Code(
        "HF5313",
        "the limit of restarts is reached",
        "the job kept failing without committing a batch, so it is not restarted; " + _PENDING,
        (
            "look at the last error of the job, and fix what caused it",
            "start the job again: it resumes where it stopped",
        ),
        exit_status=53,
    ),
    Code(
        "HF5314",
        "the hook on failure failed",
        "a job failed, and on_failure was not notified; the error of the job is reported unchanged",
        ("check the command or the URL under on_failure by calling it yourself",),
        exit_status=53,
    ),
)
