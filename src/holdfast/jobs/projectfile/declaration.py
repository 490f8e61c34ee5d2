"""What all parts of a project file have in common, and the models of `spark:` and `storage:`."""

from __future__ import annotations

from typing import Annotated, NoReturn

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    JsonValue,
    StringConstraints,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError


class Declaration(BaseModel):
    """A mapping in the project file: no unknown keys, no values that are quietly converted."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def refuse(code: str, key: str, message: str) -> NoReturn:
    """Stop a rule across several keys; `key` is the one that the problem is shown at."""
    raise PydanticCustomError("rule", "rule", {"code": code, "key": key, "message": message})


def _as_spark_writes_it(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value


def _whole_number(value: object) -> int:
    # The file's numbers arrive as they are written.
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    refuse("HF1104", "", "a whole number such as 10 is required")


def _no_number(path: str) -> str:
    # The file's numbers arrive as texts, and would become folders of that name.
    if path.replace(".", "", 1).isdigit():
        refuse("HF1104", "", f"a path is required; write ./{path} for a directory of that name")
    return path


NAMES_ONLY: dict[str, JsonValue] = {"additionalProperties": False}
"""For the JSON Schema of a mapping whose keys have a form: pydantic leaves it open there."""

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*$")]
"""The name of a project or a job: it becomes a part of a path and of a URL."""

ViewName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
"""The name of one of several sources: SQL sees a view with this name."""

Function = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.]*:[A-Za-z_][A-Za-z0-9_]*$")
]
"""`module:function` in the project's folder."""

Count = Annotated[
    int,
    BeforeValidator(_whole_number),
    WithJsonSchema({"type": "integer", "minimum": 0}),
]
"""A whole number, zero or more."""

Text = Annotated[str, StringConstraints(min_length=1)]

PathText = Annotated[Text, AfterValidator(_no_number)]
"""A path or URL; a bare number is a mistake."""

SparkText = Annotated[
    str,
    BeforeValidator(_as_spark_writes_it),
    WithJsonSchema({"type": ["string", "number", "boolean"]}),
]
"""A setting or option: whatever scalar was written, as the text that Spark gets."""


class Spark(Declaration):
    """How Spark is started for the jobs of this project."""

    master: Text = "local[*]"
    conf: dict[str, SparkText] = {}
    jars: tuple[Text, ...] = ()


class S3(Declaration):
    """Amazon S3 and whatever speaks its protocol."""

    endpoint: Text | None = None
    region: Text | None = None
    path_style: bool | None = None
    profile: Text | None = None
    key: Text | None = None
    secret: Text | None = None
    token: Text | None = None
    anonymous: bool | None = None
    ssl: bool | None = None
    requester_pays: bool | None = None


class Hdfs(Declaration):
    """Hadoop's own file system, through WebHDFS or the native library."""

    webhdfs: Text | None = None
    user: Text | None = None
    password: Text | None = None
    token: Text | None = None
    kerberos: bool | None = None
    ticket: Text | None = None


class Gcs(Declaration):
    """Google Cloud Storage."""

    credentials: Text | None = None
    project: Text | None = None
    endpoint: Text | None = None
    token: Text | None = None
    anonymous: bool | None = None
    requester_pays: bool | None = None


class Azure(Declaration):
    """Azure Data Lake Storage Gen2 and Blob Storage."""

    account: Text | None = None
    endpoint: Text | None = None
    key: Text | None = None
    sas_token: Text | None = None
    connection_string: Text | None = None
    tenant_id: Text | None = None
    client_id: Text | None = None
    client_secret: Text | None = None
    anonymous: bool | None = None


class Storage(Declaration):
    """One place for both: the readers use it, and Spark's fs.* settings are derived from it."""

    s3: S3 = S3()
    hdfs: Hdfs = Hdfs()
    gcs: Gcs = Gcs()
    azure: Azure = Azure()
