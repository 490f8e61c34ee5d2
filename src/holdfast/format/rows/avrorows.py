"""Many Avro records read side by side: one place in each, moved on by what is read there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from holdfast.errors import DecodeError
from holdfast.format.spans import Bytes, Positions, Spans

_CODE = "HF2726"
_LONGEST_NUMBER = 10


@dataclass
class AvroRows:
    """Where reading stands in each record, where each ends, and its number for messages."""

    data: Bytes
    at: Positions
    ends: Positions
    numbers: Positions

    @classmethod
    def of(cls, rows: Spans) -> AvroRows:
        """Begin at the start of each row."""
        ends = rows.starts + rows.lengths
        return cls(rows.data, rows.starts.copy(), ends, np.arange(len(rows), dtype=np.int64))

    def __len__(self) -> int:
        return len(self.at)

    def some(self, indices: Positions) -> AvroRows:
        """Give some of the records to read on in them; `went_on` takes the outcome back."""
        return AvroRows(self.data, self.at[indices], self.ends[indices], self.numbers[indices])

    def went_on(self, indices: Positions, read: AvroRows) -> None:
        """Move on to where reading of some records stopped."""
        self.at[indices] = read.at

    def take_number(self) -> npt.NDArray[np.int64]:
        """Read an integer of each record: seven bits a byte, the sign in the lowest bit."""
        value = np.zeros(len(self), np.uint64)
        active = np.arange(len(self), dtype=np.int64)
        for turn in range(_LONGEST_NUMBER):
            self.refuse(self.at[active] >= self.ends[active], "ends inside of a number", active)
            byte = self.data[self.at[active]]
            self.at[active] += 1
            value[active] |= (byte & 0x7F).astype(np.uint64) << np.uint64(7 * turn)
            active = active[byte >= 0x80]
            if not len(active):
                return _signed(value)
        raise self.error(int(active[0]), "has a number of more than 64 bits")

    def take_bytes(self) -> Spans:
        """Read a byte string of each record."""
        lengths = self.take_number()
        return self._skip(lengths, (lengths < 0) | (lengths > self.ends - self.at))

    def take_fixed(self, width: int) -> npt.NDArray[np.uint8]:
        """Read so many bytes of each record, a row for each."""
        lengths = np.full(len(self), width, np.int64)
        taken = self._skip(lengths, lengths > self.ends - self.at)
        raw: npt.NDArray[np.uint8] = self.data[taken.starts[:, np.newaxis] + np.arange(width)]
        return raw

    def refuse(
        self, wrong: npt.NDArray[np.bool_], message: str, among: Positions | None = None
    ) -> None:
        """Raise at the first record that is wrong; `among` says which ones were asked about."""
        if wrong.any():
            index = int(wrong.argmax())
            raise self.error(index if among is None else int(among[index]), message)

    def error(self, index: int, message: str) -> DecodeError:
        """Make an error that names a record."""
        return DecodeError(_CODE, f"Avro state row {int(self.numbers[index])}: it {message}")

    def _skip(self, lengths: Positions, wrong: npt.NDArray[np.bool_]) -> Spans:
        self.refuse(wrong, "ends inside of a value")
        taken = Spans(self.data, self.at.copy(), lengths)
        self.at += lengths
        return taken


def _signed(value: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    magnitude: npt.NDArray[np.int64] = (value >> np.uint64(1)).view(np.int64)
    sign: npt.NDArray[np.int64] = (value & np.uint64(1)).view(np.int64)
    return magnitude ^ -sign
