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
        "HF1005",
        "the output file exists",
        "nothing was written: an existing file is never replaced unless you say so",
        ("give another file name, or add --force to replace the file",),
        exit_status=2,
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
    Code(
        "HF1110",
        "a setting of one job can't differ from job to job",
        "Spark reads it once, when the session starts: for one job alone it would be refused or "
        "silently do nothing",
        ("write it under spark.conf, where it counts for every job, or remove it",),
        exit_status=10,
    ),
    Code(
        "HF1111",
        "two jobs write one place",
        "what one writes the other would overwrite, vacuum or clear, and a reset of one would take "
        "the rows of both",
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
        "a checkpoint lies inside of another place, or around one",
        "whatever clears, vacuums, lists or moves the one would damage the other",
        ("give checkpoints a folder of their own, apart from sources and outputs",),
        exit_status=10,
    ),
    Code(
        "HF1114",
        "a job's checkpoint is not where it was",
        "at another path Spark finds no offsets: the job would read everything again, and rows "
        "that are delivered already would be delivered twice",
        (
            "put the old path back into the project file",
            "if the place was moved by hand, move it back: a checkpoint is moved by a plan",
        ),
        exit_status=10,
    ),
    Code(
        "HF1115",
        "a path looks as if it were another one at each start",
        "a job whose checkpoint is at a new path starts from zero, and duplicates or loses data",
        ("write a fixed path, or accept this one by the name that the message gives",),
        exit_status=10,
    ),
    Code(
        "HF1116",
        "the list of the jobs' checkpoints can't be read",
        "it tells whether a job's checkpoint is where it was at the last start",
        ("put .holdfast/checkpoints.json back from version control",),
        exit_status=10,
    ),
    Code(
        "HF1117",
        "jobs read from each other in a circle",
        "none of them can be run before the others",
        ("write to another place in one of the jobs that the message names",),
        exit_status=10,
    ),
    Code(
        "HF1118",
        "the checkpoint belongs to another job",
        "its records say so; with another job's sources or sink its batches would be lost or "
        "doubled",
        (
            "give this job a checkpoint of its own",
            "if the job was only renamed, give it its old name again",
        ),
        exit_status=10,
    ),
    Code(
        "HF1119",
        "files of a new project are there already",
        "nothing was written",
        ("give an empty folder: holdfast init DIR",),
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
        "a profile is laid over declared jobs; a job of another name would silently not be changed",
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
