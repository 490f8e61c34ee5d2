"""The models of `spark:` and `storage:`: how Spark is started, and how places are reached."""

from __future__ import annotations

from holdfast.jobs.declaration import Declaration, SparkText, Text


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
