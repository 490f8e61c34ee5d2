"""All changes, by subject."""

from __future__ import annotations

from tests.changes.pair import Pair
from tests.changes.pairs import (
    aggregation,
    deduplication,
    delta,
    functions,
    hidden,
    joins,
    kafka,
    operators,
    outputmodes,
    processors,
    rewrites,
    settings,
    sinks,
    sources,
    stateless,
    statics,
    watermarks,
    windows,
)

PAIRS: tuple[Pair, ...] = (
    *aggregation.PAIRS,
    *windows.PAIRS,
    *deduplication.PAIRS,
    *joins.PAIRS,
    *watermarks.PAIRS,
    *sources.PAIRS,
    *outputmodes.PAIRS,
    *sinks.PAIRS,
    *settings.PAIRS,
    *functions.PAIRS,
    *processors.PAIRS,
    *statics.PAIRS,
    *stateless.PAIRS,
    *operators.PAIRS,
    *rewrites.PAIRS,
    *hidden.PAIRS,
    *kafka.PAIRS,
    *delta.PAIRS,
)
