"""HF2701 and on: files of the state, RocksDB's among them, that are not what Spark writes."""

from __future__ import annotations

from holdfast.codes.code import Code

_RESTORE = "put the file back byte-identical from a backup; do not edit or delete it by hand"
_ASK = "ask `holdfast inspect` whether the next start needs the file, and what it will do"

STATE_FILE_CODES: tuple[Code, ...] = (
    Code(
        "HF2701",
        "a state file can't be decompressed",
        "a block is cut off, changed, or longer than it can be. Spark stops with "
        "CANNOT_LOAD_STATE_STORE when it reaches it; with codecs that keep no checksum (zstd, "
        "snappy, lzf) it may run on with changed rows",
        (_RESTORE, _ASK),
    ),
    Code(
        "HF2702",
        "a record of a state file has a length that can't be",
        "the bytes were changed after Spark wrote them: every record behind it is lost to Spark, "
        "which fails to load this version of the state",
        (_RESTORE, _ASK),
    ),
    Code(
        "HF2703",
        "a state file ends before its end marker",
        "Spark writes the marker last; without it the file is cut off, and Spark fails to load "
        "this version of the state",
        (_RESTORE, _ASK),
    ),
    Code(
        "HF2704",
        "a snapshot of the state deletes a row",
        "a snapshot holds only rows that exist; Spark refuses to load it",
        (_RESTORE, _ASK),
    ),
    Code(
        "HF2705",
        "a row of the state does not match its checksum",
        "row checksums are switched on for this query, and the row was changed after Spark wrote "
        "it. Spark stops with STATE_STORE_ROW_CHECKSUM_VERIFICATION_FAILED",
        (_RESTORE, _ASK),
    ),
    Code(
        "HF2706",
        "something follows the end of a state file",
        "Spark stops reading at the end marker and does not notice; but the file is not as it was "
        "written",
        (_RESTORE,),
    ),
    Code(
        "HF2707",
        "the header of a changelog is malformed",
        "without its version and lineage Spark does not know how to read a changelog, nor which "
        "ones come before it",
        (_RESTORE,),
    ),
    Code(
        "HF2708",
        "a record of a changelog is of an unknown kind",
        "the bytes were changed after Spark wrote them, or a newer Spark wrote them; Spark fails "
        "to replay the changelog",
        (_RESTORE, "start the query with the Spark that wrote it, or a newer one"),
    ),
    Code(
        "HF2715",
        "a RocksDB snapshot is not a whole zip file",
        "Spark opens this zip to load the state of its version; it fails, or with automatic repair "
        "falls back to an older snapshot and the changelogs after it",
        (_RESTORE,),
    ),
    Code(
        "HF2716",
        "the description inside of a RocksDB snapshot is malformed",
        "it says which tables belong to the snapshot and how column families are numbered; without "
        "it nobody can tell whose rows the tables hold",
        (_RESTORE,),
    ),
    Code(
        "HF2717",
        "a RocksDB snapshot holds what Spark never packs",
        "Spark packs a few small files without folders; this is no zip of Spark's, or one that was "
        "made to exhaust memory or to write elsewhere, so nothing of it is unpacked",
        ("find out where the file comes from", _RESTORE),
    ),
    Code(
        "HF2718",
        "a table that a RocksDB snapshot needs is missing",
        "a snapshot shares its SST files with others; without one of them Spark can't load it",
        (
            "put the SST file back from a backup; a copy of the same name from any other backup "
            "of this checkpoint is the same file",
        ),
    ),
    Code(
        "HF2719",
        "a table of a RocksDB snapshot has another size than the snapshot says",
        "Spark stops with CANNOT_LOAD_STATE_STORE.UNEXPECTED_FILE_SIZE",
        (_RESTORE,),
    ),
    Code(
        "HF2720",
        "RocksDB can't read a snapshot",
        "a table or the list of tables is damaged; Spark reads them with the same library and "
        "fails, or stops in the middle of a batch",
        (_RESTORE,),
    ),
    Code(
        "HF2721",
        "a RocksDB snapshot holds another number of keys than it says",
        "a reader that stops early loses keys without a word, so rows are not shown as if they "
        "were all",
        ("holdfast doctor TARGET", _RESTORE),
    ),
    Code(
        "HF2722",
        "a key in RocksDB is not laid out as its store's keys are",
        "the key can't be taken apart; either the file is damaged, or the schema file describes "
        "other keys than the ones stored",
        ("holdfast doctor TARGET", _RESTORE),
    ),
    Code(
        "HF2723",
        "a state schema names an encoding of keys that is not known",
        "a newer Spark wrote it; its keys can't be taken apart without knowing how",
        ("update Holdfast to read it",),
    ),
    Code(
        "HF2724",
        "a value in RocksDB is not laid out as its store's values are",
        "the value can't be taken apart; either the file is damaged, or the store holds lists "
        "where single values are expected, or the other way round",
        ("holdfast doctor TARGET", _RESTORE),
    ),
    Code(
        "HF2726",
        "a state row is not the Avro that its schema describes",
        "Avro rows carry no names: read with another schema, or damaged, they give other values or "
        "none",
        ("holdfast doctor TARGET", _RESTORE),
    ),
    Code(
        "HF2727",
        "a state row was written with a schema that is not there",
        "Avro rows name their schema by a number; the schema files under _stateSchema hold none "
        "of that number, so nobody can read the row",
        ("put the schema files back from a backup",),
    ),
    Code(
        "HF2728",
        "the tables of a RocksDB snapshot can't be copied to a temporary folder",
        "RocksDB reads copies, never the checkpoint itself; the disk is full, or the folder can't "
        "be written to. The copies of one partition at a time are needed",
        ("make room there, or name another folder in the environment variable TMPDIR",),
    ),
)
