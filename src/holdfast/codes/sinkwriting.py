"""HF50xx: sinks that can't or mustn't be written."""

from __future__ import annotations

from holdfast.codes.code import Code

SINK_WRITING_CODES: tuple[Code, ...] = ()
