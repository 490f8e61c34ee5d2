"""Keeps pyspark's own Python loggers from printing what we tell in our words.

For every error of a query pyspark prints the whole Java trace as one line of JSON, and py4j prints
it once more; `--trace` shows it when somebody wants it. Where everything is wanted, they print it
without secrets.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.redaction import redact, redact_value
from holdfast.spark.jvm import lost_connection

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
    """Keep py4j from printing a traceback for every call into a JVM that is gone."""

    def passes(record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        return record.module not in _PY4J or error is None or not lost_connection(error)

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
        logger.addFilter(_without_secrets)
        logger.disabled = logger.disabled or not verbose
    try:
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled
            logger.removeFilter(_without_secrets)


def _without_secrets(record: logging.LogRecord) -> bool:
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
