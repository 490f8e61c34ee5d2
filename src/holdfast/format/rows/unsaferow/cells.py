"""One column of many rows or arrays: where its fixed parts are, and what they point to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from holdfast.format.arrowarrays import Valid, arrow_bits, arrow_numbers
from holdfast.format.arrowkernels import taken
from holdfast.format.rows.unsaferow.buffer import WORD, RowBuffer, row_error
from holdfast.format.spans import Positions

_LOW_HALF = 0xFFFFFFFF


@dataclass(frozen=True)
class Blocks:
    """Rows or arrays in a buffer, at any depth: what an offset in them counts from."""

    buffer: RowBuffer
    starts: Positions
    lengths: Positions
    origins: Positions | None = None
    """The cells that point to them; nothing for rows, which nobody points to."""

    def __len__(self) -> int:
        return len(self.starts)

    def refuse(self, wrong: Valid, message: str) -> None:
        """Raise at the first block that is wrong, where there is one."""
        if not wrong.any():
            return
        index = int(wrong.argmax())
        told = f"{message}, in {int(self.lengths[index])} bytes"
        if self.origins is None:
            raise row_error(told, index, 0)
        raise self.buffer.error(told, int(self.origins[index]))


@dataclass(frozen=True)
class Cells:
    """The fixed parts of one column, each in a block of its own or of its array."""

    name: str
    blocks: Blocks
    fixed: Positions
    """How long the fixed part of each block is: values lie behind it."""
    positions: Positions
    valid: Valid

    def __len__(self) -> int:
        return len(self.positions)

    def validity(self) -> pa.Buffer | None:
        """Give Arrow's bitmap, or nothing where no value is null."""
        return None if self.valid.all() else arrow_bits(self.valid)

    def targets(self) -> Blocks:
        """Give what the cells that are not null point to; refuse what lies outside its block."""
        some = np.flatnonzero(self.valid)
        cells = self.blocks.buffer.take(self.positions[some], "<u8")
        offsets = (cells >> np.uint64(32)).astype(np.int64)
        lengths = (cells & np.uint64(_LOW_HALF)).astype(np.int64)
        wrong = offsets % WORD != 0
        wrong |= offsets < self.fixed[some]
        wrong |= offsets + lengths > self.blocks.lengths[some]
        if wrong.any():
            self._refuse(int(wrong.argmax()), some, offsets, lengths)
        starts = self.blocks.starts[some] + offsets
        # Spark appends: going back would let few bytes claim to be any number of values.
        overlapping = starts[1:] < starts[:-1] + lengths[:-1]
        if overlapping.any():
            self._refuse(int(overlapping.argmax()) + 1, some, offsets, lengths)
        return Blocks(self.blocks.buffer, starts, lengths, self.positions[some])

    def _refuse(self, index: int, some: Positions, offsets: Positions, lengths: Positions) -> None:
        cell, offset, length = int(some[index]), int(offsets[index]), int(lengths[index])
        whole = int(self.blocks.lengths[cell])
        raise self.blocks.buffer.error(
            f"column {self.name!r} points to {length} bytes from byte {offset} on, "
            f"which is no place for a value in {whole} bytes",
            int(self.positions[cell]),
        )


def spread(values: pa.Array, valid: Valid) -> pa.Array:
    """Put nulls between values that were decoded without them."""
    if valid.all():
        return values
    return taken(values, arrow_numbers(np.cumsum(valid) - 1, valid=valid))


def first_invalid(array: pa.Array) -> int | None:
    """Find the first value that its type can't hold, such as bytes that are no UTF-8."""
    if _is_valid(array):
        return None
    start, end = 0, len(array)
    while end - start > 1:
        middle = (start + end) // 2
        if _is_valid(array[start:middle]):
            start = middle
        else:
            end = middle
    return start


def refuse_invalid(array: pa.Array, cells: Cells) -> None:
    """Raise where a value is not one of its type."""
    index = first_invalid(array)
    if index is not None:
        raise cells.blocks.buffer.error(
            f"column {cells.name!r} holds a value that is no {array.type}",
            int(cells.positions[index]),
        )


def _is_valid(array: pa.Array) -> bool:
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True
