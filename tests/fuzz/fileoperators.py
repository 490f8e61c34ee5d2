"""Operators that take whole files away, mix them up, or leave what does not belong."""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.drawing import Drawing, Operator
from tests.fuzz.kinds import is_hadoop_side, kinds_in, side_of

Files = dict[str, bytes]
_UUID = "0b6f0c4e-9a63-4f7e-8a5b-3d1c2e4f5a6b"


def swap_contents(draw: Drawing) -> Files | None:
    """Exchange the contents of two files of one kind."""
    path = draw.path()
    others = [one for one in draw.kinds if path and _alike(draw, one, path)]
    if path is None or not others:
        return None
    other = draw.random.choice(sorted(others))
    return {**draw.files, path: draw.files[other], other: draw.files[path]}


def _alike(draw: Drawing, one: str, path: str) -> bool:
    return one != path and draw.kinds[one] == draw.kinds[path]


def foreign_content(draw: Drawing) -> Files | None:
    """Put a file of the same kind from another checkpoint in its place."""
    path = draw.path()
    donor = draw.donor()
    kinds = kinds_in(donor)
    others = [one for one in donor if path and kinds[one] == draw.kinds[path]]
    if path is None or not others:
        return None
    return draw.changed(path, donor[draw.random.choice(sorted(others))])


def other_kind(draw: Drawing) -> Files | None:
    """Put a file of another kind from the same checkpoint in its place."""
    path, other = draw.path(), draw.path()
    if path is None or other is None or draw.kinds[path] == draw.kinds[other]:
        return None
    return draw.changed(path, draw.files[other])


def copy_over_next(draw: Drawing) -> Files | None:
    """Copy an entry over the one after it."""
    log = draw.log()
    ids = [one for one in draw.ids(log) if f"{log}/{one + 1}" in draw.files]
    if not ids:
        return None
    one = draw.random.choice(ids)
    return draw.changed(f"{log}/{one + 1}", draw.files[f"{log}/{one}"])


def remove_file(draw: Drawing) -> Files | None:
    """Remove a file, but not its checksum."""
    path = draw.path()
    return None if path is None else {one: data for one, data in draw.files.items() if one != path}


def remove_file_and_checksum(draw: Drawing) -> Files | None:
    """Remove a file together with its checksum."""
    path = draw.path()
    return None if path is None else draw.without(path)


def future_entry(draw: Drawing) -> Files | None:
    """Add an entry far ahead of the newest."""
    log = draw.log()
    ids = draw.ids(log)
    if not ids:
        return None
    ahead = draw.random.choice((2, 3, 7, 1000, 10**6, 10**12, 2**62))
    return draw.changed(f"{log}/{ids[-1] + ahead}", draw.files[f"{log}/{ids[-1]}"])


def duplicate_entry(draw: Drawing) -> Files | None:
    """Copy an entry to the next free id."""
    log = draw.log()
    ids = draw.ids(log)
    if not ids:
        return None
    return draw.changed(f"{log}/{ids[-1] + 1}", draw.files[f"{log}/{draw.random.choice(ids)}"])


def future_source_entry(draw: Drawing) -> Files | None:
    """Add an entry far ahead to a file source's log, plain or compact."""
    path = draw.path(frozenset({"source log"}))
    if path is None:
        return None
    name = (
        f"{draw.random.choice((37, 1999, 10**9 - 1, 2**62))}{draw.random.choice(('', '.compact'))}"
    )
    return draw.changed(f"{path.rpartition('/')[0]}/{name}", draw.files[path])


def future_state(draw: Drawing) -> Files | None:
    """Add a state folder or version with a number far ahead."""
    path = draw.path(frozenset({"delta", "changelog", "zip"}))
    if path is None:
        return None
    parts = path.split("/")
    number = str(draw.random.choice((41, 10**6, 10**12, 2**62)))
    at = draw.random.choice((1, 2))
    parts[at] = number
    return draw.changed("/".join(parts), draw.files[path])


def rename_padded(draw: Drawing) -> Files | None:
    """Write an entry's number in another way: `007`, `+7`."""
    form = draw.random.choice(("00{}", "+{}", "0{}"))
    return _renamed(draw, form.format)


def rename_suffixed(draw: Drawing) -> Files | None:
    """Give an entry's name a suffix, as editors and copying tools do."""
    suffix = draw.random.choice((".bak", "~", " (1)", ".orig", ".txt", " "))
    return _renamed(draw, lambda name: name + suffix)


