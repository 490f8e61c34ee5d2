"""HF21xx: bytes of one file that are not what Spark writes there."""

from __future__ import annotations

from holdfast.codes.code import Code

_RESTORE = "put the file back byte-identical from a backup; do not edit or delete it by hand"

ENTRY_CODES: tuple[Code, ...] = (
    Code(
        "HF2101",
        "a log entry is empty",
        "Spark creates entries whole, by renaming: zero bytes mean a full disk or a lost write. "
        "Spark stops at an empty newest entry with 'Incomplete log file', at an empty metadata "
        "with a JSON error that names no file",
        (_RESTORE,),
    ),
    Code(
        "HF2102",
        "the version line of a log entry is not one",
        "every log entry begins with a line such as v1; without it Spark refuses the entry",
        (_RESTORE,),
    ),
    Code(
        "HF2103",
        "a log entry has a version that this reader does not know",
        "a newer Spark wrote it; an older one refuses it",
        (
            "start the query with the Spark that wrote it, or a newer one",
            "update Holdfast to read it",
        ),
    ),
    Code(
        "HF2104",
        "a log entry is not UTF-8",
        "Spark writes UTF-8; other bytes mean damage on disk or a foreign file",
        (_RESTORE,),
    ),
    Code(
        "HF2105",
        "JSON in an entry is malformed",
        "Spark fails to parse it, often with a message that names no file",
        (_RESTORE,),
    ),
    Code(
        "HF2106",
        "an entry lacks a field, or has one of the wrong type",
        "Spark fails to read it, or reads a default in place of what was written",
        (_RESTORE,),
    ),
    Code(
        "HF2107",
        "a number in an entry is outside of what Spark can hold",
        "Spark keeps these as 64-bit or 32-bit integers; it would overflow or fail",
        (_RESTORE,),
    ),
    Code(
        "HF2108",
        "an entry is too large to be one",
        "no Spark writes log entries of this size; reading it would only exhaust memory",
        ("look at the first bytes of the file: it is most likely not a checkpoint's", _RESTORE),
    ),
    Code(
        "HF2109",
        "JSON in an entry is nested too deep",
        "Spark writes at most a few levels; this is damage, or a foreign file",
        (_RESTORE,),
    ),
    Code(
        "HF2110",
        "an entry contains more than belongs there",
        "Spark ignores or refuses what follows; either way the file is not as it was written",
        (_RESTORE,),
    ),
    Code(
        "HF2111",
        "a file does not match the checksum next to it",
        "Hadoop wrote both together; the file was changed or damaged since. Spark reads its logs "
        "without looking at the checksum and would run on with the changed content",
        (_RESTORE, "if somebody edited it on purpose: find out what was there before"),
    ),
    Code(
        "HF2112",
        "a Hadoop checksum file is malformed",
        "it cannot show whether its file is intact",
        ("treat the file next to it as unverified; restore both from a backup if there is one",),
    ),
    Code(
        "HF2113",
        "a Spark checksum file is malformed",
        "Spark 4.1 and later fail to verify the state file next to it",
        (_RESTORE,),
    ),
    Code(
        "HF2114",
        "a state file does not match Spark's own checksum",
        "Spark stops with CHECKPOINT_FILE_CHECKSUM_VERIFICATION_FAILED when it loads it",
        (_RESTORE,),
    ),
    Code(
        "HF2115",
        "a state schema file is malformed",
        "Spark fails to compare the query's state schema with it, or to read the state",
        (_RESTORE,),
    ),
    Code(
        "HF2116",
        "a JSON object has a duplicate key",
        "readers disagree on which of the two counts; Spark never writes it",
        (_RESTORE,),
    ),
    Code(
        "HF2117",
        "a log entry has a character that Spark never writes there",
        "zero bytes are blocks that never reached the disk; carriage returns and byte order marks "
        "come from an editor or a copying tool. Spark stops at some of them and reads others, "
        "but the file is not as it was written",
        (_RESTORE,),
    ),
)
