"""The Java libraries that jobs need beside Spark: locked, fetched once, checked at every start."""

from __future__ import annotations

from holdfast.spark.jars.cache import jars_for

__all__ = ["jars_for"]
