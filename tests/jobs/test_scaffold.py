"""A new project: it loads, its parts fit, and it is written whole or not at all."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from holdfast.errors import HoldfastError, ProjectError
from holdfast.jobs.discovery import load_project
from holdfast.jobs.lineage import Lineage
from holdfast.jobs.ownership import check_paths
from holdfast.jobs.projectfile.model import project_schema
from holdfast.jobs.ready import FunctionReference
from holdfast.jobs.readying import ready_job
from holdfast.jobs.scaffold import SCHEMA_FILE, write_project, write_schema
from holdfast.storage.localwriter import LocalWriter

FILES = {
    ".gitignore",
    SCHEMA_FILE,
    "data/orders/orders-1.json",
    "data/orders/orders-2.json",
    "holdfast.yaml",
    "pipeline.py",
}


def files_in(folder: Path) -> set[str]:
    return {one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.is_file()}


def test_the_project_loads_and_its_jobs_are_in_nobodys_way(tmp_path: Path) -> None:
    answer = write_project(tmp_path / "My Shop")
    assert {*answer.result.files} == files_in(tmp_path / "My Shop") == FILES
    project = load_project(tmp_path / "My Shop" / "holdfast.yaml")
    assert (answer.result.project, project.project) == ("my-shop", "my-shop")
    jobs = [ready_job(project, name) for name in reversed(project.jobs)]
    check_paths(jobs)
    assert Lineage.from_jobs(jobs).order() == ("orders", "customer-totals")


def test_every_transform_is_a_function_of_the_pipeline(tmp_path: Path) -> None:
    write_project(tmp_path)
    tree = ast.parse((tmp_path / "pipeline.py").read_text())
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    project = load_project(tmp_path / "holdfast.yaml")
    for name in project.jobs:
        transform = ready_job(project, name).transform
        assert isinstance(transform, FunctionReference)
        assert transform.module == "pipeline"
        assert transform.name in functions


def test_the_data_is_there_and_fits_the_schema(tmp_path: Path) -> None:
    write_project(tmp_path)
    source = ready_job(load_project(tmp_path / "holdfast.yaml"), "orders").sources[0]
    columns = {one.split()[0] for one in (source.schema or "").split(",")}
    rows = [
        json.loads(line)
        for file in Path(source.path or "").iterdir()
        for line in file.read_text().splitlines()
    ]
    assert len(rows) == 7
    assert all({*row} == columns for row in rows)


def test_editors_find_a_schema_that_accepts_the_file(tmp_path: Path) -> None:
    write_project(tmp_path)
    text = (tmp_path / "holdfast.yaml").read_text()
    assert text.startswith(f"# yaml-language-server: $schema={SCHEMA_FILE}\n")
    schema = json.loads((tmp_path / SCHEMA_FILE).read_text())
    assert schema == project_schema()
    assert Draft202012Validator(schema).is_valid(yaml.safe_load(text))


@pytest.mark.parametrize(
    ("folder", "name"),
    [("Sensors_2", "sensors-2"), ("2024", "project-2024"), ("---", "project"), ("ünï", "n")],
)
def test_the_name_follows_the_folders(folder: str, name: str, tmp_path: Path) -> None:
    assert write_project(tmp_path / folder).result.project == name
    load_project(tmp_path / folder / "holdfast.yaml")


def test_the_next_step_leads_into_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert write_project(tmp_path / "a b").next_steps[0] == f"cd '{tmp_path}/a b' && holdfast run"
    (tmp_path / "c").mkdir()
    monkeypatch.chdir(tmp_path / "c")
    assert write_project(Path()).next_steps[0] == "holdfast run"


@pytest.mark.parametrize("file", sorted(FILES - {".gitignore"}))
def test_where_a_file_is_there_nothing_is_written(file: str, tmp_path: Path) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text("mine")
    with pytest.raises(ProjectError, match=f"already exists: {file}") as raised:
        write_project(tmp_path)
    assert raised.value.code.number == "HF1119"
    assert files_in(tmp_path) == {file}
    assert (tmp_path / file).read_text() == "mine"


def test_a_broken_link_counts_as_there(tmp_path: Path) -> None:
    (tmp_path / "pipeline.py").symlink_to("nowhere")
    with pytest.raises(ProjectError, match=r"pipeline\.py"):
        write_project(tmp_path)


def test_a_gitignore_is_kept(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("mine\n")
    answer = write_project(tmp_path)
    assert answer.result.kept == (".gitignore",)
    assert (tmp_path / ".gitignore").read_text() == "mine\n"
    assert files_in(tmp_path) == FILES


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(ProjectError, match="a file, not a directory") as raised:
        write_project(tmp_path / "x")
    assert raised.value.code.number == "HF1119"


@pytest.mark.parametrize("written", range(6))
def test_a_failure_half_way_takes_everything_back(
    written: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the disk is full, after any number of files."""
    create, left = LocalWriter.create, iter(range(written))

    def failing(writer: LocalWriter, path: str, chunks: Iterable[bytes]) -> bool:
        if next(left, None) is None:
            raise HoldfastError("HF7015", "the disk is full")
        return create(writer, path, chunks)

    (tmp_path / "mine").write_text("")
    monkeypatch.setattr(LocalWriter, "create", failing)
    with pytest.raises(HoldfastError, match="full"):
        write_project(tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["mine"]


def test_a_file_that_appears_meanwhile_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = LocalWriter.create

    def racing(writer: LocalWriter, path: str, chunks: Iterable[bytes]) -> bool:
        if path == "pipeline.py":
            (tmp_path / path).write_text("theirs")
        return create(writer, path, chunks)

    monkeypatch.setattr(LocalWriter, "create", racing)
    with pytest.raises(ProjectError, match=r"already exists: pipeline\.py"):
        write_project(tmp_path)
    assert files_in(tmp_path) == {"pipeline.py"}
    assert (tmp_path / "pipeline.py").read_text() == "theirs"


def test_the_schema_alone_is_written_anew(tmp_path: Path) -> None:
    (tmp_path / ".holdfast").mkdir()
    (tmp_path / SCHEMA_FILE).write_text("old")
    answer = write_schema(tmp_path)
    assert json.loads((tmp_path / SCHEMA_FILE).read_text()) == project_schema()
    assert (answer.result.project, answer.result.files) == (None, (SCHEMA_FILE,))
    assert files_in(tmp_path) == {SCHEMA_FILE}
