"""HF2330 to HF2399: rows of the state, and what is asked of them."""

from __future__ import annotations

from holdfast.codes.code import Code

STATE_ROW_CODES: tuple[Code, ...] = ()
