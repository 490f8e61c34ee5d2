"""HF30xx: what a start is refused or warned for, before it happens."""

from __future__ import annotations

from holdfast.codes.code import Code

GUARD_CODES: tuple[Code, ...] = ()
