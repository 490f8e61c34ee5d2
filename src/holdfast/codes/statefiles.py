"""HF2301 to HF2329: files of the state, RocksDB's among them, that are not what Spark writes."""

from __future__ import annotations

from holdfast.codes.code import Code

STATE_FILE_CODES: tuple[Code, ...] = ()
