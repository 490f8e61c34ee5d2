"""Field cases without a remedy that could be played, each with the reason."""

from __future__ import annotations

_REFUSED = "none needed: `run` refuses the second start, and nothing is changed"
_RUNNING = "none: it arises while the query runs"
_CONNECTOR = "none: this connector is not read by Holdfast"
_NOT_RUN = "not played: its connector was not run here"
_SINK = "none: this sink's log is not read by Holdfast"
_RELEASE = "none in the files: the fix is another release"

UNPLAYED: dict[int, str] = {
    8: "none needed: the entry was not written, so that the next start plans its batch",
    10: "none: only Spark before 2.2 fails like this",
    12: "none needed: Spark 3.5 and later ignore the directory",
    14: "not played: which of the two directories continues has to be decided by a person",
    16: _REFUSED,
    17: _REFUSED,
    18: _REFUSED,
    19: _REFUSED,
    22: "not played: which of the copies continues has to be decided by a person",
    38: "none needed: the newer release continues from the checkpoint",
    42: "none needed: Spark 4.2 and later pass a damaged snapshot over",
    43: _RELEASE,
    48: _RELEASE,
    49: "none needed: no tested release fails like this",
    51: _RUNNING,
    52: "not played: no Spark 2 is here that could write the state",
    53: "none needed: Holdfast writes nothing while it reads",
    56: "none needed: it passes; ask again after some minutes",
    57: _RUNNING,
    60: _RELEASE,
    61: _CONNECTOR,
    62: _CONNECTOR,
    63: _CONNECTOR,
    64: _CONNECTOR,
    65: _CONNECTOR,
    66: _CONNECTOR,
    67: _NOT_RUN,
    68: _CONNECTOR,
    69: "none needed: no row is wrong before a declared option is changed",
    70: "none needed: the log grows, and no row is wrong",
    73: "not played: entries of the sink's own log are put back from a copy of the output",
    74: "not played: the sink's own log is put back from a copy of the output",
    75: "none: no row is wrong; a table format does not have this log",
    76: "none needed: Spark keeps to the interval that it finds",
    77: "not played: the txnAppId is in the code of the program",
    80: "none: an identifier that has expired cannot be brought back",
    83: "none: a topic keeps no record of batches; the pending one is written again, as warned",
    84: _SINK,
    85: _SINK,
    86: _SINK,
    87: _SINK,
    88: _NOT_RUN,
    91: "none: wrong advice leaves nothing in the checkpoint",
    92: "none needed: no row is wrong; the settings decide how many calls are made",
    93: "none needed: `inspect` and `status` show the offsets",
}
