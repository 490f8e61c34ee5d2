"""Follows steps that need no start: the checkpoint is put back, and must be what it was.

A checkpoint that is byte-identical to what Spark wrote goes on as that one did: the restarts of the
undamaged bases are recorded in tests/restarts.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from holdfast import library
from holdfast.errors import HoldfastError
from tests.advice.bench import aged
from tests.restarts.archive import read_folder, write_folder
from tests.restarts.edits import Files

CHECKPOINT, OUTPUT = "checkpoint", "output"
_RESTORING = re.compile(r"\b(?:put|restore)\b.*\bbackup\b")
_REFUSED = {"HF4503", "HF4504", "HF7013"}
"""What is there is readable, of another query, or no plain file: a person has to look first."""


def restoring_step(step: str) -> bool:
    """Tell whether a step puts files of a checkpoint back from a backup."""
    return bool(_RESTORING.search(step)) and "_spark_metadata" not in step


@dataclass
class Damaged:
    """A real checkpoint on disk that was backed up and then damaged."""

    folder: Path
    before: Files

    @classmethod
    def made(cls, folder: Path, before: Files, after: Files) -> Damaged:
        """Write the checkpoint, back it up with `holdfast backup`, damage it."""
        one = cls(folder, before)
        one._write(before)
        library.back_up(str(one.checkpoint))
        shutil.rmtree(one.checkpoint)
        shutil.rmtree(one.output, ignore_errors=True)
        one._write(after)
        return one

    @property
    def checkpoint(self) -> Path:
        """Where it is."""
        return self.folder / CHECKPOINT

    @property
    def output(self) -> Path:
        """Where the output of its file sink is, which only some have."""
        return self.folder / OUTPUT

    def reported(self) -> set[str]:
        """Return the codes that `holdfast doctor --verify` reports."""
        sink = str(self.output) if self.output.is_dir() else None
        return {
            one.code
            for one in library.doctor(str(self.checkpoint), sink=sink, verify=True).findings
        }

    def restore(self) -> None:
        """Put the checkpoint back with `holdfast restore`; refused, each file of it by hand.

        A refusal asks to restore to another place and to compare; what is there then is copied.
        """
        try:
            library.restore(f"{self.checkpoint}@newest")
        except HoldfastError as error:
            if error.code.number not in _REFUSED:
                raise
            elsewhere = self.folder / "elsewhere"
            library.restore(f"{self.checkpoint}@newest", to=str(elsewhere))
            self._copy_from(elsewhere)

    def _copy_from(self, elsewhere: Path) -> None:
        for source in elsewhere.rglob("*"):
            target = self.checkpoint / source.relative_to(elsewhere)
            if source.is_file():
                if target.is_dir():
                    target.rmdir()
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)

    def is_as_before(self) -> bool:
        """Tell whether every byte of the checkpoint is what Spark wrote."""
        inside = {path: data for path, data in self.before.items() if not path.startswith("../")}
        return read_folder(self.checkpoint, self.folder / "no-output") == inside

    def _write(self, files: Files) -> None:
        write_folder(files, self.checkpoint, self.output)
        aged(self.checkpoint)
