"""Which URL schemes name which storage, and what to do about those that can't be read from here."""

from __future__ import annotations

from collections.abc import Mapping

SCHEMES: Mapping[str, str] = {
    "file": "file",
    "local": "file",
    "s3": "s3",
    "s3a": "s3",
    "s3n": "s3",
    "gs": "gs",
    "gcs": "gs",
    "abfs": "abfs",
    "abfss": "abfs",
    "az": "abfs",
    "wasb": "abfs",
    "wasbs": "abfs",
    "hdfs": "hdfs",
    "webhdfs": "webhdfs",
    "swebhdfs": "webhdfs",
    "memory": "memory",
}
"""Every spelling that Holdfast itself understands, with the one name that it uses."""

OBJECT_STORES = frozenset({"s3", "gs", "abfs", "memory"})
"""Storages that list everything below a prefix by one question."""

_S3_COMPATIBLE = "give it as s3://bucket/path with --storage-option endpoint=<the S3 endpoint>"

HADOOP_ONLY: Mapping[str, str] = {
    "viewfs": "give the hdfs:// or s3a:// URL that the mount table (fs.viewfs.mounttable.*) names",
    "o3fs": "give it through Ozone's S3 gateway: s3://bucket/path with "
    "--storage-option endpoint=http://<gateway>:9878",
    "ofs": "give it through Ozone's S3 gateway: s3://bucket/path with "
    "--storage-option endpoint=http://<gateway>:9878",
    "oss": _S3_COMPATIBLE,
    "cos": _S3_COMPATIBLE,
    "cosn": _S3_COMPATIBLE,
    "obs": _S3_COMPATIBLE,
    "bos": _S3_COMPATIBLE,
    "tos": _S3_COMPATIBLE,
    "ks3": _S3_COMPATIBLE,
    "swift": "mount it or copy the checkpoint to a folder, and give that",
    "har": "unpack the archive to a folder, and give that",
    "alluxio": "give the URL of the storage that Alluxio has mounted there",
    "maprfs": "give the folder under /mapr where the cluster is mounted",
    "adl": "Data Lake Gen1 is retired: give the abfss:// URL that the data moved to",
}
"""Schemes that Hadoop reads through its own libraries, with what to do in their place."""

_COPYING = {"simplecache", "filecache", "blockcache", "cached"}
_WRAPPING = {"reference", "dir", "generic", "asyncwrapper", "async_wrapper", "asynclocal", "dask"}
_CONTAINED = {"data", "zip", "tar", "libarchive"}
WRAPPERS = frozenset(_COPYING | _WRAPPING | _CONTAINED)
"""fsspec schemes that are no place of their own: some of them would write copies to this disk."""


def fsspec_schemes() -> frozenset[str]:
    """Name every scheme that the installed fsspec knows and that is a place of its own."""
    from fsspec import available_protocols

    return frozenset(available_protocols()) - WRAPPERS
