"""Whatever codec wrote a state file, its plain bytes come out, or an error with its byte."""

from __future__ import annotations

import random
import struct
import tracemalloc
from collections.abc import Callable

import pytest

from holdfast.errors import DecodeError
from holdfast.format.state.codecs import decompressed
from tests.format.expecting import refusal
from tests.format.statebytes import (
    EMPTY_BLOCK,
    lz4,
    lz4_block,
    lzf,
    real_state_files,
    snappy,
    zstd,
)

CODECS: dict[str, Callable[[bytes], bytes]] = {
    "lz4": lz4,
    "zstd": zstd,
    "snappy": snappy,
    "lzf": lzf,
    "plain": bytes,
}


def whole(data: bytes) -> bytes:
    return b"".join(decompressed(data))


def until_damage(data: bytes) -> tuple[bytes, DecodeError | None]:
    given = []
    try:
        for piece in decompressed(data):
            given.append(piece)
    except DecodeError as error:
        return b"".join(given), error
    return b"".join(given), None


def mixed(size: int, seed: int = 1) -> bytes:
    chance = random.Random(seed)
    return b"".join(
        chance.choice([bytes(50), b"alder birch ", chance.randbytes(30)]) for _ in range(size // 30)
    )


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("size", [0, 1, 30, 40_000, 1_500_000])
def test_what_was_written_comes_out(codec: str, size: int) -> None:
    plain = mixed(size)
    assert whole(CODECS[codec](plain)) == plain


@pytest.mark.parametrize("codec", ["lz4", "zstd", "snappy", "lzf"])
def test_every_codec_of_spark_is_met_in_the_corpus(codec: str) -> None:
    ends = {
        whole(data)[-4:]
        for sample, _, data in real_state_files("delta", "snapshot")
        if sample.name == f"aggregation-hdfs-{codec}"
    }
    assert ends == {b"\xff\xff\xff\xff"}


def test_streams_one_after_another_are_one() -> None:
    assert whole(lz4(b"one") + lz4(b"two")) == b"onetwo"
    assert whole(zstd(b"one") + zstd(b"two")) == b"onetwo"


@pytest.mark.parametrize("codec", ["lz4", "zstd", "snappy", "lzf"])
def test_every_truncation_gives_the_beginning_and_an_error(codec: str) -> None:
    plain = mixed(400)
    data = CODECS[codec](plain)
    magics = {"lz4": 8, "zstd": 4, "snappy": 8, "lzf": 2}
    for length in range(magics[codec], len(data)):
        given, error = until_damage(data[:length])
        assert plain.startswith(given)
        if error is None:
            # A codec without an end of its own: only the records tell that something is missing.
            assert (codec, length) == ("snappy", 16)
        else:
            assert error.code.number == "HF2701"
            assert error.byte is not None and 0 <= error.byte <= length


def test_blocks_before_a_damage_are_given() -> None:
    data = lz4_block(b"one") + lz4_block(b"two")
    given, error = until_damage(data)
    assert given == b"onetwo"
    assert error is not None and error.byte == len(data)
    given, error = until_damage(data[:-1] + bytes([data[-1] ^ 1]) + EMPTY_BLOCK)
    assert given == b"one"
    assert error is not None and error.byte == len(lz4_block(b"one"))


def test_what_comes_before_a_damage_of_zstd_is_given() -> None:
    plain = mixed(200_000)
    given, error = until_damage(zstd(plain) + b"garbage")
    assert given == plain and error is not None


@pytest.mark.parametrize(
    ("token", "length", "plain_length", "total", "byte"),
    [
        (0x35, 3, 3, 0, 8),
        (0x25, 2**31 - 1, 3, 0, 21),
        (0x25, -1, 3, 0, 9),
        (0x25, 3, 2**31 - 1, 0, 9),
        (0x25, 3, -1, 0, 9),
        (0x25, 3, (1 << 15) + 1, 0, 9),
        (0x25, 0, 3, 0, 9),
        (0x25, 3, 0, 0, 9),
        (0x15, 3, 4, 0, 9),
        (0x15, 0, 0, 1, 17),
        (0x15, 3, 3, 0, 0),
    ],
)
def test_a_header_of_lz4_that_lies(
    token: int, length: int, plain_length: int, total: int, byte: int
) -> None:
    data = b"LZ4Block" + struct.pack("<BiiI", token, length, plain_length, total) + b"abc"
    assert refusal(whole, data) == ("HF2701", None, byte)


@pytest.mark.parametrize("length", [0, -1, 100, 2**31 - 1, -(2**31)])
def test_a_length_of_snappy_that_lies(length: int) -> None:
    data = snappy(b"")[:16] + struct.pack(">i", length) + b"\5\20hello"
    assert refusal(whole, data) == ("HF2701", None, 16)


@pytest.mark.parametrize("claim", [b"\xff\xff\xff\xff\x0f", b"\xff\xff\xff\xff\xff", b"\xff\x7f"])
def test_a_plain_length_of_snappy_that_lies(claim: bytes) -> None:
    chunk = claim + b"\20hello"
    data = snappy(b"")[:16] + struct.pack(">i", len(chunk)) + chunk
    assert refusal(whole, data) == ("HF2701", None, 20)
    with pytest.raises(DecodeError, match=r"cannot contain|does not declare"):
        whole(data)


def test_bytes_of_no_codec_are_plain() -> None:
    assert whole(b"\0\0\0\1") == b"\0\0\0\1"


@pytest.mark.parametrize("codec", ["lz4", "zstd", "snappy"])
def test_a_bomb_is_given_in_pieces_and_stops_at_the_limit(codec: str) -> None:
    data = CODECS[codec](bytes(50_000_000))
    tracemalloc.start()
    with pytest.raises(DecodeError, match="larger than 20000000 bytes"):
        for piece in decompressed(data, limit=20_000_000):
            assert len(piece) <= 1 << 20
    assert tracemalloc.get_traced_memory()[1] < 4_000_000
    tracemalloc.stop()


@pytest.mark.parametrize("codec", ["lz4", "zstd", "snappy", "lzf"])
def test_flipped_bits_never_give_another_error(codec: str) -> None:
    chance = random.Random(codec)
    real = [
        data
        for sample, _, data in real_state_files("delta")
        if sample.name == f"aggregation-hdfs-{codec}"
    ]
    for _ in range(1_000):
        data = bytearray(chance.choice(real))
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        _, error = until_damage(bytes(data))
        assert error is None or (error.byte is not None and 0 <= error.byte <= len(data))
