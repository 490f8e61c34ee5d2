"""The border of a run: whatever Spark or the user's code raises becomes one error with a code.

An error of the user's is reported at their own line, one of Spark's by its error class and our
page; the Java below stays in `trace`.
"""

from __future__ import annotations

import re
import sysconfig
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.errors.exceptions.captured import CapturedException

import holdfast
from holdfast.checkpoint.reading import read_overview
from holdfast.diagnosis.explain.pages import Page
from holdfast.diagnosis.explain.pages.catalogue import find_page
from holdfast.errors import HoldfastError, JvmDiedError, RunError
from holdfast.jobs.ready import ReadyJob
from holdfast.records.run import Failure
from holdfast.redaction import excerpt, redact
from holdfast.running.report import failure_record
from holdfast.spark.session.jvm import Jvm
from holdfast.spark.session.jvmdeath import JvmDeath, Shortage
from holdfast.storage.opening import open_reader

_LONGEST_SENTENCE = 400
_AROUND = frozenset(
    (
        "FAILED_EXECUTE_UDF",
        "FOREACH_BATCH_USER_FUNCTION_ERROR",
        "FOREACH_USER_FUNCTION_ERROR",
        "STREAM_FAILED",
        "TASK_WRITE_FAILED",
    )
)
"""Error classes that only say that something inside of them failed."""

