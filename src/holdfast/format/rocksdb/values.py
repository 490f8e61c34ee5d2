"""Values as RocksDB holds them, taken apart: lists into their elements, checksums verified."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import google_crc32c
import numpy as np

from holdfast.errors import DecodeError
from holdfast.format.buffers import Positions, Spans
from holdfast.format.rocksdb.keys import numbers_at, without_version

_NOT_LAID_OUT, _WRONG_SUM = "HF2724", "HF2705"
_LENGTH_BYTES, _SUM_BYTES = 4, 4
_FEW_LISTS = 64
_LENGTH = struct.Struct("<i")


@dataclass(frozen=True)
class Values:
    """Rows without version bytes, and the index of the entry that each belongs to."""

    rows: Spans
    owners: Positions


def split_values(
    keys: Spans,
    values: Spans,
    *,
    multiple: bool = False,
    delimiter: bytes = b"",
    row_checksum: bool = False,
) -> Values:
    """Take the values of entries apart; `keys` are whole, with the id of their column family."""
    owners = np.arange(len(values), dtype=np.int64)
    if row_checksum:
        values, owners = _without_sums(keys, values, delimiter)
        if not multiple:
            _refuse_lists(owners, len(keys))
        elif len(values):
            # Behind its checksum, each element of a list still says how long it is.
            values, inner = _elements(values, 0, b"")
            owners = owners[inner]
    elif multiple:
        values, owners = _elements(values, 0, delimiter)
    return Values(without_version(values, _NOT_LAID_OUT, "a value"), owners)


def _without_sums(keys: Spans, values: Spans, delimiter: bytes) -> tuple[Spans, Positions]:
    elements, owners = _elements(values, _SUM_BYTES, delimiter)
    before = elements.starts - _LENGTH_BYTES - _SUM_BYTES
    sums = numbers_at(Spans(elements.data, before, elements.lengths), "<u4")
    of_keys = [google_crc32c.value(keys.at(index)) for index in range(len(keys))]
    for index, (owner, expected) in enumerate(zip(owners.tolist(), sums.tolist(), strict=True)):
        if google_crc32c.extend(of_keys[owner], elements.at(index)) != expected:
            message = f"RocksDB, entry {owner}: a value does not match its checksum"
            raise DecodeError(_WRONG_SUM, message)
    return elements, owners


def _refuse_lists(owners: Positions, count: int) -> None:
    wrong = np.bincount(owners, minlength=count) != 1
    if wrong.any():
        index = int(wrong.argmax())
        raise DecodeError(
            _NOT_LAID_OUT, f"RocksDB, entry {index}: expected one value, found a list"
        )


def _elements(values: Spans, lead: int, delimiter: bytes) -> tuple[Spans, Positions]:
    """Find the elements of lists; `lead` bytes stand before the length of each."""
    starts, lengths, owners = [], [], []
    at, ends = values.starts, values.starts + values.lengths
    active = np.flatnonzero(at < ends)
    at, ends = at[active], ends[active]
    while len(active) > _FEW_LISTS:
        begin, length = _next_elements(values, at, ends, active, lead)
        starts.append(begin)
        lengths.append(length)
        owners.append(active)
        at = _behind_delimiters(values, begin + length, ends, active, delimiter)
        more = at < ends
        active, at, ends = active[more], at[more], ends[more]
    for index, first, end in zip(active.tolist(), at.tolist(), ends.tolist(), strict=True):
        walked = _walked(values, index, (first, end), lead, delimiter)
        starts.append(walked[0])
        lengths.append(walked[1])
        owners.append(np.full(len(walked[0]), index, np.int64))
    return _in_order(values, starts, lengths, owners)


def _in_order(
    values: Spans, starts: list[Positions], lengths: list[Positions], owners: list[Positions]
) -> tuple[Spans, Positions]:
    empty = np.empty(0, np.int64)
    every = np.concatenate([empty, *owners])
    order = np.argsort(every, kind="stable")
    found = Spans(
        values.data,
        np.concatenate([empty, *starts])[order],
        np.concatenate([empty, *lengths])[order],
    )
    return found, every[order]


def _next_elements(
    values: Spans, at: Positions, ends: Positions, active: Positions, lead: int
) -> tuple[Positions, Positions]:
    """Read one element of each list, all lists at once."""
    begin = at + lead + _LENGTH_BYTES
    short = begin > ends
    if short.any():
        raise _malformed(int(active[short.argmax()]))
    length = numbers_at(Spans(values.data, at + lead, ends - at), "<i4")
    wrong = (length < 0) | (begin + length > ends)
    if wrong.any():
        raise _malformed(int(active[wrong.argmax()]))
    return begin, length


def _behind_delimiters(
    values: Spans, at: Positions, ends: Positions, active: Positions, delimiter: bytes
) -> Positions:
    for byte in delimiter:
        more = np.flatnonzero(at < ends)
        wrong = values.data[at[more]] != byte
        if wrong.any():
            raise _malformed(int(active[more[wrong.argmax()]]))
        at = at + (at < ends)
    return at


def _walked(
    values: Spans, index: int, bounds: tuple[int, int], lead: int, delimiter: bytes
) -> tuple[Positions, Positions]:
    """Walk through one list: few lists, however long, cost no lookup of all of them a step."""
    first, end = bounds
    data = values.data[first:end].tobytes()
    at, starts, lengths = 0, [], []
    while at < len(data):
        begin = at + lead + _LENGTH_BYTES
        if begin > len(data):
            raise _malformed(index)
        (length,) = _LENGTH.unpack_from(data, at + lead)
        at = begin + length
        if length < 0 or at > len(data):
            raise _malformed(index)
        starts.append(first + begin)
        lengths.append(length)
        if at < len(data) and delimiter:
            if not data.startswith(delimiter, at):
                raise _malformed(index)
            at += len(delimiter)
    return np.array(starts, np.int64), np.array(lengths, np.int64)


def _malformed(index: int) -> DecodeError:
    return DecodeError(_NOT_LAID_OUT, f"RocksDB, entry {index}: its list of values is malformed")
