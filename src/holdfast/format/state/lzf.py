"""LZF as ning's library writes it: chunks of at most 64 KiB, each stored or compressed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from holdfast.errors import DecodeError

LZF_MAGIC = b"ZV"

_HEADER = 5
_STORED, _COMPRESSED = 0, 1


def lzf_pieces(data: bytes, error: Callable[[str, int], DecodeError]) -> Iterator[bytes]:
    """Give the plain bytes of each chunk; `error` makes what is raised at a byte."""
    byte = 0
    while byte < len(data):
        kind = data[byte + 2 : byte + 3]
        if data[byte : byte + 2] != LZF_MAGIC or kind not in (b"\0", b"\1"):
            raise error("this is no beginning of an lzf chunk", byte)
        start = byte + _HEADER + 2 * kind[0]
        end = start + int.from_bytes(data[byte + 3 : byte + 5], "big")
        if start > len(data) or end > len(data):
            raise error("the file ends within an lzf chunk", len(data))
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
            raise error("an lzf chunk refers to what is not there", byte - 1)
        start = len(plain) - distance
        if distance >= count:
            plain += plain[start : start + count]
        else:
            plain += (plain[start:] * (count // distance + 1))[:count]
    if byte != end or len(plain) != length:
        raise error(f"an lzf chunk gives {len(plain)} bytes, not {length}", end)
    return bytes(plain)
