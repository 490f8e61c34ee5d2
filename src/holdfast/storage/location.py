"""Understands every way to write where a place is, and shows it to people without secrets.

Remote paths are normalised as Hadoop's own `Path` does (no empty, `.` or `..` parts, no trailing
slash) and, like there, `%` is a plain character: the text means the place that Spark would use.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.errors import NotFoundError, StorageError
from holdfast.wording import nearest


def inner_path(path: str, at: str) -> str:
    """Return the path; refuse one that is absolute, empty, or leaves the root."""
    parts = path.split("/")
    if "" in parts or "." in parts or ".." in parts or "\0" in path or _is_foreign(path):
        raise StorageError("HF7013", "this path does not name a file in the checkpoint", at=at)
    return path


def _is_foreign(path: str) -> bool:
    return os.sep != "/" and (os.sep in path or ":" in path)


_PAIR_VALUE = re.compile(r"([?&#;][^=&#?;/]*=)[^&#;]*")
# A password may hold a slash, so user:password is looked for before the first part of the path.
_USER_INFO = re.compile(r"^([A-Za-z][A-Za-z0-9+.\-]*:/*)(?:[^/@:]*:(?!\d{1,5}(?:/|$))[^@]*|[^/]*)@")


def shown_path(path: str) -> str:
    """Spell a path so that it can be printed: odd bytes and control characters as escapes."""
    if path.isprintable() and "\\" not in path:
        return path
    return "".join(map(_shown_character, path))


def place_within(location: str, path: str) -> str:
    """Spell a path below a location that is fit to be shown already."""
    return f"{location.rstrip('/')}/{shown_path(path)}" if path else location


def shown_url(url: str, *, container: bool = False) -> str:
    """Spell a URL without user info and without the values of its query.

    With `container`, what stands before the @ is Azure's name of the container and stays.
    """
    if not container:
        url = _USER_INFO.sub(r"\1", url)
    return shown_path(_PAIR_VALUE.sub(r"\1***", url))


def is_there(path: Path) -> bool:
    """Return whether something is at a local path; nothing can be where a name is too long."""
    try:
        return path.exists()
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    """Return whether a local path is a directory that can be seen."""
    return is_there(path) and path.is_dir()


def _shown_character(character: str) -> str:
    number = ord(character)
    if 0xDC80 <= number <= 0xDCFF:
        return f"\\x{number - 0xDC00:02x}"
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")


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
    "o3fs": "use Ozone's S3 gateway: s3://bucket/path with "
    "--storage-option endpoint=http://<gateway>:9878",
    "ofs": "use Ozone's S3 gateway: s3://bucket/path with "
    "--storage-option endpoint=http://<gateway>:9878",
    "oss": _S3_COMPATIBLE,
    "cos": _S3_COMPATIBLE,
    "cosn": _S3_COMPATIBLE,
    "obs": _S3_COMPATIBLE,
    "bos": _S3_COMPATIBLE,
    "tos": _S3_COMPATIBLE,
    "ks3": _S3_COMPATIBLE,
    "swift": "mount it or copy the checkpoint to a directory, and give that directory",
    "har": "unpack the archive to a directory, and give that directory",
    "alluxio": "give the URL of the storage that Alluxio has mounted there",
    "maprfs": "give the directory under /mapr where the cluster is mounted",
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


_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]+):(?P<slashes>/*)(?P<rest>.*)", re.DOTALL)
_DRIVE = re.compile(r"[A-Za-z]:[\\/]|\\\\")
_NEED_HOST = frozenset({"s3", "gs", "abfs", "webhdfs"})
_HOST_OPTIONAL = frozenset({"file", "hdfs", "memory"})


@dataclass(frozen=True)
class Location:
    """One place: as written, which storage it is, what to open, and how to show it."""

    text: str = field(repr=False)
    scheme: str
    """`file`, `s3`, `gs`, `abfs`, `hdfs`, `webhdfs`, `memory`, or another of fsspec's."""
    url: str = field(repr=False)
    """An absolute path for `file`; else a normalised URL."""
    shown: str
    """For people: no user info, no values of a query, nothing that a terminal would obey."""

    @property
    def is_local(self) -> bool:
        """Whether the bytes are on this machine's own file system."""
        return self.scheme == "file"


def parse_location(text: str, *, relative_to: Path | None = None) -> Location:
    """Understand a path or URL; a relative path counts from `relative_to`, else from here."""
    if not text.strip() or "\0" in text:
        raise _unreadable(
            text, "it is empty" if not text.strip() else "it contains a NUL character"
        )
    if _DRIVE.match(text):
        return _windows_path(text)
    match = _URL.fullmatch(text)
    if match is None:
        return _local_path(text, relative_to)
    scheme, slashes, rest = match["scheme"].lower(), len(match["slashes"]), match["rest"]
    if scheme == "dbfs":
        raise _dbfs_refusal(text, "/" * slashes + rest)
    if slashes == 0 and scheme != "file":
        if "://" in rest:
            raise _chained_refusal(text)
        return _local_path(text, relative_to)
    return _url_location(text, scheme, slashes, rest)


