"""The border of a run: whatever Spark or the user's code raises becomes one error with a code.

An error of the user's is told by their own line, one of Spark's by its error class and our page;
the Java below stays in `trace`.
"""

from __future__ import annotations

import traceback

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from holdfast.diagnosis.sparkerrors.matching import find_page
from holdfast.diagnosis.sparkerrors.page import Page
from holdfast.errors import HoldfastError, RunError
from holdfast.jobs.ready import ReadyJob
from holdfast.records.run import Failure
from holdfast.redaction import excerpt, redact
from holdfast.spark.sparkwords import SparkWords, spark_words
from holdfast.spark.userlines import UserLine, class_raised_in, user_line, user_line_in

_LONGEST_TRACE = 200_000
_LONGEST_MESSAGE = 400


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
        return _in_users_code(job, line, trace)
    if isinstance(cause, (PySparkException, Py4JError)):
        return _in_spark(job, spark_words(cause), str(cause), trace)
    sentence = excerpt(str(cause).partition("\n")[0], _LONGEST_MESSAGE)
    message = f"{job.name} failed: {type(cause).__name__}: {sentence}"
    return RunError("HF5303", message, at=job.at, trace=trace)


def failure_of(error: HoldfastError, original: BaseException) -> Failure:
    """Give what a run's record keeps of its failure."""
    return Failure(
        error_class=_class_of(original),
        code=error.code.number,
        message=error.message,
        at=error.at if error.code.number == "HF5301" else None,
    )


def _class_of(original: BaseException) -> str:
    """Name Spark's error class where there is one, else the class of what was raised."""
    if not isinstance(original, (PySparkException, Py4JError)):
        return type(original).__name__
    words = spark_words(original)
    return words.condition or class_raised_in(str(original)) or words.kind


def _in_users_code(job: ReadyJob, line: UserLine, trace: str) -> RunError:
    message = f"{job.name} failed in your code: {line.shown}"
    return RunError("HF5301", message, at=line.at, trace=trace)


def _in_spark(job: ReadyJob, words: SparkWords, text: str, trace: str) -> RunError:
    message = f"{job.name}: Spark stopped: {words.shown}"
    match = find_page(text)
    if match is not None and not match.page.wraps:
        return _with_page(job, match.page, message, trace)
    steps = None if words.condition is None else (f"holdfast explain {words.condition}",)
    return RunError("HF5302", message, at=job.at, next_steps=steps, trace=trace)


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