_DESCRIPTION = "\n=== Streaming Query ==="
_ENDED = "terminated with exception: "
_STATE = re.compile(r"\.?\s*SQLSTATE: \w{5};?")
_CONDITION = re.compile(
    r"(?:^|(?<=: ))\[(?P<kind>[A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\] ?(?P<sentence>.*)", re.MULTILINE
)
_CAUSE = re.compile(r"^Caused by: (.*)$", re.MULTILINE)
_JAVA = re.compile(
    r"(?:[a-z][\w$]*\.)+(?P<kind>[A-Z][\w$]*(?:Exception|Error))(?:: (?P<sentence>.*)|$)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class SparkMessage:
    """What Spark says of an error."""

    condition: str | None
    """Spark's error class, such as `DIVIDE_BY_ZERO`; many errors have none."""
    kind: str
    """The error class, or the class of the exception where there is none."""
    sentence: str
    """Its first line, without secrets, bounded."""

    @property
    def shown(self) -> str:
        """Class and sentence as Spark writes them."""
        return f"[{self.condition}] {self.sentence}" if self.condition else self.sentence


def spark_message(error: BaseException) -> SparkMessage:
    """Return what Spark, or the Java below it, says of an error in one line."""
    text = str(error).partition(_DESCRIPTION)[0]
    for found in _CONDITION.finditer(text):
        if found["kind"].partition(".")[0] not in _AROUND:
            return SparkMessage(found["kind"], found["kind"], _sentence(found["sentence"]))
    words = _java_words(text)
    if words is None:
        return SparkMessage(None, type(error).__name__, _sentence(_first_line(text)))
    return _with_cause(words, text)


def _with_cause(words: SparkMessage, text: str) -> SparkMessage:
    """Add what failed at the bottom, where Spark's own sentence only says that something did."""
    causes = _CAUSE.findall(text)
    cause = _java_words(causes[-1]) if causes else None
    if cause is None or cause.sentence in words.sentence or not _CONDITION.search(words.sentence):
        return words
    return replace(words, sentence=f"{words.sentence} ({cause.sentence})")


def _java_words(text: str) -> SparkMessage | None:
    """Follow an exception that only carries another one to the one that says something."""
    found = _JAVA.search(text)
    while found is not None and (inner := _JAVA.match(found["sentence"] or "")):
        found = inner
    if found is None:
        return None
    sentence = _sentence(found["sentence"] or "")
    shown = f"{found['kind']}: {sentence}" if sentence else found["kind"]
    return SparkMessage(None, found["kind"], shown)


def _first_line(text: str) -> str:
    lines = (line.strip() for line in text.partition(_ENDED)[2].splitlines() or text.splitlines())
    return next(filter(None, lines), "")


def _sentence(line: str) -> str:
    return excerpt(_STATE.sub("", line).strip(" .;"), _LONGEST_SENTENCE)


_LONGEST_LINE = 300
_HERE = Path(holdfast.__file__).parent
_STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
_LIBRARIES = frozenset(("site-packages", "dist-packages", "pyspark.zip"))
_GENERATED = ("<frozen", "<string>")

_BEGINNING = "Traceback (most recent call last):"
_FRAME = re.compile(r'^ *File "(?P<file>[^"]+)", line (?P<line>\d+)', re.MULTILINE)

_OF_RUNNING = re.compile(
    r"(?:py4j\.protocol\.Py4J|pyspark\.errors\.exceptions\.captured\.(?!Analysis|Parse))\w+"
)
"""The names of errors that Spark raises while it runs a query, as Python prints them."""

Frame = tuple[str, int]


@dataclass(frozen=True)
class UserLine:
    """A line of the user's, and what was raised there."""

    file: str
    """Relative to the project's folder where it is in it."""
    line: int
    kind: str
    """The class of the exception."""
    message: str
    """Its first line, without secrets, bounded."""

    @property
    def at(self) -> str:
        """The place as `file:line`."""
        return f"{self.file}:{self.line}"

    @property
    def shown(self) -> str:
        """Place and error in one line."""
        raised = f"{self.kind}: {self.message}" if self.message else self.kind
        return f"{self.at} {raised}"


def user_line(error: BaseException, folder: Path) -> UserLine | None:
    """Find the user's line in an exception that was raised in this process."""
    if _is_of_running(error):
        return None
    frames = [(one.filename, one.lineno or 0) for one in traceback.extract_tb(error.__traceback__)]
    message = str(error)
    if isinstance(error, PySparkException):
        message = spark_message(error).shown
    if isinstance(error, SyntaxError) and error.filename is not None:
        frames.append((error.filename, error.lineno or 0))
        message = error.msg
    return _line(_deepest(frames, folder), type(error).__name__, message, folder)


def user_line_in(text: str, folder: Path) -> UserLine | None:
    """Find the user's line in the text of an exception that another process raised."""
    for block in reversed(text.split(_BEGINNING)[1:]):
        found = [*_FRAME.finditer(block)]
        frame = _deepest([(one["file"], int(one["line"])) for one in found], folder)
        if frame is not None:
            kind, _, message = _raised(block[found[-1].end() :]).partition(": ")
            if not _OF_RUNNING.fullmatch(kind):
                return _line(frame, kind.rpartition(".")[2], message, folder)
    return None


def _is_of_running(error: BaseException) -> bool:
    built = isinstance(error, AnalysisException)
    return isinstance(error, (CapturedException, Py4JError)) and not built


def class_raised_in(text: str) -> str | None:
    """Name the class of the exception that the last traceback in a text ends with."""
    found = [*_FRAME.finditer(text)]
    kind = _raised(text[found[-1].end() :]).partition(":")[0] if found else ""
    return kind.rpartition(".")[2] or None


def _raised(after: str) -> str:
    """Return the line that ends a traceback: the first one that is not indented."""
    lines = after.splitlines()[1:]
    return next((line for line in lines if line.strip() and not line.startswith((" ", "\t"))), "")


def _deepest(frames: Iterable[Frame], folder: Path) -> Frame | None:
    """Prefer the project's folder: a callable of the user's may be called from elsewhere."""
    own = [frame for frame in frames if not _is_library(frame[0])]
    inside = [frame for frame in own if _is_below(Path(frame[0]), folder)]
    return next(reversed(inside or own), None)


def _is_library(file: str) -> bool:
    path = Path(file)
    return (
        file.startswith(_GENERATED)
        or not _LIBRARIES.isdisjoint(path.parts)
        or _is_below(path, _HERE)
        or _is_below(path, _STANDARD_LIBRARY)
    )


def _is_below(path: Path, folder: Path) -> bool:
    return path.is_relative_to(folder) or path.is_relative_to(folder.resolve())


def _line(frame: Frame | None, kind: str, message: str, folder: Path) -> UserLine | None:
    if frame is None:
        return None
    path = Path(frame[0])
    for base in (folder, folder.resolve()):
        if path.is_relative_to(base):
            path = path.relative_to(base)
    first = next(filter(None, (line.strip() for line in message.splitlines())), "")
    return UserLine(str(path), frame[1], kind, excerpt(first, _LONGEST_LINE))


_LONGEST_TRACE = 200_000
_LONGEST_MESSAGE = 400
_JVM_CODES = {None: "HF5304", Shortage.HEAP: "HF5305", Shortage.MACHINE: "HF5306"}


def job_error(
    error: BaseException, job: ReadyJob, *, raised_in_batch: BaseException | None = None
) -> HoldfastError:
    """Return the one error that tells why a job failed.

    `raised_in_batch` is what its delivery raised, as it was before it travelled through the JVM.
    """
    cause = error if raised_in_batch is None else raised_in_batch
    if isinstance(cause, HoldfastError):
        return cause
    trace = _trace(error, raised_in_batch)
    line = user_line_in(str(cause), job.folder) or user_line(cause, job.folder)
    if line is not None:
        return _in_users_code(line, trace)
    if isinstance(cause, (PySparkException, Py4JError)):
        return _in_spark(job, spark_message(cause), str(cause), trace)
    sentence = excerpt(str(cause).partition("\n")[0], _LONGEST_MESSAGE)
    message = f"{type(cause).__name__}: {sentence}"
    return RunError("HF5303", message, at=job.at, trace=trace)


def jvm_died(death: JvmDeath, job: ReadyJob, error: BaseException | None = None) -> JvmDiedError:
    """Return the error of a job whose JVM ended, with the batch that its checkpoint leaves pending.

    `error` is what a call into that JVM raised.
    """
    message = f"{death.words}; {_pending_words(job)}"
    trace = None if error is None else _trace(error, None)
    return JvmDiedError(_JVM_CODES[death.shortage], message, at=job.checkpoint.shown, trace=trace)


@contextmanager
def jvm_deaths_raised(jvm: Jvm, job: ReadyJob) -> Iterator[None]:
    """Raise JvmDiedError for whatever a call into a JVM raises that is gone: the one border."""
    try:
        yield
    except JvmDiedError:
        raise
    except Exception as error:
        death = jvm.death_behind(error)
        if death is None:
            raise
        raise jvm_died(death, job, error) from error


def pending_batch(job: ReadyJob) -> int | None:
    """Return the batch that is planned and not committed; raise HoldfastError."""
    return read_overview(open_reader(job.checkpoint, job.settings)).pending


def _pending_words(job: ReadyJob) -> str:
    """Say which batch is pending, from the files of the checkpoint alone."""
    try:
        pending = pending_batch(job)
    except HoldfastError as unreadable:
        return f"the pending batch is unknown: {unreadable.message}"
    return "no batch is pending" if pending is None else f"batch {pending} is pending"


def failure_of(error: HoldfastError, original: BaseException) -> Failure:
    """Return what a run's record keeps of its failure, by the class of what was raised."""
    return failure_record(error, _class_of(original))


def _class_of(original: BaseException) -> str:
    """Name Spark's error class where there is one, else the class of what was raised."""
    if not isinstance(original, (PySparkException, Py4JError)):
        return type(original).__name__
    words = spark_message(original)
    return words.condition or class_raised_in(str(original)) or words.kind


def _in_users_code(line: UserLine, trace: str) -> RunError:
    message = f"error in your code: {line.shown}"
    return RunError("HF5301", message, at=line.at, trace=trace)


def _in_spark(job: ReadyJob, words: SparkMessage, text: str, trace: str) -> RunError:
    message = f"Spark stopped: {words.shown}"
    match = find_page(text)
    if match is not None and not match.page.wraps:
        return _with_page(job, match.page, message, trace)
    # No page says more than the code's own: `explain` with Spark's error class would find nothing.
    return RunError("HF5302", message, at=job.at, trace=trace)


def _with_page(job: ReadyJob, page: Page, message: str, trace: str) -> RunError:
    why = f"{page.title}. {page.means}"
    avoid = tuple(f"do not: {one}" for one in page.avoid)
    steps = (*page.steps, *avoid, f"holdfast explain {page.name}")
    return RunError("HF5302", message, at=job.at, why=why, next_steps=steps, trace=trace)


def _trace(error: BaseException, raised_in_batch: BaseException | None) -> str:
    """Put Python's story before Java's: it is the one that people read."""
    parts = [] if raised_in_batch is None else traceback.format_exception(raised_in_batch)
    parts += traceback.format_exception(error)
    return redact("".join(parts)[:_LONGEST_TRACE])
