"""All shapes of the corpus, in one tuple."""

from __future__ import annotations

from . import aggregations, duplicates, joins, pending, stateless
from .shape import Shape

SHAPES: tuple[Shape, ...] = (
    *stateless.SHAPES,
    *aggregations.SHAPES,
    *joins.SHAPES,
    *duplicates.SHAPES,
    *pending.SHAPES,
)
