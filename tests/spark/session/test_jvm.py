"""What a JVM says while it starts: held back, then passed on, and one line of it where it fails."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from py4j.java_gateway import GatewayClient, GatewayParameters
from py4j.protocol import Py4JError, Py4JNetworkError

from holdfast.errors import HoldfastError, SinkError
from holdfast.redaction import REDACTED, redact
from holdfast.spark.session import jvm
from holdfast.spark.session.jvm import Jvm, JvmOutput, lost_connection, reported_cause
from holdfast.spark.session.jvmdeath import Shortage
from tests.parts.classarchive import quick_environment

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
        ("", "Java ended without any output"),
    ],
)
def test_the_line_that_tells_most(said: str, cause: str) -> None:
    """Never a line of a stack trace."""
    assert reported_cause(tuple(said.splitlines(keepends=True))) == cause


def test_what_is_said_before_the_start_is_held_back(capfd: pytest.CaptureFixture[str]) -> None:
    """What comes later is passed on."""
    voice = JvmOutput(aloud=False)
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
    assert "abcdefghijklmnop" not in reported_cause(said)


def test_what_is_passed_on_holds_no_secret(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Line by line, also a last one without an end; a line that can't be cleaned is not shown."""
    monkeypatch.setattr(jvm, "redact", lambda line: redact(line) if "odd" not in line else 1 / 0)
    said = "url jdbc:postgresql://db/gold?user=u&password=s3Cr00-Zq9\nodd s3Cr00-Zq9\nlast"
    voice = JvmOutput(aloud=True)
    subprocess.run(["sh", "-c", f"printf '%s' '{said}' >&2"], stderr=voice.writing, check=True)
    os.close(voice.writing)
    voice.drain()
    shown = capfd.readouterr().err
    assert "s3Cr00" not in shown + "".join(voice.said)
    assert shown == "".join(voice.said)
    first, second, third = shown.split("\n")
    assert first.startswith("url jdbc:postgresql://db/gold?user=") and second == REDACTED
    assert third == "last"


def sleeper() -> subprocess.Popen[bytes]:
    """Start a process that stands for a JVM."""
    return subprocess.Popen(["sleep", "600"])


def test_a_jvm_that_is_killed_is_gone_for_good() -> None:
    """Its end is seen by whoever asks, with the signal; to be killed it must be our own."""
    process = sleeper()
    ours, others = Jvm(process.pid, process), Jvm(process.pid)
    assert ours.death() is None and others.death() is None
    with pytest.raises(ValueError, match="started"):
        others.kill()
    ours.kill()
    death = ours.death()
    assert death is not None and death.signal == signal.SIGKILL
    gone = others.death()
    assert gone is not None and gone.words.endswith("is gone")


def test_what_a_jvm_said_last_tells_that_memory_ran_out() -> None:
    """Also where the process itself gives only a status."""
    voice = JvmOutput(aloud=False)
    words = "echo Terminating due to java.lang.OutOfMemoryError: Java heap space >&2; exit 3"
    process = subprocess.Popen(["sh", "-c", words], stderr=voice.writing)
    os.close(voice.writing)
    death = Jvm(process.pid, process, voice).death(60)
    assert death is not None and death.shortage is Shortage.HEAP
    assert "exit status 3 (java.lang.OutOfMemoryError: Java heap space)" in death.words


def refused() -> BaseException:
    """Return what py4j raises where nobody listens."""
    try:
        GatewayClient(gateway_parameters=GatewayParameters(port=1)).send_command("x\n")
    except (OSError, Py4JError) as error:
        return error
    raise AssertionError("somebody listens")


def caused(error: HoldfastError, cause: BaseException) -> HoldfastError:
    """Return an error that was raised from another one."""
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "is_lost"),
    [
        (refused(), True),
        (Py4JNetworkError("Error while sending or receiving"), True),
        (Py4JError("An error occurred while calling o106.isActive"), True),
        (Py4JError("java.util.X does not exist in the JVM"), True),
        (caused(SinkError("HF5001", "no"), Py4JNetworkError("gone")), True),
        (ConnectionRefusedError("the database of the user"), False),
        (Py4JError("An error occurred while calling o1.f. Trace:\njava.lang.X"), False),
        (SinkError("HF5001", "no"), False),
    ],
)
def test_errors_of_a_lost_connection(error: BaseException, is_lost: bool) -> None:
    """What the user's own connections raise is not one of them."""
    assert lost_connection(error) is is_lost


def test_an_error_with_a_reason_of_its_own_is_not_explained_by_a_jvm_that_ended() -> None:
    """A refusal stays a refusal; what nobody foresaw comes from the end."""
    process = sleeper()
    ended = Jvm(process.pid, process)
    ended.kill()
    assert ended.death_behind(SinkError("HF5001", "no")) is None
    assert ended.death_behind(Py4JNetworkError("gone")) is ended.death()
    assert ended.death_behind(KeyError("anything")) is ended.death()


SPEAKING = """
import sys
from holdfast.redaction import remember_secret
from holdfast.spark.session.jvm import end_jvm, start_jvm

remember_secret("kn0wn-Wq77-value")
gateway = start_jvm({"spark.master": "local[1]"}, verbose=sys.argv[1] == "verbose")
java = gateway.jvm.java
logger = gateway.jvm.org.apache.logging.log4j.LogManager.getLogger("jdbc")
try:
    java.sql.DriverManager.getConnection("jdbc:nothing://db/gold?user=u&password=s3Cr00-Zq919xK")
except Exception as error:
    logger.error("no connection", error.java_exception)
for number in range(3000):
    java.lang.System.err.println(f"line {number} with kn0wn-Wq77-value in it, and some more words")
java.lang.System.err.print("the last word: kn0wn-Wq77-value")
java.lang.System.err.flush()
if sys.argv[2] == "dies":
    try:
        java.lang.Runtime.getRuntime().halt(3)
    except Exception:
        pass
end_jvm(gateway)
"""


@pytest.mark.spark
@pytest.mark.parametrize(
    ("loudness", "end"),
    [
        ("verbose", "ends"),
        ("quiet", "dies"),
        pytest.param("verbose", "dies", marks=pytest.mark.whole),
        pytest.param("quiet", "ends", marks=pytest.mark.whole),
    ],
)
def test_a_real_jvm_shows_every_line_and_no_secret(loudness: str, end: str) -> None:
    """More than a pipe holds, an error of JDBC with a URL, and a last line that is cut."""
    ended = subprocess.run(
        [sys.executable, "-c", SPEAKING, loudness, end],
        env=quick_environment(),
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-500:]
    assert "kn0wn" not in ended.stderr and "s3Cr00" not in ended.stderr
    assert "jdbc:nothing://db/gold" in ended.stderr
    lines = [line for line in ended.stderr.split("\n") if line.startswith("line ")]
    assert [int(line.split()[1]) for line in lines] == list(range(3000))
    assert f"the last word: {REDACTED}" in ended.stderr


def test_errors_that_lead_back_to_themselves_are_looked_at_once() -> None:
    """`raise error from cause` where the cause came from the same error."""
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first
    assert not lost_connection(first)
