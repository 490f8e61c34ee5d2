"""Reads records from the pieces of a decompressed state file, to its end marker, as Spark does."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from holdfast.errors import DecodeError
from holdfast.format.buffers import (
    DELETE,
    DELETE_RANGE,
    MERGE,
    PUT,
    Bytes,
    Changes,
    Positions,
    Spans,
)

_SAMPLE = 64
"""So many records are walked one by one, to know what records are like."""
_ALIKE = 1 << 14
"""So many records at most are compared at once with the one before them."""
_LEAST_ALIKE = 1 << 10
"""Where fewer are alike, the lengths change too often to go on like this."""
_LONG_RECORD = 160
"""Where records have more bytes on average, there are so few that one by one is as quick."""
_STRETCH = 4 << 10
_STEPS = _STRETCH // 12
_WINDOW = 512
"""In so many bytes of a stretch its first record is looked for."""
_GUESS_DEPTH = 3
"""A guess must be followed by so many records that are like the sample."""

_KINDS = np.zeros(256, np.bool_)
_KINDS[[PUT, DELETE, MERGE, DELETE_RANGE]] = True

_read_integer = struct.Struct(">i").unpack_from


@dataclass(frozen=True)
class Buffer:
    """Bytes that begin with a record; a typed record has a byte for its kind before the key."""

    data: bytes
    typed: bool

    @property
    def bytes(self) -> Bytes:
        """The same bytes for numpy."""
        return np.frombuffer(self.data, np.uint8)

    @property
    def integers(self) -> npt.NDArray[np.int32]:
        """The big-endian integer that begins at each byte."""
        count = max(len(self.data) - 3, 0)
        view: npt.NDArray[np.int32] = np.ndarray((count,), ">i4", self.data, strides=(1,))
        return view


def find_records(buffer: Buffer) -> tuple[Positions, int]:
    """Return where each whole record begins, and the byte where no further one does."""
    found: list[Positions] = []
    byte, alike = 0, _LEAST_ALIKE
    while alike >= _LEAST_ALIKE:
        first = byte
        starts, byte = _walk(buffer, byte, len(buffer.data), _SAMPLE)
        found.append(np.array(starts, np.int64))
        if len(starts) < _SAMPLE:
            return np.concatenate(found), byte
        found.append(_walk_alike(buffer, starts[-1], byte))
        alike = len(found[-1])
        byte += alike * (byte - starts[-1])
    if byte - first < (_SAMPLE + alike) * _LONG_RECORD:
        guesses, bounds = _guess(buffer, byte, found[-2])
        walks = _walk_in_lockstep(buffer, guesses, bounds)
        pieces, byte = _join(buffer, byte, guesses, *walks)
        found += pieces
    starts, byte = _walk(buffer, byte, len(buffer.data))
    return np.concatenate([*found, np.array(starts, np.int64)]), byte


def _walk(buffer: Buffer, byte: int, until: int, most: int = -1) -> tuple[list[int], int]:
    """Walk record by record until that byte, that many records, or something that is none."""
    data, lead = buffer.data, int(buffer.typed)
    size = len(data)
    starts: list[int] = []
    while byte < until and len(starts) != most:
        place = byte + lead
        if place + 4 > size:
            break
        length: int = _read_integer(data, place)[0]
        place += 4 + length
        if length < 0 or place + 4 > size:
            break
        length = _read_integer(data, place)[0]
        end = place + 4 + (length if length > 0 else 0)
        if end > size or (lead and not _fits(data[byte], length)):
            break
        starts.append(byte)
        byte = end
    return starts, byte


def _walk_alike(buffer: Buffer, last: int, byte: int) -> Positions:
    """Return the records from `byte` on that have the kind and the lengths of the last one."""
    size = byte - last
    until = min(len(buffer.data) - size + 1, byte + _ALIKE * size)
    places = np.arange(byte, until, size, dtype=np.int64)
    integers, key = buffer.integers, last + int(buffer.typed)
    value = key + 4 + int(integers[key])
    alike = integers[places + (key - last)] == integers[key]
    alike &= integers[places + (value - last)] == integers[value]
    if buffer.typed:
        alike &= buffer.bytes[places] == buffer.bytes[last]
    return places if alike.all() else places[: int(alike.argmin())]


def _fits(kind: int, length: int) -> bool:
    return length == -1 if kind == DELETE else bool(_KINDS[kind]) and length >= 0


def _step(buffer: Buffer, places: Positions) -> tuple[npt.NDArray[np.bool_], Positions, Positions]:
    """Return for each position whether a whole record is there, its key's length, and its end."""
    integers, size = buffer.integers, len(buffer.data)
    key_places = places + int(buffer.typed)
    whole = key_places <= size - 4
    key_lengths = integers[np.where(whole, key_places, 0)].astype(np.int64)
    value_places = key_places + 4 + key_lengths
    whole &= (key_lengths >= 0) & (value_places <= size - 4)
    value_lengths = integers[np.where(whole, value_places, 0)].astype(np.int64)
    ends = value_places + 4 + np.maximum(value_lengths, 0)
    whole &= ends <= size
    if buffer.typed:
        kinds = buffer.bytes[np.where(whole, places, 0)]
        empty = value_lengths < 0
        whole &= _KINDS[kinds] & (empty == (kinds == DELETE)) & (value_lengths >= -1)
    return whole, key_lengths, ends


