"""HF2730 and on: rows of the state, and what is asked of them."""

from __future__ import annotations

from holdfast.codes.code import Code
from holdfast.installing import pip_line

_RESTORE = "put the state files back byte-identical from a backup; do not edit them by hand"
_VERIFY = "holdfast inspect TARGET --verify     (compares every file with its checksum)"

STATE_ROW_CODES: tuple[Code, ...] = (
    Code(
        "HF2730",
        "a state row is not one that Spark writes",
        "it is too short for its columns, or points outside of itself, counts elements that are "
        "not there, or holds a value that is none of its type: it is damaged, or was written for "
        "other columns than the state schema names. Spark would read bytes of other rows, or fail",
        (_VERIFY, _RESTORE),
    ),
    Code(
        "HF2738",
        "a column of the state has a type that this reader can't work with",
        "how a value lies in a row, and how it is hashed to find its partition, depend on its "
        "type; a newer Spark may know more of them",
        ("update Holdfast to read it",),
    ),
    Code(
        "HF2739",
        "a value asked for can't be one of its column",
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
        "no schema tells the columns of a store",
        "the rows do not tell their own columns: without a readable schema file only their bytes "
        "can be shown",
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
        "a damaged snapshot was passed over",
        "the state was read from an older snapshot and the changes since then; Spark 4.2 and later "
        "do the same, older ones fail",
        ("put the snapshot back byte-identical from a backup: holdfast backups TARGET",),
    ),
    Code(
        "HF2748",
        "the key that is asked for does not fit the store's key columns",
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
        "nothing tells which rows belong to a state variable or column family",
        "in the rows column families are numbers, and only RocksDB snapshots (.zip) name them",
        ("put the missing .zip files back byte-identical from a backup",),
    ),
    Code(
        "HF2752",
        "the temporary folder can't take what does not fit into memory",
        "state larger than the bound of memory is sorted through temporary files",
        (
            "make room there, or name another folder with the environment variable TMPDIR",
            "allow more memory",
        ),
        exit_status=1,
    ),
    Code(
        "HF2790",
        "the temporary folder can't take what two states are compared by",
        "of each row a digest of 32 bytes is kept until both sides were read",
        ("make room there, or name another folder with the environment variable TMPDIR",),
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
        "a condition on rows can't be understood",
        "a condition compares columns with values: count > 10 and device = 'a'. There are = != < "
        "<= > >=, in (…), like, is null, and, or, not, and brackets; text stands in quotes, a "
        "column with an odd name in backticks",
        ("write it anew from the character that the message names",),
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
        "rows can't be written to a file of that name",
        "the ending tells the format: .parquet, .csv or .jsonl",
        ("give the file one of these endings",),
        exit_status=2,
    ),
    Code(
        "HF2774",
        "the rows could not be written",
        "the file is written whole beside its place and then gets its name: nothing of it is left, "
        "and a file that was there before is as it was. Nothing is ever written into a checkpoint",
        ("name another place with --output",),
        exit_status=1,
    ),
    Code(
        "HF2775",
        "no row has the key that is asked for",
        "the key was never seen, was dropped since, or is spelled another way: text, numbers and "
        "times are compared exactly",
        (
            "holdfast state TARGET --limit 5     (shows keys as they are stored)",
            "ask for an older batch with --batch",
        ),
    ),
    Code(
        "HF2776",
        "the key that is asked for can't be understood",
        "a key of one column is given as its value, one of several as a JSON object of columns "
        "and values; values are spelled as they are shown",
        ("give it as a JSON object with a value for each column",),
        exit_status=2,
    ),
)
