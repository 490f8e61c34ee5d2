"""A place to follow advice on real Spark: a trial's bench, with the commands that advice names."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast import library
from tests.diagnosis.doctor.trials.bench import CHECKPOINT, Bench

_YEARS_AGO = 1_577_836_800.0


@dataclass
class AdviceBench(Bench):
    """A bench that also asks the doctor, backs up and restores, as a user would."""

    reported: set[str] = field(default_factory=set)
    """Every code that the doctor reported in this situation."""

    def ask_doctor(
        self, *, sink: str | None = "out", checkpoint: str = CHECKPOINT, verify: bool = False
    ) -> None:
        """Run `holdfast doctor`, and keep the codes that it reports."""
        place = None if sink is None else str(self.folder / sink)
        answer = library.doctor(str(self.folder / checkpoint), sink=place, verify=verify)
        self.reported |= {one.code for one in answer.findings}

    def ask_doctor_of_both(self, *checkpoints: str) -> None:
        """Run `holdfast doctor` on several checkpoints at once."""
        answer = library.doctor(*(str(self.folder / one) for one in checkpoints))
        self.reported |= {one.code for one in answer.findings}

    def back_up(self, checkpoint: str = CHECKPOINT) -> None:
        """Run `holdfast backup`."""
        library.back_up(str(self.folder / checkpoint))

    def restore(self, *files: str, checkpoint: str = CHECKPOINT) -> None:
        """Run `holdfast restore`, as long after the last write as its refusal asks for."""
        place = self.folder / checkpoint
        aged(place)
        library.restore(f"{place}@newest", files=files)

    def restore_elsewhere(self, to: str, checkpoint: str = CHECKPOINT) -> None:
        """Run `holdfast restore --to`."""
        library.restore(f"{self.folder / checkpoint}@newest", to=str(self.folder / to))

    def keep(self, inside: str, under: str = "kept") -> None:
        """Keep a copy of a folder or file, as a backup of other tools would."""
        source, target = self.folder / inside, self.folder / under
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copy2(source, target)

    def put_back(self, inside: str, under: str = "kept") -> None:
        """Put a kept folder back as it was, in place of what is there."""
        shutil.rmtree(self.folder / inside, ignore_errors=True)
        shutil.copytree(self.folder / under, self.folder / inside)

    def failing(self, run: Any) -> None:
        """Start the query as it is now, which fails; nothing is judged yet."""
        delivered = self.delivered.copy()
        try:
            run()
        except Exception:  # noqa: BLE001  (the next start is the one that is judged)
            self.failure = None
            self.note = "a first start failed"
        else:
            raise AssertionError("this start was expected to fail")
        assert self.delivered >= delivered

    def sees(self, *outputs: str, form: str = "text") -> None:
        """Take what readers of several outputs see together as what was delivered."""
        total: Counter[str] = Counter()
        for out in outputs:
            self.read(form, out)
            total += self.delivered
        self.delivered = total


def aged(place: Path) -> None:
    """Make every file look as if nobody had written to it for years."""
    for path in place.rglob("*"):
        if path.is_file():
            os.utime(path, (_YEARS_AGO, _YEARS_AGO))
