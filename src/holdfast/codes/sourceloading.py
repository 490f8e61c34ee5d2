"""HF51xx: sources that can't be loaded, transforms that can't be applied."""

from __future__ import annotations

from holdfast.codes.code import Code

SOURCE_LOADING_CODES: tuple[Code, ...] = ()
