"""All shapes of the corpus, in one tuple."""

from __future__ import annotations

from tests.corpus.shapes import (
    aggregations,
    connected,
    duplicates,
    joins,
    killed,
    logs,
    pandas_state,
    pending,
    repartitioned,
    sessions,
    sources,
    stateless,
    transform_with_state,
    typed_rows,
    upgrade,
)
from tests.corpus.shapes.shape import Shape

SHAPES: tuple[Shape, ...] = (
    *stateless.SHAPES,
    *aggregations.SHAPES,
    *typed_rows.SHAPES,
    *joins.SHAPES,
    *duplicates.SHAPES,
    *sessions.SHAPES,
    *pandas_state.SHAPES,
    *transform_with_state.SHAPES,
    *sources.SHAPES,
    *logs.SHAPES,
    *pending.SHAPES,
    *upgrade.SHAPES,
    *repartitioned.SHAPES,
    *killed.SHAPES,
    *connected.SHAPES,
)
