"""HF31xx: what is different between a query and the one that last ran on its checkpoint."""

from __future__ import annotations

from holdfast.codes.code import Code

_BACK = "put the code back as it was"
_APART = "or give the changed job a name, a checkpoint and a sink of its own"
_NOTHING = "nothing needs to be done: the change is safe"


def _meant(number: str) -> str:
    return f"or, if the change is intended: holdfast run JOB --accept {number}:DIGEST"


RESTART_CODES: tuple[Code, ...] = (
    Code(
        "HF3101",
        "no record knows the query that last ran on this checkpoint",
        "names, kinds and schemas can be compared with the checkpoint; keys, functions "
        "and filters cannot",
        ("compare the job with the code that last ran on this checkpoint",),
        exit_status=31,
    ),
    Code(
        "HF3102",
        "the sources are in another order than in the last run",
        "Spark gives each source the offsets of the one that had its position: rows are "
        "read again, or never",
        (_BACK, _APART),
        exit_status=30,
    ),
    Code(
        "HF3103",
        "a source reads another path, topic or table than in the last run",
        "the stored offsets are of what was read before: Spark stops, reads everything "
        "again, or skips rows",
        (_BACK, _APART, _meant("HF3103")),
        exit_status=30,
    ),
    Code(
        "HF3104",
        "the columns of a source changed",
        "new rows have the new columns; where state is made of one, values of another type may "
        "be read, compared, hashed or written as text differently",
        (_BACK, _APART, _meant("HF3104")),
        exit_status=30,
    ),
    Code(
        "HF3105",
        "an option of a source changed",
        "most options set the pace; one that decides what rows are changes what reaches the state",
        (_BACK, _APART, _meant("HF3105")),
        exit_status=30,
    ),
    Code(
        "HF3106",
        "a reader of a source is used twice now, or there are two now",
        "Spark counts a reader as often as it is used, and keeps one log of what it has read",
        (_BACK, _APART, _meant("HF3106")),
        exit_status=30,
    ),
    Code(
        "HF3110",
        "the query has other stateful operators than in the last run",
        "Spark finds state by the number of an operator: since 4.0 it stops, 3.5 mixes states",
        (_BACK, _APART),
        exit_status=30,
    ),
    Code(
        "HF3111",
        "the key columns of a state store have other types",
        "Spark stops with STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE",
        (_BACK, _APART),
        exit_status=30,
    ),
    Code(
        "HF3112",
        "the value columns of a state store have other types",
        "Spark stops with STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE; state in Avro may "
        "change in some ways",
        (_BACK, _APART, _meant("HF3112")),
        exit_status=30,
    ),
    Code(
        "HF3113",
        "a column of the state may be null now, or may not be any more",
        "Spark refuses a column that was stored as not null and may be null now; the "
        "other way round it fails at the first stored null",
        (_BACK, _APART, _meant("HF3113")),
        exit_status=30,
    ),
    Code(
        "HF3114",
        "the state is keyed by other expressions than in the last run",
        "Spark compares types alone: rows of new keys are added to the state of old ones,"
        " without an error",
        (_BACK, _APART, _meant("HF3114")),
        exit_status=30,
    ),
    Code(
        "HF3115",
        "the windows of an aggregation have another size",
        "old and new windows exist in parallel, and rows of the old ones are missing "
        "from the new ones",
        (_BACK, _APART, _meant("HF3115")),
        exit_status=30,
    ),
    Code(
        "HF3116",
        "a stateful operator computes or keeps something else than in the last run",
        "Spark compares types alone: the new code continues with what the old one "
        "computed, without an error",
        (_BACK, _APART, _meant("HF3116")),
        exit_status=30,
    ),
    Code(
        "HF3117",
        "what a stateful operator keeps is in another order than in the last run",
        "Spark finds buffers by position: each function continues with the value of another one",
        (_BACK, _APART),
        exit_status=30,
    ),
    Code(
        "HF3118",
        "a join between streams has another type than in the last run",
        "the state does not show which of its rows had a partner",
        (_BACK, _APART, _meant("HF3118")),
        exit_status=30,
    ),
    Code(
        "HF3119",
        "a join between streams has another condition than in the last run",
        "a wider condition misses matches with rows that are gone from the state; a "
        "narrower one is right",
        (_BACK, _APART, _meant("HF3119")),
        exit_status=30,
    ),
    Code(
        "HF3120",
        "the query has another limit than in the last run",
        "Spark keeps the number of rows that were delivered: rows that were cut off do "
        "not come back",
        (_BACK, _APART, _meant("HF3120")),
        exit_status=30,
    ),
    Code(
        "HF3121",
        "a setting of a stateful operator is another one than in the last run",
        "the state was made with the old value; Spark refuses some of these changes and "
        "ignores others",
        (_BACK, _APART, _meant("HF3121")),
        exit_status=30,
    ),
    Code(
        "HF3122",
        "other rows reach a stateful operator than in the last run",
        "the state keeps what the old filters let through, and lacks what they left out",
        (_BACK, _APART, _meant("HF3122")),
        exit_status=30,
    ),
    Code(
        "HF3123",
        "a state variable was added or removed",
        "a new variable begins empty; values of one that is gone stay in the state, and "
        "nothing reads them",
        (_BACK, _APART, _meant("HF3123")),
        exit_status=30,
    ),
    Code(
        "HF3130",
        "the delay of a watermark was raised",
        "the stored watermark does not go back: rows that the new delay allows are "
        "dropped for a while",
        (_BACK, _APART, _meant("HF3130")),
        exit_status=30,
    ),
    Code(
        "HF3131",
        "the delay of a watermark was lowered",
        "state closes earlier from now on; rows that were counted under the old delay stay",
        (_BACK, _APART, _meant("HF3131")),
        exit_status=30,
    ),
    Code(
        "HF3132",
        "a watermark is on another column than in the last run",
        "the stored watermark was computed from the old column: rows before it are dropped",
        (_BACK, _APART, _meant("HF3132")),
        exit_status=30,
    ),
    Code(
        "HF3133",
        "a watermark was added or removed",
        "state of the time before is closed, or is never closed any more",
        (_BACK, _APART, _meant("HF3133")),
        exit_status=30,
    ),
    Code(
        "HF3134",
        "the output mode is another one than in the last run",
        "Spark does not compare it: results may be delivered again, or never",
        (_BACK, _APART, _meant("HF3134")),
        exit_status=30,
    ),
    Code(
        "HF3135",
        "the sink is declared in another way than in the last run",
        "earlier and later rows are there in different ways",
        (_BACK, _APART, _meant("HF3135")),
        exit_status=30,
    ),
    Code(
        "HF3136",
        "the columns that reach the sink changed",
        "rows that were delivered stay as they are; two types of one column may not go together",
        (_BACK, _APART, _meant("HF3136")),
        exit_status=30,
    ),
    Code(
        "HF3140",
        "a setting that changes what expressions mean is another one than in the last run",
        "Spark does not pin it: the same expression gives other keys or values from now on",
        (_BACK, _APART, _meant("HF3140")),
        exit_status=30,
    ),
    Code(
        "HF3141",
        "a setting that the checkpoint pins is another one than in the last run",
        "Spark ignores the new value as long as it continues this checkpoint",
        (_NOTHING,),
        exit_status=30,
    ),
    Code(
        "HF3142",
        "the format of state checkpoints is another one than in the last run",
        "4.0 to 4.2 fail, the latter after the batch was delivered; 4.3 ignores it",
        (_BACK, _APART),
        exit_status=30,
    ),
    Code(
        "HF3143",
        "the query starts with another release of Spark than in the last run",
        "what that release does with this checkpoint is in the next start",
        (_NOTHING,),
        exit_status=30,
    ),
    Code(
        "HF3150",
        "a Python function that feeds state changed",
        "the plan does not show what a function does: new results are mixed with old ones"
        " in the state",
        (_BACK, _APART, _meant("HF3150")),
        exit_status=30,
    ),
    Code(
        "HF3151",
        "a Python function that no state depends on changed",
        "later rows are made by the new code; rows that were delivered stay as they are",
        (_NOTHING,),
        exit_status=30,
    ),
    Code(
        "HF3152",
        "a Python function that feeds state reaches something that cannot be compared",
        "a change in it would not be noticed, and the state depends on it",
        (_BACK, _APART, _meant("HF3152")),
        exit_status=31,
    ),
    Code(
        "HF3155",
        "a table that is joined in has another content than in the last run",
        "state that was made with its old rows stays",
        (_BACK, _APART, _meant("HF3155")),
        exit_status=30,
    ),
    Code(
        "HF3156",
        "steps of the query that keep no state changed",
        "later rows are made by the new steps; rows that were delivered stay as they are",
        (_NOTHING,),
        exit_status=30,
    ),
    Code(
        "HF3157",
        "something about the query could not be determined",
        "a change in it would not be noticed",
        (_BACK, _APART, _meant("HF3157")),
        exit_status=31,
    ),
    Code(
        "HF3158",
        "the query was not planned, because Spark is not installed here",
        "what is declared was compared with the checkpoint; keys, functions and filters were not",
        ("install pyspark here, then check again",),
        exit_status=31,
    ),
    Code(
        "HF3159",
        "the record of the query that last ran does not know all of it",
        "an event log shows sources, operators and settings; options, keys, functions and filters "
        "are not in it, so that a change in them would not be noticed",
        ("compare the listed parts with the code that last ran on this checkpoint",),
        exit_status=31,
    ),
)
