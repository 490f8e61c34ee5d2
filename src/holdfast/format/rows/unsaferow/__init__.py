"""UnsafeRow, in which Spark keeps state: rows decoded into Arrow's columns, and one key encoded."""

from __future__ import annotations

from holdfast.format.rows.unsaferow.decoding import decode_rows
from holdfast.format.rows.unsaferow.encoding import encode_row

__all__ = ["decode_rows", "encode_row"]
