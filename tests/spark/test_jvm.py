"""What a JVM says while it starts: held back, then passed on, and one line of it where it fails."""

from __future__ import annotations

import os
import subprocess
import time

import pytest

from holdfast.spark.jvm import Voice, told_cause

BAD_MASTER = """WARNING: Using incubator modules: jdk.incubator.vector
Exception in thread "main" org.apache.spark.SparkException: Master must either be yarn or …
\tat org.apache.spark.deploy.SparkSubmit.error(SparkSubmit.scala:1071)
\tat org.apache.spark.deploy.SparkSubmit$.main(SparkSubmit.scala)
"""
BAD_MEMORY = """Invalid maximum heap size: -Xmx1x
Error: Could not create the Java Virtual Machine.
Error: A fatal exception has occurred. Program will exit.
"""
NESTED = """Exception in thread "main" java.lang.RuntimeException: outer
\tat a.B.c(B.java:1)
Caused by: java.lang.IllegalStateException: middle
\t... 3 more
Caused by: java.net.BindException: Address already in use
\tat sun.nio.ch.Net.bind0(Native Method)
"""


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        (BAD_MASTER, "org.apache.spark.SparkException: Master must either be yarn or …"),
        (BAD_MEMORY, "Invalid maximum heap size: -Xmx1x"),
        (NESTED, "java.net.BindException: Address already in use"),
        ("Error: Missing application resource.\n", "Missing application resource."),
        ("line 7: exec: java: not found\n\tat nothing\n", "line 7: exec: java: not found"),
        ("", "Java ended without a word"),
    ],
)
def test_the_line_that_tells_most(said: str, cause: str) -> None:
    """Never a line of a stack trace."""
    assert told_cause(tuple(said.splitlines(keepends=True))) == cause


def test_what_is_said_before_the_start_is_held_back(capfd: pytest.CaptureFixture[str]) -> None:
    """What comes later is passed on."""
    voice = Voice(aloud=False)
    subprocess.run(["sh", "-c", "echo early >&2"], stderr=voice.writing, check=True)
    while "early\n" not in voice.said:
        time.sleep(0.01)
    voice.speak()
    subprocess.run(["sh", "-c", "echo late >&2"], stderr=voice.writing, check=True)
    os.close(voice.writing)
    assert voice.cause() == "late"
    assert capfd.readouterr().err == "late\n"


def test_secrets_in_the_cause_are_not_shown() -> None:
    """A setting may stand in Spark's own message."""
    said = ("Error: bad setting spark.hadoop.fs.s3a.secret.key=abcdefghijklmnop\n",)
    assert "abcdefghijklmnop" not in told_cause(said)
