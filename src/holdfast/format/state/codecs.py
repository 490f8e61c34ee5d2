"""Decompresses a state file piece by piece, whichever of Spark's codecs wrote it."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import suppress

import pyarrow as pa
import xxhash

from holdfast.errors import DecodeError

LZF_MAGIC = b"ZV"

_HEADER = 5
_STORED, _COMPRESSED = 0, 1


def lzf_pieces(data: bytes, error: Callable[[str, int], DecodeError]) -> Iterator[bytes]:
    """Yield the plain bytes of each chunk; `error` makes what is raised at a byte."""
    byte = 0
    while byte < len(data):
        kind = data[byte + 2 : byte + 3]
        if data[byte : byte + 2] != LZF_MAGIC or kind not in (b"\0", b"\1"):
            raise error("this is not the beginning of an lzf chunk", byte)
        start = byte + _HEADER + 2 * kind[0]
        end = start + int.from_bytes(data[byte + 3 : byte + 5], "big")
        if start > len(data) or end > len(data):
            raise error("the file ends in the middle of an lzf chunk", len(data))
        if kind[0] == _STORED:
            yield data[start:end]
        else:
            plain_length = int.from_bytes(data[start - 2 : start], "big")
            yield _plain(data, start, end, plain_length, error)
        byte = end


def _plain(
    data: bytes, byte: int, end: int, length: int, error: Callable[[str, int], DecodeError]
) -> bytes:
    plain = bytearray()
    while byte < end:
        control = data[byte]
        byte += 1
        if control < 32:
            plain += data[byte : byte + control + 1]
            byte += control + 1
            continue
        count = (control >> 5) + 2
        if count == 9 and byte < end:
            count += data[byte]
            byte += 1
        distance = ((control & 31) << 8 | data[byte]) + 1 if byte < end else 0
        byte += 1
        if not 0 < distance <= len(plain):
            raise error("an lzf chunk refers to missing data", byte - 1)
        start = len(plain) - distance
        if distance >= count:
            plain += plain[start : start + count]
        else:
            plain += (plain[start:] * (count // distance + 1))[:count]
    if byte != end or len(plain) != length:
        raise error(f"an lzf chunk decompresses to {len(plain)} bytes, not {length}", end)
    return bytes(plain)


_LZ4_MAGIC = b"LZ4Block"
_LZ4_HEADER = struct.Struct("<8sBiiI")
_LZ4_STORED, _LZ4_COMPRESSED = 0x10, 0x20
_LZ4_SEED = 0x9747B28C
_LZ4_SUM_BITS = 0x0FFFFFFF

_SNAPPY_MAGIC = b"\x82SNAPPY\0"
_SNAPPY_HEADER = len(_SNAPPY_MAGIC) + 8
_SNAPPY_GROWTH = 64
"""One element of snappy has at least one byte and gives at most 64."""

_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_PIECE = 1 << 16

_PIECE = 1 << 20


def decompressed(data: bytes, *, limit: int | None = None) -> Iterator[bytes]:
    """Yield the plain bytes in pieces; an error knows its byte of the compressed file.

    Bytes that no codec's magic begins are plain already. What comes before a damage is given before
    the error. More than `limit` plain bytes are an error too.
    """
    given = 0
    for piece in _pieces_of(data)(data):
        given += len(piece)
        if limit is not None and given > limit:
            raise _error(f"it is larger than {limit} bytes once decompressed", len(data))
        yield piece


def _pieces_of(data: bytes) -> Callable[[bytes], Iterator[bytes]]:
    for magic, pieces in _CODECS.items():
        if data.startswith(magic):
            return pieces
    return _plain_pieces


def _plain_pieces(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), _PIECE):
        yield data[start : start + _PIECE]


def _lz4_pieces(data: bytes) -> Iterator[bytes]:
    codec = pa.Codec("lz4_raw")
    view = memoryview(data)
    byte, closed = 0, False
    while byte < len(data):
        method, length, plain_length, expected = _lz4_header(data, byte)
        closed = plain_length == 0
        start = byte + _LZ4_HEADER.size
        block = view[start : start + length]
        if len(block) < length:
            raise _error(f"an lz4 block of {length} bytes has only {len(block)}", start)
        if not closed:
            plain = _lz4_plain(codec, method, block, plain_length, byte)
            if xxhash.xxh32_intdigest(plain, _LZ4_SEED) & _LZ4_SUM_BITS != expected:
                raise _error("an lz4 block does not match its checksum", byte)
            yield plain
        byte = start + length
    if not closed:
        raise _error("the empty lz4 block that ends the file is missing", len(data))


def _lz4_header(data: bytes, byte: int) -> tuple[int, int, int, int]:
    """Read what stands before a block as Spark does: method, both lengths, checksum."""
    if len(data) - byte < _LZ4_HEADER.size:
        raise _error("the file ends in the header of an lz4 block", byte)
    magic, token, length, plain_length, expected = _LZ4_HEADER.unpack_from(data, byte)
    if magic != _LZ4_MAGIC:
        raise _error(f"an lz4 block begins with {magic!r}", byte)
    method = token & 0xF0
    if method not in (_LZ4_STORED, _LZ4_COMPRESSED):
        raise _error(f"unknown lz4 method {method:#x}", byte + 8)
    longest = 1 << (10 + (token & 0x0F))
    fits = 0 <= plain_length <= longest and length >= 0
    if not fits or (length == 0) != (plain_length == 0):
        message = (
            f"an lz4 block of {length} bytes cannot contain {plain_length} of at most {longest}"
        )
        raise _error(message, byte + 9)
    if method == _LZ4_STORED and length != plain_length:
        raise _error("an uncompressed lz4 block has two lengths", byte + 9)
    if plain_length == 0 and expected != 0:
        raise _error("the empty lz4 block has a checksum", byte + 17)
    return method, length, plain_length, expected


def _lz4_plain(
    codec: pa.Codec, method: int, block: memoryview, plain_length: int, byte: int
) -> bytes:
    if method == _LZ4_STORED:
        return bytes(block)
    try:
        plain: bytes = codec.decompress(block, plain_length, asbytes=True)
    except (OSError, ValueError) as error:
        raise _error("an lz4 block cannot be decompressed", byte) from error
    return plain


def _snappy_pieces(data: bytes) -> Iterator[bytes]:
    codec = pa.Codec("snappy")
    view = memoryview(data)
    if len(data) < _SNAPPY_HEADER:
        raise _error("the file ends in the header of snappy", len(data))
    byte = _SNAPPY_HEADER
    while byte < len(data):
        length = int.from_bytes(view[byte : byte + 4], "big", signed=True)
        start = byte + 4
        if start > len(data) or not 0 < length <= len(data) - start:
            raise _error(f"a snappy chunk of {length} bytes is missing", byte)
        chunk = view[start : start + length]
        try:
            plain = codec.decompress(chunk, _snappy_length(chunk, start), asbytes=True)
        except (OSError, ValueError) as error:
            raise _error("a snappy chunk cannot be decompressed", start) from error
        yield plain
        byte = start + length


def _snappy_length(chunk: memoryview, byte: int) -> int:
    """Read the plain length that a chunk begins with, seven bits a byte."""
    length = 0
    for place, part in enumerate(chunk[:5]):
        length |= (part & 0x7F) << (7 * place)
        if part < 0x80:
            if length > _SNAPPY_GROWTH * len(chunk):
                message = f"a snappy chunk of {len(chunk)} bytes cannot contain {length}"
                raise _error(message, byte)
            return length
    raise _error("a snappy chunk does not declare its length", byte)


def _zstd_pieces(data: bytes) -> Iterator[bytes]:
    source = pa.BufferReader(data)
    stream = pa.CompressedInputStream(source, "zstd")
    given = 0
    try:
        while piece := stream.read(_ZSTD_PIECE):
            given += len(piece)
            yield piece
    except (OSError, ValueError) as error:
        yield _zstd_rest(data, given)
        message = f"zstd cannot decompress what was read so far ({error})"
        raise _error(message, source.tell()) from error


def _zstd_rest(data: bytes, given: int) -> bytes:
    """Decompress again, byte by byte, what comes between the last whole piece and a damage."""
    stream = pa.CompressedInputStream(pa.BufferReader(data), "zstd")
    for _ in range(0, given, _ZSTD_PIECE):
        stream.read(_ZSTD_PIECE)
    rest = bytearray()
    with suppress(OSError, ValueError):  # the damage itself, which the caller reports
        for _ in range(_ZSTD_PIECE):
            rest += stream.read(1)
    return bytes(rest)


def _lzf_pieces(data: bytes) -> Iterator[bytes]:
    return lzf_pieces(data, _error)


def _error(message: str, byte: int) -> DecodeError:
    text = f"compressed state file: {message}, at byte {byte} of the file"
    return DecodeError("HF2701", text, byte=byte)


_CODECS: dict[bytes, Callable[[bytes], Iterator[bytes]]] = {
    _LZ4_MAGIC: _lz4_pieces,
    _ZSTD_MAGIC: _zstd_pieces,
    _SNAPPY_MAGIC: _snappy_pieces,
    LZF_MAGIC: _lzf_pieces,
}
