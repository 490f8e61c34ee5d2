"""HF52xx: what keeps Spark from starting."""

from __future__ import annotations

from holdfast.codes.code import Code

SPARK_START_CODES: tuple[Code, ...] = ()
