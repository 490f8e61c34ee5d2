"""HF51xx: sources that can't be loaded, transforms that can't be applied."""

from __future__ import annotations

from holdfast.codes.code import Code

_NOTHING_TOUCHED = "the job was not started; checkpoint and sink are as they were"

SOURCE_LOADING_CODES: tuple[Code, ...] = (
    Code(
        "HF5101",
        "the directory or file that a source reads does not exist",
        f"Spark would have nothing to watch; {_NOTHING_TOUCHED}",
        (
            "correct path:, or create the directory if data is still to come",
            "another path is another source: compare with holdfast inspect JOB before changing it",
        ),
        exit_status=51,
    ),
    Code(
        "HF5102",
        "the schema of a source is not valid",
        f"schema: takes Spark's column list; {_NOTHING_TOUCHED}",
        ('write it as name and type: "sensor_id string, read_at timestamp, value double"',),
        exit_status=51,
    ),
    Code(
        "HF5103",
        "Spark knows no such source",
        f"no class on Spark's class path streams this format; {_NOTHING_TOUCHED}",
        (
            "correct format:",
            "for a connector of its own, add its jar under spark.jars",
        ),
        exit_status=51,
    ),
    Code(
        "HF5104",
        "a source needs a schema",
        f"a stream of files needs a declared schema; {_NOTHING_TOUCHED}",
        (
            'add schema: to the source, such as "sensor_id string, value double"',
            "or set spark.sql.streaming.schemaInference to true, and have a file there before the "
            "first start",
        ),
        exit_status=51,
    ),
    Code(
        "HF5105",
        "there is no Delta table where a source reads",
        f"the directory has no Delta log, or a log without a schema; {_NOTHING_TOUCHED}",
        (
            "if another job writes it: run that one first",
            "correct path:",
        ),
        exit_status=51,
    ),
    Code(
        "HF5106",
        "Spark refuses a source",
        f"its options do not fit together or have an invalid value; {_NOTHING_TOUCHED}",
        ("correct the source's options:",),
        exit_status=51,
    ),
    Code(
        "HF5107",
        "access to a source was denied",
        f"this user may not list or read it; {_NOTHING_TOUCHED}",
        ("run as a user that can read the source, or give this user read access",),
        exit_status=51,
    ),
    Code(
        "HF5111",
        "the module of a function is not in the project",
        f"functions are looked up in the project's directory; {_NOTHING_TOUCHED}",
        ("correct the part before the colon of module:function",),
        exit_status=51,
    ),
    Code(
        "HF5112",
        "the module of a function cannot be imported",
        f"an error was raised while the module was loaded; {_NOTHING_TOUCHED}",
        ("correct the line that is named",),
        exit_status=51,
    ),
    Code(
        "HF5113",
        "a module has no such function",
        f"the part after the colon of module:function must be one; {_NOTHING_TOUCHED}",
        ("correct the part after the colon of module:function",),
        exit_status=51,
    ),
    Code(
        "HF5114",
        "a transform does not take the sources of its job",
        "a single source is passed as the only argument, several by their names; "
        f"{_NOTHING_TOUCHED}",
        ("give the function one parameter for each source, named like the source",),
        exit_status=51,
    ),
    Code(
        "HF5115",
        "a transform raised an error",
        f"it failed while the query was built, before any row was read; {_NOTHING_TOUCHED}",
        ("correct the line that is named",),
        exit_status=51,
    ),
    Code(
        "HF5116",
        "a transform does not return a streaming DataFrame",
        f"Holdfast writes what the transform returns; {_NOTHING_TOUCHED}",
        ("return the DataFrame that is to be written, made from the sources that were passed",),
        exit_status=51,
    ),
    Code(
        "HF5117",
        "the SQL of a job is not valid",
        "each source is a view with the source's name; a single one is also named source; "
        f"{_NOTHING_TOUCHED}",
        ("correct sql:",),
        exit_status=51,
    ),
    Code(
        "HF5118",
        "the DataFrame is not a stream",
        "a job runs a streaming query on its checkpoint; a batch DataFrame has no offsets to "
        f"continue from; {_NOTHING_TOUCHED}",
        ("read it with spark.readStream in place of spark.read",),
        exit_status=51,
    ),
)