def _renamed(draw: Drawing, rename: Callable[[str], str]) -> Files | None:
    path = draw.path(frozenset({"offsets", "commits", "source log", "delta", "zip"}))
    if path is None:
        return None
    folder, _, name = path.rpartition("/")
    renamed = f"{folder}/{rename(name)}"
    moved = {**draw.without(path), renamed: draw.files[path]}
    if side_of(path) in draw.files and draw.random.random() < 0.5:
        moved[side_of(renamed)] = draw.files[side_of(path)]
    return moved


def left_over_temporary(draw: Drawing) -> Files | None:
    """Leave the temporary file of a killed writer."""
    path = draw.path()
    if path is None:
        return None
    folder, slash, name = path.rpartition("/")
    half = draw.files[path][: draw.position(draw.files[path])]
    return draw.changed(f"{folder}{slash}.{name}.{_UUID}.tmp", half)


def left_over_checksum(draw: Drawing) -> Files | None:
    """Leave the checksum of an entry that is not there, often in the way of the next one."""
    log = draw.log()
    ids = draw.ids(log)
    ahead = draw.random.choice((1, 1, 2, 9))
    side = b"crc\0\0\0\2\0" + draw.random.randbytes(4)
    return draw.changed(f"{log}/.{(ids[-1] if ids else -1) + ahead}.crc", side)


def damaged_checksum(draw: Drawing) -> Files | None:
    """Damage Hadoop's checksum instead of the file."""
    sides = sorted(path for path in draw.files if is_hadoop_side(path))
    if not sides:
        return None
    path = draw.random.choice(sides)
    data = draw.files[path]
    at = draw.position(data)
    choices = (b"", data[:at], bytes(len(data)), draw.random.randbytes(len(data)))
    return draw.changed(path, draw.random.choice(choices))


def numeric_folder(draw: Drawing) -> Files | None:
    """Make a folder that is named like a batch."""
    log = draw.log()
    ids = draw.ids(log)
    number = (ids[-1] if ids else -1) + draw.random.choice((1, 2, 50))
    inside = draw.random.choice(("", "part-0"))
    return draw.changed(f"{log}/{number}/{inside}", b"")


def empty_folder(draw: Drawing) -> Files | None:
    """Make an empty folder somewhere."""
    parents = sorted({path.rpartition("/")[0] for path in draw.files if "/" in path})
    parent = draw.random.choice(["", *parents])
    return draw.changed(f"{parent}/empty/".lstrip("/"), b"")


def remove_folder(draw: Drawing) -> Files | None:
    """Remove a whole folder: a log, the sources, the state, an operator, a partition."""
    parts = [path.split("/") for path in draw.files]
    folders = {path[0] for path in parts if len(path) > 1}
    folders |= {"/".join(path[:2]) for path in parts if len(path) > 2}
    folders |= {"/".join(path[:3]) for path in parts if len(path) > 3 and path[0] == "state"}
    if not folders:
        return None
    folder = draw.random.choice(sorted(folders))
    kept = {path: data for path, data in draw.files.items() if not path.startswith(f"{folder}/")}
    return {**kept, f"{folder}/": b""} if draw.random.random() < 0.3 else kept


def empty_log(draw: Drawing) -> Files | None:
    """Remove every entry of one of the two logs and keep the folder."""
    log = draw.log()
    kept = {path: data for path, data in draw.files.items() if not path.startswith(f"{log}/")}
    return {**kept, f"{log}/": b""} if len(kept) < len(draw.files) else None


def foreign_files(draw: Drawing) -> Files | None:
    """Put files at the root that are no part of a checkpoint."""
    names = ("_SUCCESS", "part-00000.parquet", "README", "data/part-0", "_spark_metadata/0")
    return draw.changed(draw.random.choice(names), draw.random.randbytes(20))


FILE_OPERATORS: tuple[Operator, ...] = (
    swap_contents,
    foreign_content,
    other_kind,
    copy_over_next,
    remove_file,
    remove_file_and_checksum,
    future_entry,
    duplicate_entry,
    future_source_entry,
    future_state,
    rename_padded,
    rename_suffixed,
    left_over_temporary,
    left_over_checksum,
    damaged_checksum,
    numeric_folder,
    empty_folder,
    remove_folder,
    empty_log,
    foreign_files,
)
