"""HF52xx: what keeps Spark from starting."""

from __future__ import annotations

from holdfast.codes.code import Code
from holdfast.installing import pip_line

_READING_WORKS = "reading commands (inspect, doctor, evidence, status) need neither Java nor Spark"

SPARK_START_CODES: tuple[Code, ...] = (
    Code(
        "HF5201",
        "there is no Java to start Spark with",
        f"Spark runs on Java 17 or later; {_READING_WORKS}",
        (
            "install a Java 17 or 21, for example with apt install openjdk-17-jre-headless, "
            "dnf install java-17-openjdk-headless or brew install openjdk@17",
            "where one is installed, set JAVA_HOME to its folder",
        ),
        exit_status=52,
    ),
    Code(
        "HF5202",
        "Spark does not start on this Java",
        f"Spark 4 needs Java 17 or later with all modules of a JDK; {_READING_WORKS}",
        ("install a Java 17 or 21 and set JAVA_HOME to its folder",),
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
        "this is Spark Connect, which can't run jobs exactly once",
        "with Connect a batch is handed to a process on the server, where neither the lease nor "
        "the checkpoint's files are within reach",
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
        "libraries are missing, and --offline forbids to fetch them",
        "Delta, Kafka, S3 and PostgreSQL are reached with Java libraries that pyspark lacks",
        (
            "run once without --offline; they are kept for later",
            "or copy the files that the message names into that folder from another machine",
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
            "or copy the files that the message names into that folder and run with --offline",
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
        "a file under spark.jars is not there",
        "Spark would start without it and fail at the first class that it needs",
        ("correct the path; a relative one counts from the project's folder",),
        exit_status=52,
    ),
    Code(
        "HF5211",
        "two versions of one library were asked for",
        "which one Java loads is chance, and parts of both fail in the middle of a batch",
        ("take yours out of spark.jars: Holdfast brings the one that fits this Spark",),
        exit_status=52,
    ),
    Code(
        "HF5212",
        "the open Spark session has other settings than the ones declared",
        "what a session was started with can't be changed while it runs. Settings that Spark can "
        "change at run time are set in each job's own session and are not compared",
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
        "the folder for fetched libraries can't be used",
        "libraries are fetched once and kept for all projects of this user",
        ("set HOLDFAST_CACHE to a folder that can be written",),
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
        "libraries and SQL extensions are loaded when a session starts and can't be added later. "
        "Nothing was started: no lease was taken, and checkpoint and sink are as they were",
        (
            "add the lines of the error to SparkSession.builder, in a new process or kernel",
            "or stop the session (spark.stop()) and let holdfast.run start one with all of it",
        ),
        exit_status=52,
    ),
    Code(
        "HF5217",
        "Spark reaches another storage than Holdfast",
        "Holdfast reads the checkpoint and the sink at the declared places, and Spark would write "
        "others: what is there already would be invisible to one of the two, so that batches could "
        "be lost or delivered twice",
        ("add the lines of the error to SparkSession.builder, in a new process or kernel",),
        exit_status=52,
    ),
    Code(
        "HF5218",
        "settings of the open Spark session are used in place of the declared ones",
        "they were named in keep_settings; they do not decide which rows are delivered, and the "
        "record of the run holds the values that counted",
        ("nothing needs to be done",),
    ),
    Code(
        "HF5219",
        "the Spark session has been stopped",
        "a stopped session can't be started again, and neither can its DataFrames. Nothing was "
        "started: no lease was taken, and checkpoint and sink are as they were",
        (
            "make a new session with SparkSession.builder.getOrCreate(), and the DataFrame again "
            "with it",
        ),
        exit_status=52,
    ),
)
