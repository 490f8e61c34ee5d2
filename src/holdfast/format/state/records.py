"""Reads records from the pieces of a decompressed state file, to its end marker, as Spark does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from holdfast.errors import DecodeError
from holdfast.format.spans import DELETE, DELETE_RANGE, MERGE, PUT, Changes, Positions, Spans
from holdfast.format.state.recordwalk import Buffer, find_records

_LONGEST_PART = 1 << 28
"""A longer key or value is taken for a lie: it would have to be held in memory whole."""

_END = 0


class Feed:
    """Pieces taken together; what goes wrong is kept until what came before it is used up."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._given_back = b""
        self.failure: DecodeError | None = None

    def take(self, size: int) -> bytes:
        """Take at least that many bytes; fewer only where no more come."""
        taken = [self._given_back]
        size -= len(self._given_back)
        self._given_back = b""
        try:
            while size > 0 and self.failure is None:
                piece = next(self._pieces, None)
                if piece is None:
                    break
                taken.append(piece)
                size -= len(piece)
        except DecodeError as error:
            self.failure = error
        return b"".join(taken)

    def give_back(self, data: bytes) -> None:
        """Let these bytes be the next ones to take."""
        self._given_back = data


@dataclass(frozen=True)
class RecordPiece:
    """Some records in their order; their buffer begins at a byte of the decompressed file."""

    file: RecordFile
    byte: int
    changes: Changes

    def error(self, code: str, message: str, place: int) -> DecodeError:
        """Make an error at a place of the buffer."""
        return self.file.error(code, message, self.byte + place)


@dataclass(frozen=True)
class RecordFile:
    """How the records of a file are written, and what to call it."""

    what: str
    typed: bool

    def read(self, feed: Feed, *, chunk_bytes: int, byte: int = 0) -> Iterator[RecordPiece]:
        """Give the records; `byte` is where the feed stands in the decompressed file.

        Damage beyond the end marker is raised after the last record, as overlooked: Spark stops
        reading there.
        """
        data = feed.take(chunk_bytes)
        while True:
            buffer = Buffer(data, self.typed)
            starts, end = find_records(buffer)
            if len(starts):
                yield RecordPiece(self, byte, _changes(buffer, starts))
            needed = self._needed(data, end, byte)
            byte += end
            rest = data[end:]
            if needed == _END:
                return self._expect_nothing(feed, rest, byte)
            more = feed.take(max(chunk_bytes, needed) - len(rest))
            if not more:
                raise feed.failure or self._unended(byte + len(rest))
            data = rest + more

    def _needed(self, data: bytes, start: int, byte: int) -> int:
        """Tell how many bytes the record at `start` needs; none is left at the end marker."""
        lead = int(self.typed)
        if self.typed and len(data) > start:
            kind = data[start]
            if kind == 0:
                return _END
            if kind not in (PUT, DELETE, MERGE, DELETE_RANGE):
                message = f"no record is of the kind {kind:#04x}"
                raise self.error("HF2708", message, byte + start)
        key_place = start + lead
        if len(data) < key_place + 4:
            return lead + 4
        key_length = _integer(data, key_place)
        if key_length == -1 and not self.typed:
            return _END
        self._check(key_length, "key", byte + key_place)
        value_place = key_place + 4 + key_length
        if len(data) < value_place + 4:
            return value_place + 4 - start
        value_length = _integer(data, value_place)
        if self.typed and data[start] == DELETE:
            message = f"a deletion has a value of {value_length} bytes"
            raise self.error("HF2702", message, byte + value_place)
        self._check(value_length, "value", byte + value_place)
        return value_place + 4 + value_length - start

    def _check(self, length: int, part: str, byte: int) -> None:
        if not 0 <= length <= _LONGEST_PART:
            raise self.error("HF2702", f"a {part} can't have {length} bytes", byte)

    def _expect_nothing(self, feed: Feed, rest: bytes, byte: int) -> None:
        marker = 1 if self.typed else 4
        if len(rest) > marker or feed.take(1):
            message = "something follows its end marker"
            raise self.error("HF2706", message, byte + marker, overlooked=True)
        if feed.failure:
            number, message = feed.failure.code.number, feed.failure.message
            raise DecodeError(
                number, message, byte=feed.failure.byte, overlooked=True
            ) from feed.failure

    def _unended(self, byte: int) -> DecodeError:
        return self.error("HF2703", "it ends before its end marker", byte)

    def error(self, code: str, message: str, byte: int, *, overlooked: bool = False) -> DecodeError:
        """Make an error at a byte of the decompressed file."""
        text = f"{self.what}: {message}, at byte {byte} once decompressed"
        return DecodeError(code, text, byte=byte, overlooked=overlooked)


def _changes(buffer: Buffer, starts: Positions) -> Changes:
    data, integers = buffer.bytes, buffer.integers
    key_starts = starts + 4 + int(buffer.typed)
    key_lengths = integers[key_starts - 4].astype(np.int64)
    value_starts = key_starts + key_lengths + 4
    value_lengths = integers[value_starts - 4].astype(np.int64)
    if buffer.typed:
        kinds = data[starts]
    else:
        kinds = np.where(value_lengths < 0, DELETE, PUT).astype(np.uint8)
    keys = Spans(data, key_starts, key_lengths)
    return Changes(kinds, keys, Spans(data, value_starts, np.maximum(value_lengths, 0)))


def _integer(data: bytes, place: int) -> int:
    return int.from_bytes(data[place : place + 4], "big", signed=True)
