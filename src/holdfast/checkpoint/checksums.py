"""Compares a file's bytes with the checksums that lie beside it."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.checkpoint.layout import checksum_name
from holdfast.checkpoint.picture import Damage
from holdfast.errors import DecodeError
from holdfast.format.logs.hadoopcrc import HadoopChecksum, decode_checksum, first_mismatch
from holdfast.format.logs.sparkchecksum import decode_spark_checksum, matches


def checksum_damage(path: str, pieces: Iterable[bytes], side: bytes) -> list[Damage]:
    """Compare a file, given in pieces of whole chunks, with Hadoop's checksum of it."""
    try:
        checksum = decode_checksum(side)
    except DecodeError as error:
        return [Damage(checksum_name(path), error)]
    mismatch = _mismatch(checksum, pieces)
    if mismatch is None:
        return []
    message = f"{path} does not match the checksum that Hadoop wrote beside it"
    return [Damage(path, DecodeError("HF2111", message, byte=mismatch, overlooked=True))]


def spark_checksum_damage(path: str, data: bytes, own: bytes) -> list[Damage]:
    """Compare a state file with the checksum that Spark 4.1 and later wrote beside it."""
    try:
        checksum = decode_spark_checksum(own)
    except DecodeError:
        return []
    if matches(checksum, data):
        return []
    message = f"{path} does not match the checksum that Spark wrote beside it"
    return [Damage(path, DecodeError("HF2114", message))]


def _mismatch(checksum: HadoopChecksum, pieces: Iterable[bytes]) -> int | None:
    start, used = 0, 0
    for piece in pieces:
        count = -(-len(piece) // checksum.bytes_per_sum)
        part = HadoopChecksum(checksum.bytes_per_sum, checksum.sums[used : used + count])
        found = first_mismatch(part, piece)
        if found is not None:
            return start + found
        start, used = start + len(piece), used + count
    return None if used == len(checksum.sums) else start
