"""Starts Spark's JVM, knows whether it lives and how it ended, and ends it.

Everything that it prints comes through here and goes to standard error, so that secrets are taken
out of it as out of our own words: a JDBC URL in an error of Spark holds the password. A JVM that
crashes prints to standard output, where a command's result belongs.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from traceback import walk_tb
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from holdfast.errors import HoldfastError, SparkStartError
from holdfast.records.processes import lives, process_here
from holdfast.redaction import REDACTED, redact, redact_value
from holdfast.running.stopping import hangups_ignored
from holdfast.spark.session.jvmdeath import JvmDeath, KernelWatch, death_of

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway
    from pyspark.sql import SparkSession


_KEPT_LINES = 400
_END_SECONDS = 20
_DRAIN_SECONDS = 5
"""How long the last lines of an ended JVM are waited for: a child of it may hold its stderr."""
_GONE_SECONDS = 60.0
"""How long a JVM that broke a connection off may take to be gone: its shutdown hooks run first."""
_LEAVING_SECONDS = 10.0
"""How long a JVM that stopped its context may take to be gone; a program's may have reasons."""
_ENDING = re.compile(r"SparkContext was shut ?down|stopped SparkContext|SparkContext has been shut")
_LAST_LINES_SECONDS = 0.5
_TELLING = (
    re.compile(r"^Caused by: (?P<reason>.+)"),
    re.compile(r"^Exception in thread \"[^\"]*\" (?P<reason>.+)"),
    re.compile(r"^(?P<reason>(?:Unrecognized|Invalid|Unsupported) .+)"),
    re.compile(r"^Error: (?P<reason>(?!Could not create the Java|A fatal exception).+)"),
    re.compile(r"^(?P<reason>\S.*)"),
)
"""What a JVM that fails says of the cause, the most telling first."""


_NO_ANSWER = re.compile(r"does not exist in the JVM|^An error occurred while calling \S+$")
"""What py4j makes of no answer: a name that is not there, or an error that nothing is known of."""


