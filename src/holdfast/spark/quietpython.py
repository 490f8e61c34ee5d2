"""Keeps pyspark's own Python loggers from printing what we tell in our words.

For every error of a query pyspark prints the whole Java trace as one line of JSON, and py4j prints
it once more; `--trace` shows it when somebody wants it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

_TALKATIVE = ("SQLQueryContextLogger", "DataFrameQueryContextLogger", "py4j.clientserver")


@contextmanager
def quiet_python(*, verbose: bool) -> Iterator[None]:
    """Keep them silent for as long as jobs run, unless everything is wanted."""
    loggers = [] if verbose else [_logger(name) for name in _TALKATIVE]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


def _logger(name: str) -> logging.Logger:
    if name.startswith("py4j"):
        return logging.getLogger(name)
    # Made as pyspark makes it: a plain logger under this name would stay plain for ever.
    from pyspark.logger import PySparkLogger

    return PySparkLogger.getLogger(name)
