"""Sources of a query against those of its last run: order, what they read, columns, options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from holdfast.records.facts import CUT, ColumnFacts, SourceFacts
from holdfast.redaction import names_secret
from holdfast.restart.partial import plain_path
from holdfast.restart.rules.rule import on_history
from holdfast.restart.rules.topics import other_topics
from holdfast.restart.start import QueryPair
from holdfast.restart.verdict import Change, Verdict

_STARTING = frozenset(
    {"startingoffsets", "startingtimestamp", "startingversion", "startingoffsetsbytimestamp",
     "startingoffsetsbytimestampstrategy", "startingposition", "initialposition",
     "withinitialstate"}
)  # fmt: skip
"""Options that count for a new query alone."""
_PACE = frozenset(
    {"maxfilespertrigger", "maxbytespertrigger", "maxoffsetspertrigger", "minoffsetspertrigger",
     "maxtriggerdelay", "rowspersecond", "rowsperbatch", "numpartitions", "minpartitions",
     "maxrecordsperpartition", "failondataloss", "includeheaders", "cleansource",
     "sourcearchivedir",
     "fetchoffset.numretries", "fetchoffset.retryintervalms", "kafkaconsumer.polltimeoutms",
     "groupidprefix", "maxcachedfiles", "discardcachedinputratio", "rampuptime",
     "advancemillisperbatch", "starttimestamp"}
)  # fmt: skip
"""Options that decide how much is read at a time or how, and not what rows are."""
_FAILS = "failondataloss"
_CHANGE_FEED = frozenset({"readchangefeed", "readchangedata"})
_PASSES_CHANGES = frozenset({"ignoredeletes", "ignorechanges", "skipchangecommits"})
_SEEN_FILES = frozenset({"filenameonly"})
"""Options by which the file source knows a file again."""
_BROKERS = "kafka.bootstrap.servers"
_REACHED_BY = "kafka."
_ROWS_OF_KAFKA = frozenset({"kafka.isolation.level"})
"""Of the options that Spark hands on to Kafka, those that decide which records are read."""


@on_history("HF3102")
def source_order(pair: QueryPair) -> Iterator[Change]:
    """Refuse the same sources in another order: Spark gives offsets out by position."""
    before, now = pair.before.sources, pair.now.sources
    if len(before) != len(now) or (_are_named(before) and _are_named(now)):
        return
    then, after = [_key(one) for one in before], [_key(one) for one in now]
    if then != after and sorted(then) == sorted(after):
        yield Change(
            "HF3102",
            Verdict.UNSAFE,
            "the order of the sources",
            ", ".join(map(_shown, before)),
            ", ".join(map(_shown, now)),
            "Spark gives each source the stored offsets of the one at its position: it would read "
            "files or records again, or never",
        )


@on_history("HF3103")
def source_identity(pair: QueryPair) -> Iterator[Change]:
    """Judge a source that reads another path, topic or table than before."""
    before, now = pair.before.sources, pair.now.sources
    keys = [_key(one) for one in before], [_key(one) for one in now]
    if len(before) != len(now) or sorted(keys[0]) == sorted(keys[1]):
        return
    for index, (then, after) in enumerate(_matched(before, now)):
        if then.kind != after.kind or _key(then) == _key(after):
            continue
        yield _other_identity(index, then, after)


@on_history("HF3106")
def source_readers(pair: QueryPair) -> Iterator[Change]:
    """Judge a reader that is used twice where there were two, and the other way round."""
    for index, (then, after) in enumerate(_matched(pair.before.sources, pair.now.sources)):
        if then.same_reader == after.same_reader:
            continue
        subject = f"the reader of {_named(index, after)}"
        old, new = _reader(then), _reader(after)
        if after.same_reader is None and after.kind == "file":
            why = "a new reader has a log of files of its own, which does not have the last batch"
            error = "java.lang.IllegalStateException: batch … doesn't exist"
            yield Change("HF3106", Verdict.UNSAFE, subject, old, new, why, error=error)
        else:
            why = "Spark gives each reader the stored offset at its position, and a log of its own"
            condition = "both readers had read the same rows"
            yield Change("HF3106", Verdict.CONDITIONAL, subject, old, new, why, condition)


def _reader(source: SourceFacts) -> str:
    number = source.same_reader
    return "one of its own" if number is None else f"that of source {number}"


@on_history("HF3104")
def source_columns(pair: QueryPair) -> Iterator[Change]:
    """Show changed columns of a source, and ask about one of another type that state depends on."""
    for index, (then, after) in enumerate(_matched(pair.before.sources, pair.now.sources)):
        changed = list(_columns_changed(then.columns, after.columns))
        if not changed:
            continue
        leaf = after.name or f"source{index}"
        kept = [(old, new) for old, new in changed if old and new and _is_kept(pair, leaf, old)]
        verdict, condition = Verdict.SAFE, None
        why = (
            "new rows have the new columns; state and output that depend on them are compared "
            "by themselves"
        )
        if kept:
            verdict = Verdict.CONDITIONAL
            why = (
                "state was made of values of the old type: as the new one they may be read, "
                "compared, hashed or written as text differently"
            )
            condition = "; ".join(
                f"state that was made of {old.name} as {old.type} is right for it as {new.type}"
                for old, new in kept
            )
        yield Change(
            "HF3104",
            verdict,
            f"columns of {_named(index, after)}",
            ", ".join(_column(old, new) for old, new in changed),
            ", ".join(_column(new, old) for old, new in changed),
            why,
            condition,
        )


def _is_kept(pair: QueryPair, leaf: str, column: ColumnFacts) -> bool:
    """Tell whether state may depend on a column of a source; where that is not seen, it may."""
    if None in (pair.before.operators, pair.now.operators):
        return True
    used = re.compile(rf"(?<![\w.]){re.escape(leaf)}\.{re.escape(column.name)}(?!\w)")
    operators = (*(pair.before.operators or ()), *(pair.now.operators or ()))
    kept = [text for one in operators for text in (*one.keys, *one.values, *one.input,
                                                   *one.settings.values())]  # fmt: skip
    if operators:
        kept += [one.column for one in (*pair.before.watermarks, *pair.now.watermarks)]
    return any(used.search(text) or "?" in text or CUT in text for text in kept)


@on_history("HF3105")
def source_options(pair: QueryPair) -> Iterator[Change]:
    """Judge options of a source: most set the pace, some decide what its rows are."""
    for index, (then, after) in enumerate(_matched(pair.before.sources, pair.now.sources)):
        for name, old, new in _options_changed(then.options, after.options):
            yield _other_option(pair, f"{name} of {_named(index, after)}", name, old, new)
        if then.format != after.format and then.kind == after.kind:
            yield _other_option(
                pair, f"the format of {_named(index, after)}", "format", then.format, after.format
            )


def _options_changed(
    before: Mapping[str, str], now: Mapping[str, str]
) -> Iterator[tuple[str, str | None, str | None]]:
    """Yield options with another value; Spark reads their names in any letters."""
    names = {name.lower(): name for name in (*before, *now)}
    then, after = ({name.lower(): value for name, value in one.items()} for one in (before, now))
    for low, name in sorted(names.items()):
        old, new = then.get(low), after.get(low)
        if old != new and {str(one).lower() for one in (old, new)} not in ({"true"}, {"false"}):
            yield name, old, new


def _other_option(
    pair: QueryPair, subject: str, name: str, old: str | None, new: str | None
) -> Change:
    low = name.lower()
    if low in _STARTING:
        why = "it counts for a new query alone: Spark continues from the stored offsets"
        return Change("HF3105", Verdict.SAFE, subject, old, new, why)
    if low in _CHANGE_FEED:
        why = "Delta stops at a version that keeps no change feed, and without one at changed rows"
        condition = "the versions that come next keep a change feed, or only add rows"
        return Change("HF3105", Verdict.CONDITIONAL, subject, old, new, why, condition)
    if _is_stricter(low, new):
        why = "Spark stops at what it passed over before"
        condition = f"nothing that comes next needs {name}={old}"
        return Change("HF3105", Verdict.CONDITIONAL, subject, old, new, why, condition)
    if low in _PACE:
        why = "it changes how much is read at a time, not what is read"
        return Change("HF3105", Verdict.SAFE, subject, old, new, why)
    if low == _BROKERS:
        return _other_brokers(subject, old, new)
    if names_secret(name) or (low.startswith(_REACHED_BY) and low not in _ROWS_OF_KAFKA):
        why = "it changes how the source is reached, not what is read"
        return Change("HF3105", Verdict.SAFE, subject, old, new, why)
    if low in _SEEN_FILES:
        why = "the source recognizes the files that it has read by another part of their path"
        condition = "no two files have the same name, and no file that was read has moved"
        return Change("HF3105", Verdict.CONDITIONAL, subject, old, new, why, condition)
    if not pair.has_state:
        why = "later rows are read with it; rows that were delivered stay as they are"
        return Change("HF3105", Verdict.SAFE, subject, old, new, why)
    why = "the state was made of rows that were read with the old value"
    condition = f"rows that were read with {name}={old or 'its default'} may stay in the state"
    return Change("HF3105", Verdict.CONDITIONAL, subject, old, new, why, condition)


def _is_stricter(name: str, new: str | None) -> bool:
    """Tell whether a source that went on is told to stop, at lost records or changed rows."""
    value = (new or "").lower()
    return (name == _FAILS and value != "false") or (name in _PASSES_CHANGES and value != "true")


def _other_brokers(subject: str, old: str | None, new: str | None) -> Change:
    """Ask about other brokers, unless one of them was there before."""
    then, after = ({one.strip() for one in (each or "").split(",")} for each in (old, new))
    if then & after - {""}:
        why = "a broker of before is among them: it is the same cluster"
        return Change("HF3105", Verdict.SAFE, subject, old, new, why)
    why = (
        "the stored offsets are of the cluster that was read: in another one they are of other "
        "records, or of none, and Spark stops with KAFKA_DATA_LOSS or reads from another place"
    )
    condition = f"{new} is another address of the same Kafka cluster as {old}"
    return Change("HF3105", Verdict.CONDITIONAL, subject, old, new, why, condition)


def _other_identity(index: int, then: SourceFacts, after: SourceFacts) -> Change:
    old, new = _shown(then), _shown(after)
    subject = f"what {_named(index, after)} reads"
    if then.kind == "kafka":
        return other_topics(subject, then, after)
    if then.kind == "file" and _local_path(then) == _local_path(after):
        why = "Spark takes a path without a scheme to be on its default file system"
        condition = "the default file system (fs.defaultFS) is the local one"
        return Change("HF3103", Verdict.CONDITIONAL, subject, old, new, why, condition)
    if then.kind == "file" and _contains(after, then):
        why = "Spark accepts it, and reads every file at the new path that it has not read before"
        condition = f"files that were read at {old} are the only ones there, or are to be read too"
        return Change("HF3103", Verdict.CONDITIONAL, subject, old, new, why, condition)
    if then.kind == "file":
        why = (
            "the log of the source names files of the old path: Spark stops with “Wrong basePath”, "
            "or reads everything at the new path, also files that were only moved"
        )
        return Change("HF3103", Verdict.UNSAFE, subject, old, new, why)
    why = "the stored offset is of what was read before; whether it fits is not known"
    condition = f"{new} has the same rows at the same offsets as {old}"
    return Change("HF3103", Verdict.CONDITIONAL, subject, old, new, why, condition)


def _local_path(source: SourceFacts) -> str:
    return plain_path(source.identity.get("path", ""))


def _contains(after: SourceFacts, then: SourceFacts) -> bool:
    """Tell whether Spark takes files of the old path for files of the new one: it compares text."""
    old, new = then.identity.get("path", ""), after.identity.get("path", "")
    return bool(set(new) & set("*?[{")) or (bool(new) and old.startswith(new))


def _matched(
    before: tuple[SourceFacts, ...], now: tuple[SourceFacts, ...]
) -> Iterator[tuple[SourceFacts, SourceFacts]]:
    """Yield the sources that continue each other: by name where all have one, else by position."""
    if _are_named(before) and _are_named(now):
        then = {one.name: one for one in before}
        yield from ((then[one.name], one) for one in now if one.name in then)
    elif len(before) == len(now):
        yield from zip(before, now, strict=True)


def _are_named(sources: tuple[SourceFacts, ...]) -> bool:
    return bool(sources) and all(one.name is not None for one in sources)


def _key(source: SourceFacts) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return what a source reads, the same for spellings that Spark takes as one."""
    named = ((name.lower(), value) for name, value in source.identity.items())
    return source.kind, tuple(sorted((name, _identity(name, value)) for name, value in named))


def _identity(name: str, value: str) -> str:
    if name == "subscribe":
        return ",".join(sorted({one.strip() for one in value.split(",")}))
    if name == "path":
        return re.sub(r"^file:/+", "file:/", value).rstrip("/") or value
    return value


def _shown(source: SourceFacts) -> str:
    inside = ", ".join(source.identity.values())
    return f"{source.format} {inside}" if inside else source.format


def _named(index: int, source: SourceFacts) -> str:
    return f"source {index if source.name is None else source.name}"


def _columns_changed(
    before: tuple[ColumnFacts, ...], now: tuple[ColumnFacts, ...]
) -> Iterator[tuple[ColumnFacts | None, ColumnFacts | None]]:
    then: Mapping[str, ColumnFacts] = {one.name: one for one in before}
    after: Mapping[str, ColumnFacts] = {one.name: one for one in now}
    for name in dict.fromkeys([*then, *after]):
        old, new = then.get(name), after.get(name)
        if old is None or new is None or old.type != new.type:
            yield old, new


def _column(column: ColumnFacts | None, other: ColumnFacts | None) -> str:
    if column is not None:
        return f"{column.name} {column.type}"
    return "none" if other is None else f"no {other.name}"
