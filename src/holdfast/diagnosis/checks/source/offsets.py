"""What the entries say of each source: in the source's own form, from the first to the newest."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.sourcefolders import folder_of
from holdfast.checkpoint.sourceview import evidence_of, explained
from holdfast.errors import DecodeError
from holdfast.findings import Finding, Place, Severity
from holdfast.format.logs.initial import decode_initial
from holdfast.format.logs.offsets import OffsetsEntry
from holdfast.format.sources import ExplainedOffset, amount_between


def check_source_offsets(picture: Picture) -> Iterator[Finding]:
    """Report offsets that their source does not write, or of another kind than before."""
    kinds: dict[str, str] = {}
    for batch_id in sorted(picture.offsets):
        entry = picture.offsets[batch_id]
        for position, source in enumerate(entry.sources):
            found = explained(picture, entry, position, {})
            reason = _reason(found, kinds.get(source.name) if entry.version == 1 else None)
            if isinstance(found, ExplainedOffset):
                kinds.setdefault(source.name, found.kind)
            if reason is not None:
                newest = batch_id == picture.newest_offsets_id
                yield Finding(
                    "HF2241",
                    Severity.FATAL if newest else Severity.WARNING,
                    f"offsets/{batch_id}, source {source.name}: {reason}",
                    Place(f"offsets/{batch_id}", line=position + 3),
                )


def check_initial_offsets(picture: Picture) -> Iterator[Finding]:
    """Report a file `0` of a Kafka or rate source that is not in that source's form."""
    entry = picture.newest_offsets
    if entry is None:
        return
    for position, _ in enumerate(entry.sources):
        folder = folder_of(entry, position, picture.layout)
        data = picture.initial_offsets.get(folder) if folder is not None else None
        wanted = _initial_kind(picture, entry, position)
        if data is None or wanted is None:
            continue
        path = f"sources/{folder}/0"
        known = any(damage.file == path for damage in picture.damages)
        if not known and not _is_initial(picture, entry, position, wanted):
            message = f"{path} is not what a {wanted} source writes there"
            yield Finding("HF2241", Severity.FATAL, message, Place(path))


def _reason(found: ExplainedOffset | DecodeError | None, kind: str | None) -> str | None:
    if isinstance(found, DecodeError):
        return found.message
    if found is None or kind is None or found.kind == kind:
        return None
    return f"this is an offset of a {found.kind} source, before it was a {kind} source"


def _is_initial(picture: Picture, entry: OffsetsEntry, position: int, wanted: str) -> bool:
    evidence = evidence_of(picture, entry, position, {})
    if evidence is None or evidence.initial is None:
        return True
    try:
        if decode_initial(evidence.initial).kind != wanted:
            return False
        amount_between(wanted, None, evidence)
    except DecodeError:
        return False
    return True


def _initial_kind(picture: Picture, entry: OffsetsEntry, position: int) -> str | None:
    """Tell by the offset alone who keeps a file `0`: of bare numbers only the rate source does."""
    text = entry.sources[position].text or ""
    if text.isdecimal():
        return "rate"
    found = explained(picture, entry, position, {})
    return "kafka" if isinstance(found, ExplainedOffset) and found.kind == "kafka" else None
