"""HF27xx: files of the state that are not what Spark writes, and questions about its rows."""

from __future__ import annotations

from holdfast.codes.code import Code
from holdfast.wording import pip_line

_RESTORE_FILE = "put the file back byte-identical from a backup; do not edit or delete it by hand"
_ASK = "ask `holdfast inspect` whether the next start needs the file, and what it will do"

STATE_FILE_CODES: tuple[Code, ...] = (
    Code(
        "HF2701",
        "a state file cannot be decompressed",
        "a block is cut off, changed, or longer than it can be. Spark stops with "
        "CANNOT_LOAD_STATE_STORE when it reaches it; with codecs that keep no checksum (zstd, "
        "snappy, lzf) it may run on with changed rows",
        (_RESTORE_FILE, _ASK),
    ),
    Code(
        "HF2702",
        "a record of a state file has an impossible length",
        "the bytes were changed after Spark wrote them: every record behind it is lost to Spark, "
        "which fails to load this version of the state",
        (_RESTORE_FILE, _ASK),
    ),
    Code(
        "HF2703",
        "a state file ends before its end marker",
        "Spark writes the marker last; without it the file is cut off, and Spark fails to load "
        "this version of the state",
        (_RESTORE_FILE, _ASK),
    ),
    Code(
        "HF2704",
        "a snapshot of the state deletes a row",
        "a snapshot holds only rows that exist; Spark refuses to load it",
        (_RESTORE_FILE, _ASK),
    ),
    Code(
        "HF2705",
        "a row of the state does not match its checksum",
        "row checksums are switched on for this query, and the row was changed after Spark wrote "
        "it. Spark stops with STATE_STORE_ROW_CHECKSUM_VERIFICATION_FAILED",
        (_RESTORE_FILE, _ASK),
    ),
    Code(
        "HF2706",
        "something follows the end of a state file",
        "Spark stops reading at the end marker and does not notice; but the file is not as it was "
        "written",
        (_RESTORE_FILE,),
    ),
    Code(
        "HF2707",
        "the header of a changelog is malformed",
        "without its version and lineage Spark does not know how to read a changelog, nor which "
        "ones come before it",
        (_RESTORE_FILE,),
    ),
    Code(
        "HF2708",
        "a record of a changelog is of an unknown kind",
        "the bytes were changed after Spark wrote them, or a newer Spark wrote them; Spark fails "
        "to replay the changelog",
        (_RESTORE_FILE, "start the query with the Spark that wrote it, or a newer one"),
    ),
    Code(
        "HF2715",
        "a RocksDB snapshot is not a whole zip file",
        "Spark opens this zip to load the state of its version; it fails, or with automatic repair "
        "falls back to an older snapshot and the changelogs after it",
        (_RESTORE_FILE,),
    ),
    Code(
        "HF2716",
        "the description inside of a RocksDB snapshot is malformed",
        "it lists which tables belong to the snapshot and how column families are numbered; "
        "without it, it cannot be determined whose rows are in the tables",
        (_RESTORE_FILE,),
    ),
    Code(
        "HF2717",
        "a RocksDB snapshot has files that Spark never packs",
        "Spark packs a few small files without directories; Spark did not write this zip, or it "
        "was made to exhaust memory or to write elsewhere, so nothing of it is unpacked",
        ("find out where the file comes from", _RESTORE_FILE),
    ),
    Code(
        "HF2718",
        "a table that a RocksDB snapshot needs is missing",
        "a snapshot shares its SST files with others; without one of them Spark cannot load it",
        (
            "put the SST file back from a backup; a copy of the same name from any other backup "
            "of this checkpoint is the same file",
        ),
    ),
    Code(
        "HF2719",
        "a table of a RocksDB snapshot has another size than the snapshot says",
        "Spark stops with CANNOT_LOAD_STATE_STORE.UNEXPECTED_FILE_SIZE",
        (_RESTORE_FILE,),
    ),
    Code(
        "HF2720",
        "RocksDB cannot read a snapshot",
        "a table or the list of tables is damaged; Spark reads them with the same library and "
        "fails, or stops in the middle of a batch",
        (_RESTORE_FILE,),
    ),
    Code(
        "HF2721",
        "a RocksDB snapshot has another number of keys than it records",
        "a reader that stops early loses keys silently, so an incomplete set of rows is not shown",
        ("holdfast doctor TARGET", _RESTORE_FILE),
    ),
    Code(
        "HF2722",
        "a key in RocksDB is not laid out as its store's keys are",
        "the key cannot be decoded; either the file is damaged, or the schema file describes "
        "other keys than the ones stored",
        ("holdfast doctor TARGET", _RESTORE_FILE),
    ),
    Code(
        "HF2723",
        "a state schema names an encoding of keys that is not known",
        "a newer Spark wrote it; its keys cannot be decoded",
        ("update Holdfast to read it",),
    ),
    Code(
        "HF2724",
        "a value in RocksDB is not laid out as its store's values are",
        "the value cannot be decoded; either the file is damaged, or the store has lists where "
        "single values are expected, or the other way round",
        ("holdfast doctor TARGET", _RESTORE_FILE),
    ),
    Code(
        "HF2726",
        "a state row is not the Avro that its schema describes",
        "Avro rows carry no names: read with another schema, or damaged, they give other values or "
        "none",
        ("holdfast doctor TARGET", _RESTORE_FILE),
    ),
    Code(
        "HF2727",
        "a state row was written with a schema that is not there",
        "Avro rows name their schema by a number; the schema files under _stateSchema have none "
        "of that number, so the row cannot be read",
        ("put the schema files back from a backup",),
    ),
    Code(
        "HF2728",
        "the tables of a RocksDB snapshot cannot be copied to a temporary directory",
        "RocksDB reads copies, never the checkpoint itself; the disk is full, or the directory "
        "cannot be written to. The copies of one partition at a time are needed",
        ("make room there, or name another directory in the environment variable TMPDIR",),
    ),
)