def _url_location(text: str, written: str, slashes: int, rest: str) -> Location:
    scheme = _known_scheme(text, written)
    if slashes < 2 and scheme not in _HOST_OPTIONAL:
        raise _unreadable(text, f"a slash is missing after {written}:", f"write {written}://…")
    host, path = _host_and_path(slashes, rest)
    if scheme == "file":
        return _file_url(text, host, path)
    if scheme == "memory" and host:
        host, path = "", f"/{host}{path}"
    if scheme in _NEED_HOST and not host:
        what = "host" if scheme == "webhdfs" else "bucket or container"
        raise _unreadable(text, f"it has no {what}", f"write {written}://<{what}>/<path>")
    if scheme in ("s3", "gs") and ("@" in host or ":" in host):
        bare = f"{written}://***"
        raise _unreadable(bare, "its bucket contains credentials", "give them as storage options")
    if scheme not in SCHEMES.values():
        url = scheme + text[len(scheme) :]
        return Location(text, scheme, url, _trimmed(shown_url(text)))
    spelled = "swebhdfs" if written == "swebhdfs" else scheme
    url = f"{spelled}://{_azure_host(text, host) if scheme == 'abfs' else host}{_clean(path)}"
    return Location(text, scheme, url, _trimmed(shown_url(text, container=scheme == "abfs")))


def _host_and_path(slashes: int, rest: str) -> tuple[str, str]:
    """Split what follows the scheme; three slashes, or one, mean that no host is named."""
    if slashes != 2:
        return "", "/" + rest if slashes else rest
    host, slash, path = rest.partition("/")
    return host, slash + path


def _clean(path: str) -> str:
    """Drop empty, `.` and `..` parts and the trailing slash, as Hadoop's Path does."""
    cleaned = posixpath.normpath("/" + path.lstrip("/"))
    return "" if cleaned == "/" else cleaned


def _azure_host(text: str, host: str) -> str:
    """Bring `container@account.<any endpoint>` to one spelling; fsspec's own has no account."""
    container, at, account = host.partition("@")
    if at and not (container and account):
        raise _unreadable(text, "it requires both a container and an account")
    if at:
        account = account.replace(".blob.", ".dfs.", 1)
    return f"{container}{at}{account}"


def _file_url(text: str, host: str, path: str) -> Location:
    if host not in ("", "localhost") or not path.startswith("/"):
        why = f"it names another machine, {shown_path(host)}" if host else "its path is relative"
        raise _unreadable(text, why, "write file:///absolute/path, or the plain path")
    return Location(
        text, "file", os.path.normpath("/" + path.lstrip("/")), _trimmed(shown_path(text))
    )


def _trimmed(shown: str) -> str:
    """Drop slashes at the end; a root keeps them."""
    trimmed = shown.rstrip("/")
    return trimmed if trimmed and not trimmed.endswith(":") else shown


def _local_path(text: str, relative_to: Path | None) -> Location:
    if relative_to is None or Path(text).is_absolute():
        return Location(text, "file", _absolute(text), _trimmed(shown_path(text)))
    joined = _absolute(f"{relative_to}/{text}")
    return Location(text, "file", joined, shown_path(joined))


def _absolute(path: str) -> str:
    try:
        absolute = os.path.normpath(Path(path).absolute())
    except FileNotFoundError:
        message = "the working directory no longer exists"
        raise NotFoundError("HF7001", message, at=shown_path(path)) from None
    return absolute[1:] if absolute.startswith("//") and os.name == "posix" else absolute


def _windows_path(text: str) -> Location:
    if os.name == "nt":
        return _local_path(text, None)
    advice = "give the path where that directory is mounted on this machine, or run there"
    raise _unreadable(text, "it is a Windows path, and this machine is not Windows", advice)


def _known_scheme(text: str, scheme: str) -> str:
    if scheme in SCHEMES:
        return SCHEMES[scheme]
    if scheme in HADOOP_ONLY:
        message = f"{scheme}:// cannot be read without Hadoop's own libraries"
        raise StorageError("HF7003", message, at=shown_url(text), next_steps=(HADOOP_ONLY[scheme],))
    known = fsspec_schemes()
    if scheme in known:
        return scheme
    near = nearest(scheme, sorted(known | set(SCHEMES)))
    message = f"{scheme}: is not supported"
    message += f"; did you mean {near}:?" if near else ""
    raise StorageError("HF7003", message, at=shown_url(text))


def _dbfs_refusal(text: str, path: str) -> StorageError:
    mounted = "/dbfs/" + path.lstrip("/")
    advice = (
        f"give {shown_path(mounted)}, which is that place on this machine"
        if Path("/dbfs").is_dir()
        else "give the storage's own URL (s3://, abfss:// or gs://) behind it; "
        "the mount's source is shown by dbutils.fs.mounts() there"
    )
    return _unreadable(text, "dbfs: exists only inside Databricks", advice)


def _chained_refusal(text: str) -> StorageError:
    message = "chained URLs are not supported: they would copy the checkpoint to this disk first"
    advice = "give only the last part of the chain"
    return StorageError("HF7003", message, at=shown_url(text), next_steps=(advice,))


def _unreadable(text: str, why: str, advice: str | None = None) -> StorageError:
    steps = None if advice is None else (advice,)
    message = f"this location cannot be read from here: {why}"
    return StorageError("HF7005", message, at=shown_url(text), next_steps=steps)


_NAMENODE_PORT = ":8020"


def canonical(location: Location) -> str:
    """Spell the place as every other spelling of it would be: without links, case, user, query."""
    if location.is_local:
        return "file://" + os.path.realpath(location.url)
    scheme, _, rest = location.url.partition("://")
    host, slash, path = rest.partition("/")
    host = host.lower()
    if location.scheme != "abfs":
        host = host.rpartition("@")[2]
    if location.scheme == "hdfs":
        host = host.removesuffix(_NAMENODE_PORT)
    if location.scheme not in SCHEMES:
        path = path.partition("?")[0]
    return f"{scheme}://{host}{slash}{path}".rstrip("/")
