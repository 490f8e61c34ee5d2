"""Starts Spark's JVM and ends it; what it says while it starts is kept, and told if it fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holdfast.errors import SparkStartError
from holdfast.redaction import redact

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway

_KEPT_LINES = 400
_END_SECONDS = 20
_TELLING = (
    re.compile(r"^Caused by: (?P<told>.+)"),
    re.compile(r"^Exception in thread \"[^\"]*\" (?P<told>.+)"),
    re.compile(r"^(?P<told>(?:Unrecognized|Invalid|Unsupported) .+)"),
    re.compile(r"^Error: (?P<told>(?!Could not create the Java|A fatal exception).+)"),
    re.compile(r"^(?P<told>\S.*)"),
)
"""What a JVM that fails says of the cause, the most telling first."""


class Voice:
    """Reads the JVM's standard error for as long as it lives, so that it never blocks."""

    def __init__(self, *, aloud: bool) -> None:
        self._reading, self.writing = os.pipe()
        self._aloud = aloud
        self._lines: deque[str] = deque(maxlen=_KEPT_LINES)
        self._thread = threading.Thread(target=self._read, name="spark-stderr", daemon=True)
        self._thread.start()

    def speak(self) -> None:
        """From now on pass on what comes: what workers and the user's own code print."""
        self._aloud = True

    @property
    def said(self) -> tuple[str, ...]:
        """The last lines, passed on or not."""
        return tuple(self._lines)

    def cause(self) -> str:
        """Give the one line that tells most about why the JVM ended."""
        self._thread.join(timeout=_END_SECONDS)
        return told_cause(self.said)

    def _read(self) -> None:
        with os.fdopen(self._reading, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                self._lines.append(line)
                if self._aloud:
                    _pass_on(line)


def told_cause(lines: tuple[str, ...]) -> str:
    """Give the one line that tells most about a failure, without a stack trace."""
    for telling in _TELLING:
        for line in reversed(lines):
            if match := telling.match(line):
                return redact(match["told"].strip())
    return "Java ended without a word"


def start_jvm(settings: Mapping[str, str], *, verbose: bool) -> JavaGateway:
    """Start the JVM with these settings, as pyspark itself does."""
    from pyspark import SparkConf
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway

    conf = SparkConf(loadDefaults=False)
    conf.setAll(list(settings.items()))
    voice = Voice(aloud=verbose)
    try:
        gateway = launch_gateway(conf, {"stderr": voice.writing})  # type: ignore[no-untyped-call]
    except (PySparkException, OSError) as failure:
        os.close(voice.writing)
        message = f"Java ended while Spark was starting: {voice.cause()}"
        raise SparkStartError("HF5213", message) from failure
    os.close(voice.writing)
    voice.speak()
    return gateway


def end_jvm(gateway: Any) -> None:
    """End the JVM, and let the next session of this process start one of its own."""
    from pyspark import SparkContext

    gateway.shutdown()
    process: subprocess.Popen[bytes] | None = gateway.proc
    if process is not None:
        # The JVM ends when its standard input does.
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(timeout=_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    SparkContext._gateway = SparkContext._jvm = None


def _pass_on(line: str) -> None:
    try:
        sys.stderr.write(line)
        sys.stderr.flush()
    except (OSError, ValueError):
        # Nobody reads any more; the JVM must not come to a halt because of it.
        return