_RESTORE_FILES = "put the state files back byte-identical from a backup; do not edit them by hand"
_VERIFY = "holdfast inspect TARGET --verify     (compares every file with its checksum)"

STATE_ROW_CODES: tuple[Code, ...] = (
    Code(
        "HF2730",
        "a state row is not one that Spark writes",
        "it is too short for its columns, or points outside of itself, counts elements that are "
        "not there, or holds a value that is none of its type: it is damaged, or was written for "
        "other columns than the state schema names. Spark would read bytes of other rows, or fail",
        (_VERIFY, _RESTORE_FILES),
    ),
    Code(
        "HF2738",
        "a column of the state has an unsupported type",
        "how a value is stored in a row, and how it is hashed to find its partition, depend on "
        "its type; a newer Spark may have more types",
        ("update Holdfast to read it",),
    ),
    Code(
        "HF2739",
        "a value in the key does not match the type of its column",
        "a key is found by its bytes, and these depend on the type of each column",
        ("holdfast state TARGET     (shows keys as they are stored)",),
        exit_status=2,
    ),
    Code(
        "HF2740",
        "the query keeps no state",
        "only aggregations, deduplications, joins, limits and user-defined state leave rows behind",
        ("holdfast inspect TARGET     (shows the operators of a checkpoint)",),
        exit_status=2,
    ),
    Code(
        "HF2741",
        "there is no such stateful operator",
        "operators are counted from 0 in the order in which Spark plans them",
        ("holdfast inspect TARGET     (shows the operators with their ids)",),
        exit_status=2,
    ),
    Code(
        "HF2742",
        "there is no such store or state variable",
        "a join has four stores, user-defined state has one for each variable, everything else has "
        "the one named default",
        ("take one of the names that the message lists, with --store",),
        exit_status=2,
    ),
    Code(
        "HF2743",
        "the state of that batch is not kept",
        "Spark keeps the state of about the last hundred committed batches and removes older files",
        ("take one of the batches that the message names, with --batch",),
        exit_status=2,
    ),
    Code(
        "HF2744",
        "a file that the state of that batch is made from is missing or damaged",
        "a version of the state is a snapshot and every change since then; without one of them "
        "Spark fails to load it as well",
        (
            "put the file back byte-identical from a backup: holdfast backups TARGET",
            "look at the nearest batch that the message names, with --batch",
        ),
    ),
    Code(
        "HF2745",
        "a store has no schema that describes its columns",
        "the rows do not describe their own columns: without a readable schema file only their "
        "bytes can be shown",
        (
            "put the schema file back byte-identical from a backup",
            "a query that only ran before Spark 3.1 has none",
        ),
    ),
    Code(
        "HF2746",
        "nothing records what a stateful operator is",
        "Spark 3.5 and older write schema files but no operator metadata; Spark 4.0 adds it at the "
        "query's next start",
        ("nothing needs to be done: the columns are read from the schema file",),
    ),
    Code(
        "HF2747",
        "a damaged snapshot was skipped",
        "the state was read from an older snapshot and the changes since then; Spark 4.2 and later "
        "do the same, older ones fail",
        ("put the snapshot back byte-identical from a backup: holdfast backups TARGET",),
    ),
    Code(
        "HF2748",
        "the given key does not match the store's key columns",
        "a key is found by its columns, each with a value of the column's type",
        ("give a value for each column that the message names, with --key",),
        exit_status=2,
    ),
    Code(
        "HF2749",
        "there is no such partition",
        "partitions are counted from 0; the number of them is fixed when a query first starts",
        ("leave out --partition to read all of them",),
        exit_status=2,
    ),
    Code(
        "HF2750",
        "the state is kept by a provider whose files are not known",
        "only the two providers that Spark ships, HDFS-backed and RocksDB, can be read",
        ("read it with the provider's own tools",),
    ),
    Code(
        "HF2751",
        "which rows belong to a state variable or column family cannot be determined",
        "in the rows column families are numbers, and only RocksDB snapshots (.zip) name them",
        ("put the missing .zip files back byte-identical from a backup",),
    ),
    Code(
        "HF2752",
        "the temporary directory cannot take what does not fit into memory",
        "state larger than the bound of memory is sorted through temporary files",
        (
            "make room there, or name another directory with the environment variable TMPDIR",
            "allow more memory",
        ),
        exit_status=1,
    ),
    Code(
        "HF2790",
        "the temporary directory cannot take what two states are compared by",
        "of each row a digest of 32 bytes is kept until both sides were read",
        ("make room there, or name another directory with the environment variable TMPDIR",),
        exit_status=1,
    ),
    Code(
        "HF2791",
        "there are no two such batches to compare",
        "only committed batches have a state that is whole, and Spark keeps about the last hundred",
        ("take committed batches that the message names, with --from and --to",),
        exit_status=2,
    ),
    Code(
        "HF2770",
        "the libraries that read state are not installed",
        "rows of the state are decoded with numpy and Arrow, tables of RocksDB with RocksDB "
        "itself; everything else works without them",
        (pip_line("state"),),
        exit_status=2,
    ),
    Code(
        "HF2771",
        "a condition on rows is not valid",
        "a condition compares columns with values: count > 10 and device = 'a'. There are = != "
        "< <= > >=, in (…), like, is null, and, or, not, and brackets; write text in quotes, a "
        "column with an odd name in backticks",
        ("correct it from the character that the message names",),
        exit_status=2,
    ),
    Code(
        "HF2772",
        "a condition names a column that the rows do not have",
        "a column is found by its full name, such as key.window.start, else within the key, else "
        "within the value",
        ("take one of the columns that the message lists",),
        exit_status=2,
    ),
    Code(
        "HF2773",
        "rows cannot be written to a file of that name",
        "the extension selects the format: .parquet, .csv or .jsonl",
        ("give the file one of these endings",),
        exit_status=2,
    ),
    Code(
        "HF2774",
        "the rows could not be written",
        "the file is written under a temporary name and then renamed: nothing of it is left, "
        "and a file that was there before is as it was. Nothing is ever written into a "
        "checkpoint",
        ("name another place with --output",),
        exit_status=1,
    ),
    Code(
        "HF2775",
        "no row has the given key",
        "the key was never seen, was dropped since, or is spelled another way: text, numbers and "
        "times are compared exactly",
        (
            "holdfast state TARGET --limit 5     (shows keys as they are stored)",
            "ask for an older batch with --batch",
        ),
    ),
    Code(
        "HF2776",
        "the given key is not valid",
        "a key of one column is given as its value, one of several as a JSON object of columns "
        "and values; values are spelled as they are shown",
        ("give it as a JSON object with a value for each column",),
        exit_status=2,
    ),
)
