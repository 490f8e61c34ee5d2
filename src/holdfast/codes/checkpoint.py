"""HF20xx what a place is, HF22xx rules across the files of one checkpoint."""

from __future__ import annotations

from holdfast.codes.code import Code

_BACKUP = "put the missing file back byte-identical from a backup"
_BACKUP_OF_CHANGED = "put the changed file back byte-identical from a backup"
_NO_DELETE = (
    "do not delete other entries to make the numbers fit: a batch that is planned again is lost "
    "or duplicated in the sink"
)

CHECKPOINT_CODES: tuple[Code, ...] = (
    Code(
        "HF2001",
        "this is not a checkpoint",
        "Spark keeps a checkpoint as metadata, offsets/ and commits/; none of them is here",
        ("give the directory that contains offsets/ and commits/",),
        exit_status=21,
    ),
    Code(
        "HF2201",
        "metadata is missing while the logs have batches",
        "exactly-once sinks recognize the query by the id in it: with a new id, Spark up to 4.1 "
        "silently delivers a repeated batch twice, later releases refuse to start",
        (
            "put metadata back from a backup",
            "without a backup: the id is also in the sink's own log (Delta: the txn's appId) and "
            "in the driver's logs; write it back only if offsets/ has the newest batch that the "
            "sink has under it",
            "do not write it into a checkpoint that lacks that batch: Spark plans the batch again, "
            "and Delta drops its rows without an error",
        ),
    ),
    Code(
        "HF2202",
        "the query id in metadata is not a UUID",
        "Spark refuses to start with it",
        ("put metadata back from a backup",),
    ),
    Code(
        "HF2203",
        "a commit has no offsets",
        "Spark runs the batch before it once more, the sink gets it again, and then the start "
        "fails with a message about a second query that does not exist",
        (_BACKUP, _NO_DELETE),
    ),
    Code(
        "HF2204",
        "offsets/ has a gap just before its newest entry",
        "Spark needs the two newest entries to know where a batch begins; it stops with "
        '"batch … doesn\'t exist"',
        (_BACKUP, _NO_DELETE),
    ),
    Code(
        "HF2205",
        "offsets/ has a gap among its older entries",
        "the next start does not read them, but something removed a file that Spark keeps",
        ("find out what removed it before it removes a newer one",),
    ),
    Code(
        "HF2206",
        "offsets/ and commits/ skip the same ids",
        "that is how async progress tracking writes; a start without it stops with "
        '"batch … doesn\'t exist"',
        (
            "keep asyncProgressTrackingEnabled on",
            "before async progress tracking is turned off: run two batches with "
            "asyncProgressTrackingCheckpointIntervalMs at 0",
        ),
    ),
    Code(
        "HF2207",
        "batches were planned, passed over and never committed",
        "Spark runs only the newest planned batch again; the checkpoint does not record whether "
        "the ones before it reached the sink",
        (
            "holdfast doctor TARGET --sink PATH     (which batches the sink has)",
            "compare the sink with the offsets of these batches before the next start",
        ),
    ),
    Code(
        "HF2208",
        "offsets/ is empty while commits/ has batches",
        "the stream's position is gone: Spark up to 4.0 delivers batch 0 again and then fails, "
        "later ones refuse to start",
        ("put offsets/ back from a backup", _NO_DELETE),
    ),
    Code(
        "HF2209",
        "the logs are empty but state was left behind",
        "Spark up to 4.0 starts at batch 0 over the old state and mixes it in; later ones refuse",
        ("put offsets/ and commits/ back from a backup",),
    ),
    Code(
        "HF2210",
        "a left-over name is in the way of the next entry",
        "Spark creates entries without overwriting: it fails with a message about a second query, "
        "for a commit only after the sink got the batch",
        (
            "in commits/, before the batch ran or where the sink knows batches (Delta, file "
            "sink): move the left-over out of the directory",
            "do not move it after a start failed at it, where the sink does not know batches (a "
            "plain append in foreachBatch): the batch is written twice",
            "in offsets/ or sources/, or in commits/ where offsets/ has no entry of its number: "
            "the entry was there once; put it back from a backup",
            "without a backup: ask the sink whether it holds that batch before anything else",
        ),
    ),
    Code(
        "HF2211",
        "a checksum was left behind without its file",
        "it shows that a file was removed by hand; harmless unless its number comes up again",
        ("find out who removes files from this checkpoint",),
    ),
    Code(
        "HF2212",
        "a directory is named like a batch",
        "Spark never creates one; it fails when it creates an entry of that name",
        ("move the directory out of the log",),
    ),
    Code(
        "HF2213",
        "a file is named like a batch, but not as Spark names it",
        "Spark takes it for that batch's number and then cannot find it under the plain number",
        (
            "where the entry of that number is there under its plain name: move the file out of "
            "the log",
            "where it is missing, this file is the entry: give it its plain name back",
        ),
    ),
    Code(
        "HF2214",
        "the number of sources changes between offsets entries",
        "Spark matches sources by position and number, and refuses an entry that does not fit",
        (_BACKUP_OF_CHANGED,),
    ),
    Code(
        "HF2215",
        "a source's offset goes back",
        "Spark only ever moves forward: an entry was swapped, edited or damaged; data would be "
        "read twice or the start fails",
        (_BACKUP_OF_CHANGED,),
    ),
    Code(
        "HF2216",
        "a file source's log lacks an entry that it needs",
        "the source cannot determine which files it has read; Spark stops with a missing batch",
        (_BACKUP, _NO_DELETE),
    ),
    Code(
        "HF2217",
        "an entry of a file source's log has files of another entry",
        "files would be read twice or never",
        (_BACKUP_OF_CHANGED,),
    ),
    Code(
        "HF2218",
        "the watermark does not follow from the entry before",
        "rows would count as late that are not, or windows stay open; an entry was edited, "
        "swapped or damaged",
        (_BACKUP_OF_CHANGED,),
    ),
    Code(
        "HF2219",
        "a batch is older than the one before it",
        "the clock of the driver went back, or an entry was swapped or edited; processing-time "
        "logic sees time run backwards",
        ("compare the clocks of the machines that run the driver",),
    ),
    Code(
        "HF2220",
        "a pinned setting changes from one entry to the next",
        "Spark repeats the pinned settings from entry to entry; a change is an upgrade of Spark, "
        "an offline repartition, or an edit by hand that changes how state is read",
        ("if nobody repartitioned the state: put the entry back from a backup",),
    ),
    Code(
        "HF2221",
        "state that the next batch needs is missing",
        "Spark fails when it loads the state, possibly after a part of the batch reached the sink",
        (_BACKUP,),
    ),
    Code(
        "HF2222",
        "state has more partitions than the settings pin",
        "Spark reads only the pinned number: the keys in the other partitions are silently gone",
        ("put the offsets entry with the true number back from a backup",),
    ),
    Code(
        "HF2223",
        "operator metadata does not belong to the directory that it is in",
        "Spark compares it with the query's operators by id and name, and refuses",
        (_BACKUP_OF_CHANGED,),
    ),
    Code(
        "HF2224",
        "an operator has a name that no known Spark writes",
        "Spark compares the name with the query's operator and refuses another one",
        ("a newer Spark may know it; otherwise put the file back from a backup",),
    ),
    Code(
        "HF2225",
        "state schema files are recorded under another path",
        "the checkpoint was moved or copied: Spark reads the schema from the old path, fails if "
        "it is gone, and skips its compatibility check",
        (
            "bring the checkpoint back to its first place",
            "or, with the query stopped, replace the old path by the new one in every file "
            "below state/*/_metadata, and move the checksums next to these files away",
        ),
    ),
    Code(
        "HF2226",
        "a recorded state schema file is missing",
        "Spark fails to read it, or treats the state as new and skips its compatibility check",
        (_BACKUP,),
    ),
    Code(
        "HF2227",
        "temporary files were left behind",
        "a driver or task died while writing them; Spark neither reads nor removes them",
        ("nothing needs to be done",),
    ),
    Code(
        "HF2228",
        "a name is neither a file nor a directory of this checkpoint",
        "links, pipes and devices are not followed or opened; Spark might follow them elsewhere",
        ("find out who made it; a checkpoint has regular files only",),
    ),
    Code(
        "HF2229",
        "there are files here that do not belong to a checkpoint",
        "Spark ignores them; a sink's output or another checkpoint in the same directory is a "
        "mistake",
        ("keep a checkpoint's directory for the checkpoint alone",),
    ),
    Code(
        "HF2230",
        "a part of the checkpoint could not be listed",
        "the report is incomplete: what cannot be listed is not checked",
        ("run as the user that runs the job, or give this user read access",),
    ),
    Code(
        "HF2231",
        "the checkpoint changed while it was read",
        "a query is running on it: the report shows one moment",
        ("look again after the query stopped for a lasting picture",),
    ),
    Code(
        "HF2232",
        "entries of one log have different versions",
        "Spark keeps to one version in a log; it may refuse the mixture",
        (_BACKUP_OF_CHANGED,),
    ),
    Code(
        "HF2233",
        "the state ids in a commit do not fit the state",
        "with state checkpoint format 2 the commit names the files to load; wrong ids make the "
        "next start fail",
        (_BACKUP_OF_CHANGED,),
    ),
    Code(
        "HF2234",
        "a large file was not read",
        "only its size is known; reading it takes time and memory",
        ("holdfast inspect --verify reads everything",),
    ),
    Code(
        "HF2235",
        "the pinned settings are not those that any known Spark writes",
        "a setting that is missing falls back to an old default, which may change how state is "
        "read; a vendor's Spark may pin others",
        ("compare with an older entry; put the entry back from a backup if it was edited",),
    ),
    Code(
        "HF2236",
        "two entries of one log are the same",
        "each batch has its own time, so an entry was copied over another",
        (_BACKUP_OF_CHANGED,),
    ),
    Code(
        "HF2237",
        "an entry lacks what every Spark writes into it",
        "Spark reads a default in its place and continues with it, or fails; a torn or edited "
        "file looks like this",
        (_BACKUP,),
    ),
    Code(
        "HF2238",
        "a state version is missing among kept ones",
        "the next start does not read it, but something removed a file that Spark keeps; going "
        "back to that batch is not possible",
        ("find out what removed it before it removes a newer one", _BACKUP),
    ),
    Code(
        "HF2239",
        "a state file is empty",
        "even state without rows has a few bytes: the file was lost on a full disk or in a "
        "copy, and Spark cannot rebuild any version from it",
        (_BACKUP,),
    ),
    Code(
        "HF2240",
        "the description of an operator's state is missing",
        "Spark writes it with the first batch; without it the next start compares nothing, writes "
        "a new one from whatever the query is then, and may read old state with another meaning",
        (_BACKUP,),
    ),
    Code(
        "HF2241",
        "a source's offset, or where it began, is not what the source writes",
        "the source fails to read it, or continues at another position",
        (_BACKUP,),
    ),
    Code(
        "HF2242",
        "a pinned setting has a value that Spark cannot use",
        "Spark uses the pinned value at the next start, in place of the session's, and fails or "
        "reads state with another meaning",
        ("compare with an older entry; put the entry back from a backup",),
    ),
    Code(
        "HF2243",
        "state is ahead of the offsets",
        "a batch ran whose offsets entry is gone: Spark would plan a new batch under its id, "
        "with other data than the sink may have under that id",
        (_BACKUP, "without a backup: ask the sink whether it holds that batch before a start"),
    ),
    Code(
        "HF2244",
        "unexpected file in a log directory",
        "Spark writes only entries there and ignores this file: an entry was renamed, or copied "
        "by hand, and may be missing under its own name",
        ("compare it with the entry that it was; if that is missing, put it back byte-identical",),
    ),
    Code(
        "HF2245",
        "what a commit records of its sinks contradicts itself",
        "Spark finds the sink by the name that it is recorded under; with another one inside the "
        "query's sink is taken for a new one, or refused",
        (_BACKUP,),
    ),
    Code(
        "HF2246",
        "the next start fails",
        "Spark's recovery stops at what the message names, with the releases that it names. "
        "Nothing is lost by that: the checkpoint stays as it is until a start succeeds",
        ("holdfast inspect TARGET     (shows what each Spark release does)",),
    ),
    Code(
        "HF2247",
        "a file source has read a file from the future",
        "Spark compares the age of files with the newest one that it has read: files that are "
        "older than that by maxFileAge (default: 7 days) are ignored without an error, so new "
        "files are never read and their rows are lost",
        (
            "find out whether the file's modification time was wrong or the entry was changed",
            "set maxFileAge of the source to more than the difference before the next start",
        ),
    ),
)