class JvmOutput:
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
        """Return the one line that tells most about why the JVM ended."""
        self.drain(_END_SECONDS)
        return reported_cause(self.said)

    def drain(self, seconds: float = _DRAIN_SECONDS) -> None:
        """Wait for the last lines of a JVM that has ended."""
        self._thread.join(timeout=seconds)

    def _read(self) -> None:
        with os.fdopen(self._reading, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                clean = _without_secrets(line)
                self._lines.append(clean)
                if self._aloud:
                    _pass_on(clean)


_VOICES: WeakKeyDictionary[Any, JvmOutput] = WeakKeyDictionary()


def reported_cause(lines: tuple[str, ...]) -> str:
    """Return the one line that tells most about a failure, without a stack trace."""
    for telling in _TELLING:
        for line in reversed(lines):
            if match := telling.match(line):
                return redact(match["reason"].strip())
    return "Java ended without any output"


class Jvm:
    """The JVM of a session: the one place that decides whether it is gone, and how it ended."""

    def __init__(
        self,
        number: int,
        process: subprocess.Popen[bytes] | None = None,
        voice: JvmOutput | None = None,
    ) -> None:
        self.number = number
        """Its process number."""
        self._here = process_here(number)
        self._process = process
        """Where this process is its parent, which alone is given the exit status."""
        self._voice = voice
        self._kernel = KernelWatch()
        self._lock = threading.Lock()
        self._death: JvmDeath | None = None

    @classmethod
    def of(cls, session: SparkSession) -> Jvm:
        """Return the JVM of a session that is open."""
        gateway: Any = session.sparkContext._gateway
        process: subprocess.Popen[bytes] | None = gateway.proc
        # On Windows the process is a script that started Java.
        if process is not None and os.name == "posix":
            return cls(process.pid, process, _VOICES.get(gateway))
        number = int(gateway.jvm.java.lang.ProcessHandle.current().pid())
        return cls(number, voice=_VOICES.get(gateway))

    def death(self, patience: float = 0.0) -> JvmDeath | None:
        """Return how it ended, None where it lives; wait for its end for `patience` seconds."""
        if self._death is None and self._is_gone(patience):
            with self._lock:
                self._death = self._death or self._seen()
        return self._death

    def death_behind(self, error: BaseException) -> JvmDeath | None:
        """Return how it ended where that explains an error, None where it lives."""
        if lost_connection(error):
            return self.death(_GONE_SECONDS)
        # What was refused or failed for a reason of its own stays what it is.
        return None if isinstance(error, HoldfastError) else self.death()

    def death_after(self, failure: BaseException) -> JvmDeath | None:
        """Return how it ended where a query failed because it was ending, None where it lives.

        A JVM that leaves because of an error stops its queries first.
        """
        ending = _ENDING.search(str(failure)) is not None
        return self.death(_LEAVING_SECONDS if ending else 0.0)

    def kill(self) -> None:
        """End it at once, whatever it does, and see it gone; it delivers nothing any more."""
        if self._process is None:
            message = "only a JVM that this process started can be killed"
            raise ValueError(message)
        self._process.kill()
        self._process.wait(_END_SECONDS)
        # Whoever waits for its end has no time to hear what it said last.
        self._death = self._death or death_of(self._here, self._process.returncode, ())

    def _is_gone(self, patience: float) -> bool:
        if self._process is None:
            return lives(self._here) is False
        if not patience:
            return self._process.poll() is not None
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _seen(self) -> JvmDeath:
        said: tuple[str, ...] = ()
        if self._voice is not None:
            # Its children may hold the pipe open: the lines that are there have to do.
            self._voice.drain(_LAST_LINES_SECONDS)
            said = self._voice.said
        code = None if self._process is None else self._process.returncode
        return death_of(self._here, code, said, self._kernel.reports_on(self._here))


def lost_connection(error: BaseException) -> bool:
    """Whether an error, or one that it came from, is what a call into a JVM that is gone gives."""
    seen: list[BaseException] = []
    cause: BaseException | None = error
    # An error that was raised again from its own cause leads back to itself.
    while cause is not None and cause not in seen:
        if _raised_by_connection(cause):
            return True
        seen.append(cause)
        cause = cause.__cause__ or cause.__context__
    return False


def _raised_by_connection(error: BaseException) -> bool:
    from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError

    if isinstance(error, Py4JNetworkError):
        return True
    if isinstance(error, Py4JError) and not isinstance(error, Py4JJavaError):
        return _NO_ANSWER.search(str(error)) is not None
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    inside = bool(frames) and frames[-1].f_globals.get("__name__", "").startswith("py4j.")
    return inside and isinstance(error, (ConnectionError, EOFError))


def start_jvm(settings: Mapping[str, str], *, verbose: bool) -> JavaGateway:
    """Start the JVM with these settings, as pyspark itself does; interrupted, leave none behind."""
    from pyspark import SparkConf
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway

    conf = SparkConf(loadDefaults=False)
    conf.setAll(list(settings.items()))
    voice = JvmOutput(aloud=verbose)
    spoken = {"stdout": voice.writing, "stderr": voice.writing}
    try:
        with hangups_ignored():
            gateway = launch_gateway(conf, spoken)  # type: ignore[no-untyped-call]
    except (PySparkException, OSError) as failure:
        os.close(voice.writing)
        message = f"Java ended while Spark was starting: {voice.cause()}"
        raise SparkStartError("HF5213", message) from failure
    except BaseException as interruption:
        os.close(voice.writing)
        _kill_started(interruption)
        raise
    os.close(voice.writing)
    voice.speak()
    _VOICES[gateway] = voice
    return gateway


def end_jvm(gateway: Any, *, at_once: bool = False) -> None:
    """End the JVM, and let the next session of this process start one of its own.

    One that has ended already, or has to end `at_once`, is not asked: only what this process
    remembers of it is cleared.
    """
    process: subprocess.Popen[bytes] | None = gateway.proc
    if process is not None and at_once:
        process.kill()
    gateway.shutdown()
    if process is not None:
        _await_end(process)
    if (voice := _VOICES.pop(gateway, None)) is not None:
        voice.drain(0 if at_once else _DRAIN_SECONDS)
    _forget_spark()


def _await_end(process: subprocess.Popen[bytes]) -> None:
    # The JVM ends when its standard input does.
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(timeout=_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _forget_spark() -> None:
    """Clear what pyspark remembers of a session: without its JVM it can't do that itself."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession, SQLContext

    context = SparkContext._active_spark_context
    if context is not None and getattr(context, "_accumulatorServer", None):
        context._accumulatorServer.shutdown()
    SparkContext._active_spark_context = None
    SparkContext._gateway = SparkContext._jvm = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None
    SQLContext._instantiatedContext = None


def _kill_started(interruption: BaseException) -> None:
    """Kill the JVM that pyspark was starting: only the frames that were left know it."""
    for frame, _ in walk_tb(interruption.__traceback__):
        for value in list(frame.f_locals.values()):
            if isinstance(value, subprocess.Popen):
                value.kill()
                value.wait()


def _without_secrets(line: str) -> str:
    try:
        return redact(line)
    except Exception:  # noqa: BLE001
        # Whatever is wrong with the line: a JVM whose standard error nobody reads comes to a halt.
        return f"{REDACTED}\n"


def _pass_on(line: str) -> None:
    try:
        sys.stderr.write(line)
        sys.stderr.flush()
    except (OSError, ValueError):
        # Nobody reads any more; the JVM must not come to a halt because of it.
        return


_TALKATIVE = (
    "SQLQueryContextLogger",
    "DataFrameQueryContextLogger",
    "py4j.clientserver",
    "py4j.java_gateway",
)
_PY4J = ("java_gateway", "clientserver")


@contextmanager
def quiet_python(*, verbose: bool) -> Iterator[None]:
    """Keep them silent for as long as jobs run; where everything is wanted, take secrets out."""
    with contextlib.ExitStack() as stack:
        if not verbose:
            stack.enter_context(quiet_disconnections())
        stack.enter_context(_quiet_loggers(verbose=verbose))
        yield


@contextmanager
def quiet_disconnections() -> Iterator[None]:
    """Keep py4j from printing a traceback for every call that Ctrl-C or a lost JVM breaks off."""

    def passes(record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if record.module not in _PY4J or error is None:
            return True
        return not isinstance(error, KeyboardInterrupt) and not lost_connection(error)

    # py4j writes some of them with the root logger.
    loggers = [logging.getLogger(name) for name in ("", "py4j.clientserver")]
    for logger in loggers:
        logger.addFilter(passes)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(passes)


@contextmanager
def _quiet_loggers(*, verbose: bool) -> Iterator[None]:
    loggers = [_logger(name) for name in _TALKATIVE]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.addFilter(_redacted_record)
        logger.disabled = logger.disabled or not verbose
    try:
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled
            logger.removeFilter(_redacted_record)


def _redacted_record(record: logging.LogRecord) -> bool:
    """Redact a record in place, for whichever handler shows it."""
    record.msg, record.args = redact(record.getMessage()), None
    if hasattr(record, "context"):
        record.context = redact_value(record.context)
    if record.exc_info and record.exc_info[1] is not None:
        kind, error, trace = record.exc_info
        # The usual formatter shows the text, pyspark's own the error.
        record.exc_text = redact(logging.Formatter().formatException(record.exc_info))
        record.exc_info = (kind, RuntimeError(redact(str(error))), trace)
    return True


def _logger(name: str) -> logging.Logger:
    if name.startswith("py4j"):
        return logging.getLogger(name)
    # Made as pyspark makes it: a plain logger under this name would stay plain for ever.
    from pyspark.logger import PySparkLogger

    return PySparkLogger.getLogger(name)
