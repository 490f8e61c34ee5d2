"""The border of a run: whatever Spark or the user's code raises becomes one error with a code.

An error of the user's is told by their own line, one of Spark's by its error class and our page;
the Java below stays in `trace`.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from holdfast.checkpoint.glance import glance_at
from holdfast.diagnosis.explain.pages.matching import find_page
from holdfast.diagnosis.explain.pages.page import Page
from holdfast.errors import HoldfastError, JvmDiedError, RunError
from holdfast.jobs.ready import ReadyJob
from holdfast.records.run import Failure
from holdfast.redaction import excerpt, redact
from holdfast.spark.jvm import Jvm
from holdfast.spark.jvmdeath import JvmDeath, Shortage
from holdfast.spark.sparkwords import SparkWords, spark_words
from holdfast.spark.userlines import UserLine, class_raised_in, user_line, user_line_in
from holdfast.storage.opening import open_reader

_LONGEST_TRACE = 200_000
_LONGEST_MESSAGE = 400
_JVM_CODES = {None: "HF5304", Shortage.HEAP: "HF5305", Shortage.MACHINE: "HF5306"}


def told(
    error: BaseException, job: ReadyJob, *, raised_in_batch: BaseException | None = None
) -> HoldfastError:
    """Give the one error that tells why a job failed.

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
        return _in_spark(job, spark_words(cause), str(cause), trace)
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
def jvm_deaths_told(jvm: Jvm, job: ReadyJob) -> Iterator[None]:
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
    return glance_at(open_reader(job.checkpoint, job.settings)).pending


def _pending_words(job: ReadyJob) -> str:
    """Say which batch is pending, from the files of the checkpoint alone."""
    try:
        pending = pending_batch(job)
    except HoldfastError as unreadable:
        return f"the pending batch is unknown: {unreadable.message}"
    return "no batch is pending" if pending is None else f"batch {pending} is pending"


def failure_of(error: HoldfastError, original: BaseException) -> Failure:
    """Give what a run's record keeps of its failure."""
    return Failure(
        error_class=_class_of(original),
        code=error.code.number,
        message=error.message,
        at=error.at if error.code.number == "HF5301" else None,
        page=error.page,
    )


def _class_of(original: BaseException) -> str:
    """Name Spark's error class where there is one, else the class of what was raised."""
    if not isinstance(original, (PySparkException, Py4JError)):
        return type(original).__name__
    words = spark_words(original)
    return words.condition or class_raised_in(str(original)) or words.kind


def _in_users_code(line: UserLine, trace: str) -> RunError:
    message = f"error in your code: {line.shown}"
    return RunError("HF5301", message, at=line.at, trace=trace)


def _in_spark(job: ReadyJob, words: SparkWords, text: str, trace: str) -> RunError:
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
