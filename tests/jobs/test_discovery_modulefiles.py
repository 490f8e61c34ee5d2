"""Which file a module is."""

from __future__ import annotations

from pathlib import Path

from holdfast.jobs.discovery import module_file


def test_a_module_is_a_file_or_a_package(tmp_path: Path) -> None:
    """A package comes before a file of its name, as Python has it."""
    (tmp_path / "steps").mkdir()
    for name in ("steps/__init__.py", "steps/late.py", "pipeline.py"):
        (tmp_path / name).touch()
    assert module_file(tmp_path, "steps") == tmp_path / "steps/__init__.py"
    assert module_file(tmp_path, "steps.late") == tmp_path / "steps/late.py"
    assert module_file(tmp_path, "pipeline") == tmp_path / "pipeline.py"
    assert module_file(tmp_path, "absent") is None
