"""Holdfast keeps Spark Structured Streaming pipelines safe across every restart.

>>> import holdfast
>>> answer = holdfast.inspect("checkpoints/orders")      # doctest: +SKIP
>>> answer.result.next_start.action                      # doctest: +SKIP
<Action.PLAN: 'plan'>
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from holdfast.answers import Answer
    from holdfast.diagnosis.comparison import Comparison
    from holdfast.diagnosis.inspection import Inspection
    from holdfast.errors import HoldfastError
    from holdfast.findings import Finding, Severity
    from holdfast.library import diff, inspect

_HOMES = {
    "Answer": "holdfast.answers",
    "Comparison": "holdfast.diagnosis.comparison",
    "Finding": "holdfast.findings",
    "HoldfastError": "holdfast.errors",
    "Inspection": "holdfast.diagnosis.inspection",
    "Severity": "holdfast.findings",
    "diff": "holdfast.library",
    "inspect": "holdfast.library",
}

__all__ = [
    "Answer",
    "Comparison",
    "Finding",
    "HoldfastError",
    "Inspection",
    "Severity",
    "__version__",
    "diff",
    "inspect",
]


def __getattr__(name: str) -> object:
    """Load a public name at its first use, so that `import holdfast` costs next to nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
