"""The files that a module is made of, by its import statements."""

from __future__ import annotations

from pathlib import Path

from holdfast.jobs.discovery import module_file
from holdfast.spark.query.usercode import digests_of, module_names

FILES = {
    "pipeline.py": "import os, steps.first\nfrom constants import LIMIT\n",
    "constants.py": "LIMIT = 3\n",
    "steps/__init__.py": "",
    "steps/first.py": "from . import second\nfrom .deep import inner\n",
    "steps/second.py": "def f():\n    import late\n",
    "steps/deep/__init__.py": "from ..third import x\n",
    "steps/deep/inner.py": "import pipeline\n",
    "steps/third.py": "x = 1\n",
    "steps/unused.py": "",
    "late.py": "def broken(:\n",
    "other.py": "import pipeline\n",
}


def project(folder: Path) -> Path:
    """Write a project with packages, a circle, and a file that does not parse."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_imports_are_followed_through_packages_and_circles(tmp_path: Path) -> None:
    """Relative ones, late ones and names of constants; not what nobody imports."""
    folder = project(tmp_path)
    assert [*digests_of(folder, folder / "pipeline.py")] == [
        "constants.py",
        "late.py",
        "pipeline.py",
        "steps/__init__.py",
        "steps/deep/__init__.py",
        "steps/deep/inner.py",
        "steps/first.py",
        "steps/second.py",
        "steps/third.py",
    ]


def test_a_file_elsewhere_stands_for_itself(tmp_path: Path) -> None:
    """What it imports is not the project's."""
    folder = project(tmp_path / "project")
    elsewhere = tmp_path / "program.py"
    elsewhere.write_text("import pipeline\n")
    assert [*digests_of(folder, elsewhere)] == ["program.py"]


def test_modules_are_found_by_name(tmp_path: Path) -> None:
    """Packages by their `__init__`."""
    folder = project(tmp_path)
    assert module_file(folder, "steps") == folder / "steps" / "__init__.py"
    assert module_file(folder, "steps.first") == folder / "steps" / "first.py"
    assert module_file(folder, "step") is None
    assert {"pipeline", "steps", "steps.first"} <= {*module_names(folder)}
