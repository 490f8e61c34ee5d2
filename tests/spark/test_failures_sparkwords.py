"""Spark's class and sentence out of the texts that Spark 4.2 gave."""

from __future__ import annotations

import pytest

from holdfast.spark.failures import SparkMessage, spark_message

IDS = "id = 8faed959-19d8-4ecd-98e6-bd4c37677e68, runId = 5d327127-62ff-4a90-a5d2-ace33f69513d"
STREAM = f"[STREAM_FAILED] Query [{IDS}] terminated with exception: "
DESCRIPTION = (
    "\n=== Streaming Query ===\nIdentifier: [SOME_NAME] x\nLogical Plan: org.x.YException: z"
)

TEXTS = {
    "a class": (
        "[PATH_NOT_FOUND] Path does not exist: /in. SQLSTATE: 42K03",
        SparkMessage("PATH_NOT_FOUND", "PATH_NOT_FOUND", "Path does not exist: /in"),
    ),
    "a sub-class with its plan": (
        "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column `nope` cannot be resolved. SQLSTATE: 42703;\n"
        "'Project ['nope]\n+- Relation",
        SparkMessage(
            "UNRESOLVED_COLUMN.WITH_SUGGESTION",
            "UNRESOLVED_COLUMN.WITH_SUGGESTION",
            "A column `nope` cannot be resolved",
        ),
    ),
    "a place in SQL": (
        "\n[PARSE_SYNTAX_ERROR] Syntax error at or near 'b'. SQLSTATE: 42601 (line 1, pos 6)\n\n"
        "== SQL ==\na int b\n------^^^\n",
        SparkMessage(
            "PARSE_SYNTAX_ERROR",
            "PARSE_SYNTAX_ERROR",
            "Syntax error at or near 'b' (line 1, pos 6)",
        ),
    ),
    "a class inside of two": (
        f"{STREAM}[FOREACH_BATCH_USER_FUNCTION_ERROR] An error occurred in the user provided "
        "function in foreach batch sink. Reason: An exception was raised by the Python Proxy. "
        'Return Message: Traceback (most recent call last):\n  File "x.py", line 4, in collect\n'
        "pyspark.errors.exceptions.captured.ArithmeticException: [DIVIDE_BY_ZERO] Division by "
        f"zero. SQLSTATE: 22012\n\n SQLSTATE: 39000 SQLSTATE: XXKST{DESCRIPTION}",
        SparkMessage("DIVIDE_BY_ZERO", "DIVIDE_BY_ZERO", "Division by zero"),
    ),
    "Java inside of a stream": (
        f"{STREAM}org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node. "
        f"Call: listNodes SQLSTATE: XXKST{DESCRIPTION}",
        SparkMessage(
            None,
            "TimeoutException",
            "TimeoutException: Timed out waiting for a node. Call: listNodes",
        ),
    ),
    "Java that carries Java": (
        "An error occurred while calling o306.load.\n: java.lang.RuntimeException: "
        "java.lang.ClassNotFoundException: Class a.b.C not found\n\tat org.apache.x.Y(Y.java:1)",
        SparkMessage(
            None, "ClassNotFoundException", "ClassNotFoundException: Class a.b.C not found"
        ),
    ),
    "a task that only says that it failed": (
        "Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times: "
        "org.apache.spark.SparkException: [TASK_WRITE_FAILED] Task failed while writing rows to "
        "file:/out. SQLSTATE: 58030\n\tat x\nCaused by: java.lang.Exception: "
        "a\n\tat z\nCaused by: java.io.IOException: No space left on device\n\t... 9 more",
        SparkMessage(
            None,
            "SparkException",
            "SparkException: [TASK_WRITE_FAILED] Task failed while writing rows to file:/out "
            "(IOException: No space left on device)",
        ),
    ),
    "words alone": (
        "Set a host to read from with option.\nMore",
        SparkMessage(None, "RuntimeError", "Set a host to read from with option"),
    ),
    "nothing": ("", SparkMessage(None, "RuntimeError", "")),
}


@pytest.mark.parametrize("name", TEXTS)
def test_words_are_taken_out(name: str) -> None:
    """One line, with the class that says most."""
    text, expected = TEXTS[name]
    assert spark_message(RuntimeError(text)) == expected


def test_a_class_is_shown_as_spark_writes_it() -> None:
    """In brackets, before its sentence."""
    assert SparkMessage("A_B", "A_B", "text").shown == "[A_B] text"
    assert SparkMessage(None, "Error", "text").shown == "text"


def test_sentences_are_bounded_and_without_secrets() -> None:
    """A sentence may hold a whole URL, or a whole plan."""
    words = spark_message(RuntimeError(f"[A_CLASS] jdbc:postgresql://u:Secr3tOfAll@db {'x' * 900}"))
    assert len(words.sentence) <= 400
    assert "Secr3tOfAll" not in words.sentence
