"""HF10xx usage, metrics and `explain`, HF11xx the project file."""

from __future__ import annotations

from holdfast.codes.code import Code
from holdfast.wording import pip_line

PROJECT_CODES: tuple[Code, ...] = (
    Code(
        "HF1001",
        "the command line is not valid",
        "nothing was done",
        ("holdfast --help",),
        exit_status=2,
    ),
    Code(
        "HF1002",
        "the target is neither a job of the project nor an existing path",
        "nothing was read",
        ("give a job's name from holdfast.yaml, or the path or URL of a checkpoint",),
        exit_status=2,
    ),
    Code(
        "HF1003",
        "internal error",
        "nothing was changed; the cause is a bug in Holdfast, not the checkpoint",
        ("please report it with the command and the text above",),
        exit_status=1,
    ),
    Code(
        "HF1005",
        "the output file exists",
        "nothing was written: an existing file is replaced only with --force",
        ("give another file name, or add --force to replace the file",),
        exit_status=2,
    ),
    Code(
        "HF1006",
        "nothing can be created at the given path",
        "nothing was written",
        ("give a path in a directory that exists and can be written",),
        exit_status=2,
    ),
    Code(
        "HF1101",
        "the project file cannot be found or read",
        "jobs and storage settings come from it",
        ("give it with --project FILE, or work in the project's directory",),
        exit_status=10,
    ),
    Code(
        "HF1102",
        "the project file is not YAML",
        "nothing in it was used",
        ("fix the line shown",),
        exit_status=10,
    ),
    Code(
        "HF1103",
        "the project file has an unknown key",
        "an ignored key is a setting that silently does nothing",
        ("use the key that the message names, or remove it",),
        exit_status=10,
    ),
    Code(
        "HF1104",
        "a value in the project file has the wrong type",
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
        "duplicate key in the project file",
        "YAML readers would silently keep only one of them",
        ("remove one of the two",),
        exit_status=10,
    ),
    Code(
        "HF1107",
        "a ${…} in the project file cannot be resolved",
        "an empty secret or path would point to the wrong place",
        ("set the environment variable or create the file that the message names",),
        exit_status=10,
    ),
    Code(
        "HF1108",
        "a checkpoint path could change between starts",
        "a job whose path changes starts from the beginning, and duplicates or loses data",
        ("write the path as a fixed string",),
        exit_status=10,
    ),
    Code(
        "HF1109",
        "two jobs have one checkpoint",
        "two queries on one checkpoint overwrite each other's batches; rows are lost or duplicated",
        ("give each job a checkpoint of its own",),
        exit_status=10,
    ),
    Code(
        "HF1110",
        "this setting cannot differ between jobs",
        "Spark reads it once, when the session starts: set for one job alone, it would be "
        "refused or silently ignored",
        ("write it under spark.conf, where it applies to every job, or remove it",),
        exit_status=10,
    ),
    Code(
        "HF1111",
        "two jobs write to the same place",
        "one job would overwrite, vacuum or clear the output of the other, and a reset of one "
        "would remove the rows of both",
        ("give each job an output of its own", "read several sources in one job to unite them"),
        exit_status=10,
    ),
    Code(
        "HF1112",
        "a job reads what it writes",
        "each batch would be the next one's input, and the job would never end",
        ("write to another place than the one that is read",),
        exit_status=10,
    ),
    Code(
        "HF1113",
        "a checkpoint is inside another place, or contains one",
        "a program that clears, vacuums, lists or moves one of them would damage the other",
        ("give checkpoints a directory of their own, apart from sources and outputs",),
        exit_status=10,
    ),
    Code(
        "HF1114",
        "a job's checkpoint is not where it was",
        "at another path Spark finds no offsets: the job would read everything again, and rows "
        "that are already delivered would be delivered twice",
        (
            "put the old path back into the project file",
            "if the place was moved by hand, move it back: a checkpoint is moved by a plan",
        ),
        exit_status=10,
    ),
    Code(
        "HF1115",
        "a path looks like it changes on every start",
        "a job whose checkpoint is at a new path starts from the beginning, and duplicates or "
        "loses data",
        ("write a fixed path, or accept this one by the name that the message gives",),
        exit_status=10,
    ),
    Code(
        "HF1116",
        "the list of the jobs' checkpoints cannot be read",
        "it records where each job's checkpoint was at the last start",
        ("put .holdfast/checkpoints.json back from version control",),
        exit_status=10,
    ),
    Code(
        "HF1117",
        "jobs read from each other in a cycle",
        "none of them can be run before the others",
        ("write to another place in one of the jobs that the message names",),
        exit_status=10,
    ),
    Code(
        "HF1118",
        "the checkpoint belongs to another job",
        "its records name another job; with the sources or sink of this one its batches would "
        "be lost or duplicated",
        (
            "give this job a checkpoint of its own",
            "if the job was only renamed, give it its old name again",
        ),
        exit_status=10,
    ),
    Code(
        "HF1119",
        "files of a new project already exist",
        "nothing was written",
        ("give an empty directory: holdfast init DIR",),
        exit_status=10,
    ),
    Code(
        "HF1125",
        "the project has no such profile",
        "a profile decides where data is and which Spark runs the jobs; no other one is used in "
        "its place",
        ("choose a profile that the project file declares: --profile NAME, or HOLDFAST_PROFILE",),
        exit_status=2,
    ),
    Code(
        "HF1126",
        "a profile changes a job that the project does not declare",
        "a profile overrides declared jobs; a job of another name would silently not be changed",
        ("use the name of a job under `jobs:`",),
        exit_status=10,
    ),
    Code(
        "HF1127",
        "one checkpoint has two sinks",
        "a checkpoint counts batches as delivered whichever sink got them: with the other profile "
        "those batches are skipped, and their rows are missing from that sink",
        (
            "give each profile checkpoints of its own: `profiles.NAME.checkpoints`, or "
            "`profiles.NAME.jobs.JOB.checkpoint` for an adopted one",
        ),
        exit_status=10,
    ),
)


METRICS_CODES: tuple[Code, ...] = (
    Code(
        "HF1021",
        "prometheus_client is not installed",
        "`run --metrics-port` and `status --metrics` use it; everything else works without it",
        (pip_line("metrics"),),
        exit_status=2,
    ),
    Code(
        "HF1022",
        "the metrics port cannot be opened",
        "no job was started: a run that you rely on metrics for would run unwatched",
        (
            "choose another port with --metrics-port N, or --metrics-port 0 for any free port",
            "if --metrics-host is given: use an address of this machine",
        ),
        exit_status=2,
    ),
    Code(
        "HF1023",
        "the metrics file cannot be written",
        "nothing was written; only an earlier metrics file of Holdfast is ever replaced",
        (
            "give a file whose name ends in .prom, in the directory that the node exporter reads "
            "(--collector.textfile.directory)",
        ),
        exit_status=2,
    ),
)


EXPLAINING_CODES: tuple[Code, ...] = (
    Code(
        "HF1004",
        "no page explains this error",
        "it has no Holdfast code, no error class and no message of Spark's streaming, state, "
        "sources or sinks. It may come from elsewhere, or the decisive part is missing",
        (
            "paste the whole error with every `Caused by`, best through a pipe: holdfast explain -",
            "holdfast inspect TARGET looks at the checkpoint itself, whatever the message says",
        ),
        exit_status=3,
    ),
)
