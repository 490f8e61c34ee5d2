"""HF10xx usage, HF11xx the project file."""

from __future__ import annotations

from holdfast.codes.code import Code

PROJECT_CODES: tuple[Code, ...] = (
    Code(
        "HF1001",
        "the command line is not understood",
        "nothing was done",
        ("holdfast --help",),
        exit_status=2,
    ),
    Code(
        "HF1002",
        "the target is neither a job of the project nor a place that exists",
        "nothing was read",
        ("give a job's name from holdfast.yaml, or the path or URL of a checkpoint",),
        exit_status=2,
    ),
    Code(
        "HF1003",
        "Holdfast failed in a way that nobody foresaw",
        "nothing was changed; the failure is a bug in Holdfast, not in the checkpoint",
        ("please report it with the command and the text above",),
        exit_status=1,
    ),
    Code(
        "HF1101",
        "the project file can't be found or read",
        "jobs and storage settings come from it",
        ("give it with --project FILE, or work in the project's folder",),
        exit_status=10,
    ),
    Code(
        "HF1102",
        "the project file is not YAML",
        "nothing in it was used",
        ("mend the line that the message names",),
        exit_status=10,
    ),
    Code(
        "HF1103",
        "the project file has a key that is not known",
        "an ignored key is a setting that silently does nothing",
        ("use the key that the message names, or remove it",),
        exit_status=10,
    ),
    Code(
        "HF1104",
        "a value in the project file is of the wrong kind",
        "nothing in the file was used",
        ("write the value as the message says",),
        exit_status=10,
    ),
    Code(
        "HF1105",
        "the project file lacks something required",
        "nothing in the file was used",
        ("add the key that the message names",),
        exit_status=10,
    ),
    Code(
        "HF1106",
        "a key stands twice in the project file",
        "YAML readers would silently keep only one of them",
        ("remove one of the two",),
        exit_status=10,
    ),
    Code(
        "HF1107",
        "a ${…} in the project file can't be filled in",
        "an empty secret or path would reach the wrong place",
        ("set the environment variable or create the file that the message names",),
        exit_status=10,
    ),
    Code(
        "HF1108",
        "a checkpoint path could change between starts",
        "a job whose path changes starts from zero, and duplicates or loses data",
        ("write the path as a fixed text",),
        exit_status=10,
    ),
    Code(
        "HF1109",
        "two jobs have one checkpoint",
        "two queries on one checkpoint overwrite each other's batches; rows are lost or doubled",
        ("give each job a checkpoint of its own",),
        exit_status=10,
    ),
)
