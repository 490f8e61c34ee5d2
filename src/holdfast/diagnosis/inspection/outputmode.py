"""Tells the output mode, which no checkpoint keeps: read, declared, or the only one that fits."""

from __future__ import annotations

from holdfast.checkpoint.picture import Picture
from holdfast.diagnosis.inspection.fact import Basis, TextFact
from holdfast.diagnosis.inspection.sink.evidence import SinkClues
from holdfast.ledgers.sparkfilesink import FORMATS as FILE_FORMATS

EITHER = "append or update"
"""Without an aggregation both fit, and write the same rows; complete does not fit."""
_WITHOUT_AGGREGATION = frozenset(
    {"dedupe", "dedupeWithinWatermark", "globalLimit", "symmetricHashJoin"}
)
"""Operators that never change a row they gave out."""
_LIMIT = "globalLimit"
_AGGREGATION = "stateStoreSave"
_MODES = frozenset({"append", "update", "complete"})


def output_mode_fact(picture: Picture, clues: SinkClues) -> TextFact:
    """Give the output mode: what was written down before what is declared, that before the rest."""
    return (
        _written_by_operator(picture)
        or _written_by_delta(clues)
        or _declared(clues)
        or _by_sink(clues)
        or _by_operators(picture)
        or TextFact(None, Basis.UNKNOWN, "Spark does not keep it in the checkpoint")
    )


def _written_by_operator(picture: Picture) -> TextFact | None:
    for operator_id, operator in sorted(picture.operators.items()):
        mode = (operator.properties or {}).get("outputMode")
        if isinstance(mode, str) and mode.lower() in _MODES:
            source = f"state/{operator_id}/_metadata/v2, what {operator.name} says of itself"
            return TextFact(mode.lower(), Basis.READ, source)
    return None


def _written_by_delta(clues: SinkClues) -> TextFact | None:
    commit = clues.commit
    if commit is None or commit.output_mode not in _MODES or clues.log is None:
        return None
    source = f"{clues.log.location}/_delta_log/{commit.version}"
    return TextFact(commit.output_mode, Basis.READ, source)


def _declared(clues: SinkClues) -> TextFact | None:
    if clues.declared is None:
        return None
    return TextFact(clues.declared.output_mode, Basis.INFERRED, clues.declared.at)


def _by_sink(clues: SinkClues) -> TextFact | None:
    if clues.log is None or clues.log.files is None:
        return None
    return TextFact("append", Basis.INFERRED, "Spark's file sink takes no other mode")


def _by_operators(picture: Picture) -> TextFact | None:
    if not picture.layout.offsets.ids or any(
        folder.split("/", 1)[0] in ("", "state") for folder in picture.unlisted or {}
    ):
        return None
    operators = picture.layout.state.operators
    if not operators:
        reason = "there is no state/ folder, and without an aggregation both write the same rows"
        return TextFact(EITHER, Basis.INFERRED, reason)
    if operators.keys() != picture.operators.keys():
        return None
    return _by_names([operator.name for operator in picture.operators.values()])


def _by_names(names: list[str]) -> TextFact | None:
    if set(names) <= _WITHOUT_AGGREGATION and _LIMIT in names:
        reason = "Spark allows a limit without an aggregation in append mode only"
        return TextFact("append", Basis.INFERRED, reason)
    if set(names) <= _WITHOUT_AGGREGATION:
        reason = f"{', '.join(names)}: without an aggregation both write the same rows"
        return TextFact(EITHER, Basis.INFERRED, reason)
    if names.count(_AGGREGATION) > 1:
        reason = "Spark allows an aggregation of an aggregation in append mode only"
        return TextFact("append", Basis.INFERRED, reason)
    return None


def contradicted_mode(fact: TextFact, clues: SinkClues) -> str | None:
    """Give the declared mode where what was read or recorded says another, else None."""
    declared = clues.declared.output_mode if clues.declared is not None else None
    told = fact.basis in (Basis.READ, Basis.RECORDED)
    return declared if told and declared not in (None, fact.value) else None


def contradicted_format(clues: SinkClues) -> str | None:
    """Give the declared format where the output folder's log is of another kind, else None."""
    if clues.log is None or clues.declared is None or clues.given:
        return None
    kind, declared = clues.log.kind, clues.declared.format
    fits = declared in FILE_FORMATS if kind == "files" else declared == kind
    return None if fits else declared