def _guess(buffer: Buffer, byte: int, sample: Positions) -> tuple[Positions, Positions]:
    """Guess the first record of each stretch by the lengths of the sample; give the next, too."""
    begin = (byte // _STRETCH + 1) * _STRETCH
    stretches = np.arange(begin, len(buffer.data) - _STRETCH - 8, _STRETCH)
    _, key_lengths, ends = _step(buffer, sample)
    shortest, longest, most = key_lengths.min(), key_lengths.max(), (ends - sample).max()
    window = np.arange(min(most, _WINDOW), dtype=np.int64)
    candidates = (stretches[:, np.newaxis] + window).ravel()
    lengths = buffer.integers[candidates + int(buffer.typed)]
    candidates = candidates[(lengths >= shortest) & (lengths <= longest)]
    places = candidates
    for _ in range(_GUESS_DEPTH):
        whole, key_lengths, ends = _step(buffer, places)
        alike = whole & (key_lengths >= shortest) & (key_lengths <= longest)
        alike &= ends - places <= most
        candidates, places = candidates[alike], ends[alike]
    _, firsts = np.unique(candidates // _STRETCH, return_index=True)
    guesses = candidates[firsts]
    bounds = np.append(guesses[1:], guesses[-1:] + _STRETCH)
    if buffer.typed:
        return guesses, bounds
    # Nothing tells a key from a value of like length: a guess may be either, so both are walked.
    others = guesses + 4 + buffer.integers[guesses]
    return np.stack([guesses, others], axis=1).ravel(), np.repeat(bounds, 2)


def _walk_in_lockstep(
    buffer: Buffer, guesses: Positions, bounds: Positions
) -> tuple[Positions, Positions, Positions]:
    """Walk from each guess to its bound: records, how many of each walk, where it ends."""
    places = guesses
    history = []
    for _ in range(_STEPS):
        whole, _, ends = _step(buffer, places)
        whole &= places < bounds
        if not whole.any():
            break
        history.append(np.where(whole, places, -1))
        places = np.where(whole, ends, places)
    walks = np.array(history, np.int64).reshape(len(history), len(guesses)).T
    found = walks >= 0
    return walks[found], found.sum(axis=1), places


def _join(
    buffer: Buffer,
    byte: int,
    guesses: Positions,
    records: Positions,
    counts: Positions,
    ends: Positions,
) -> tuple[list[Positions], int]:
    """Put walks one after another where each begins at the end of the one before."""
    pieces = []
    stops = np.cumsum(counts).tolist()
    walks = zip(guesses.tolist(), [0, *stops], stops, ends.tolist(), strict=False)
    for guess, start, stop, end in walks:
        if byte < guess:
            missed, byte = _walk(buffer, byte, guess)
            pieces.append(np.array(missed, np.int64))
        if byte == guess:
            pieces.append(records[start:stop])
            byte = end
    return pieces, byte


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
        """Yield the records; `byte` is where the feed stands in the decompressed file.

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
        """Return how many bytes the record at `start` needs; none is left at the end marker."""
        lead = int(self.typed)
        if self.typed and len(data) > start:
            kind = data[start]
            if kind == 0:
                return _END
            if kind not in (PUT, DELETE, MERGE, DELETE_RANGE):
                message = f"unknown record kind {kind:#04x}"
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
            raise self.error("HF2702", f"a {part} cannot have {length} bytes", byte)

    def _expect_nothing(self, feed: Feed, rest: bytes, byte: int) -> None:
        marker = 1 if self.typed else 4
        if len(rest) > marker or feed.take(1):
            message = "unexpected data after its end marker"
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
