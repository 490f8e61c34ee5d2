"""Java's DataOutput, read and written: big-endian integers, and text as `writeUTF` encodes it."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from holdfast.errors import DecodeError

_LONGEST_TEXT = 65_535


@dataclass
class JavaInput:
    """Bytes read from front to back; every error is of one code and knows its byte."""

    data: bytes
    what: str
    code: str
    byte: int = 0

    def take_int(self) -> int:
        """Read a signed 32-bit integer."""
        value: int = struct.unpack(">i", self._take(4))[0]
        return value

    def take_short(self) -> int:
        """Read a signed 16-bit integer."""
        value: int = struct.unpack(">h", self._take(2))[0]
        return value

    def take_text(self) -> str:
        """Read what one `writeUTF` wrote."""
        start = self.byte
        (length,) = struct.unpack(">H", self._take(2))
        encoded = self._take(length)
        try:
            return _decode_text(encoded)
        except UnicodeDecodeError as error:
            raise self.error(
                "a string is not encoded as Java encodes it", start + 2 + error.start
            ) from error

    def error(self, message: str, byte: int | None = None) -> DecodeError:
        """Make an error at a byte, by default the next one to read."""
        place = self.byte if byte is None else byte
        return DecodeError(self.code, f"{self.what}: {message}", byte=place)

    def _take(self, length: int) -> bytes:
        taken = self.data[self.byte : self.byte + length]
        if len(taken) < length:
            raise self.error(f"{length} bytes should follow, but only {len(taken)} do")
        self.byte += length
        return taken


def java_units(text: str) -> str:
    """Split characters beyond 16 bits into their halves: one Python character per Java char."""
    if text.isascii():
        return text
    encoded = text.encode("utf-16-le", "surrogatepass")
    return "".join(map(chr, struct.unpack(f"<{len(encoded) // 2}H", encoded)))


def encode_int(value: int) -> bytes:
    """Encode a signed 32-bit integer."""
    return struct.pack(">i", value)


def encode_short(value: int) -> bytes:
    """Encode a signed 16-bit integer."""
    return struct.pack(">h", value)


def encode_text(text: str) -> bytes:
    """Encode as `writeUTF` does; it can't hold more than 65 535 bytes."""
    encoded = java_units(text).encode("utf-8", "surrogatepass").replace(b"\0", b"\xc0\x80")
    if len(encoded) > _LONGEST_TEXT:
        raise ValueError(f"{len(encoded)} bytes are too many for one writeUTF")
    return struct.pack(">H", len(encoded)) + encoded


def _decode_text(encoded: bytes) -> str:
    if encoded.isascii() and b"\0" not in encoded:
        return encoded.decode("ascii")
    for place, byte in enumerate(encoded):
        # Java spells NUL in two bytes, and never uses the four-byte form.
        if byte == 0 or byte >= 0xF0:
            raise UnicodeDecodeError("writeUTF", encoded, place, place + 1, "not Java's")
    halves = encoded.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
    return halves.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
