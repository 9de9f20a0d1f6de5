"""Documents of the format by their path in a folder or in a bucket of an object store."""

from __future__ import annotations

import errno
import os
import secrets
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel

from proctor.common.atomic_write import sync_folder
from proctor.common.optional_packages import import_extra
from proctor.common.secrets import hide_secrets
from proctor.errors import StoreError
from proctor.files.eval_sets.save import save_model
from proctor.schema.serialize import to_adk_json


class ConcurrentWriteError(StoreError):
    """The document was changed by another writer after it was read; nothing was overwritten."""


class Documents(Protocol):
    """A place that holds documents. Paths have `/` between their parts; the caller checks each part."""

    def label(self, path: str) -> str:
        """Return how messages name a document."""

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a document; `None` if it does not exist. Raises StoreError."""

    def create(self, path: str, model: BaseModel) -> bool:
        """Write a new document completely or not at all; return `False` if it exists already. Raises StoreError."""

    def save(self, path: str, model: BaseModel, *, full: bool = False, version: str = "") -> None:
        """Write a document completely or not at all (`full`: with nulls and defaults).

        Unless `full`, a written `tool_uses: []` stays, which ADK reads and its own writer drops.

        Raises:
            ChangedMeanwhileError: the stored document no longer has the given `version`.
            SetupError: it cannot be written.
        """

    def version(self, path: str) -> str:
        """Return a text that changes with the document; empty if `alone` excludes other writers. Call it before reading."""

    def names(self, folder: str) -> list[str] | None:
        """Return the sorted names of the documents directly in a folder; `None` if it does not exist. Raises StoreError."""

    def alone(self, folder: str) -> AbstractContextManager[None]:
        """Read and write in a folder without other writers, as far as this place can ensure it."""


class Objects(Protocol):
    """A place that holds objects whose content follows from their path, so that each is written once."""

    def label(self, path: str) -> str:
        """Return how messages name an object."""

    def check(self) -> None:
        """Check that the place exists, or create it. Raises StoreError."""

    def read(self, path: str) -> bytes | None:
        """Return the bytes of an object; `None` if it does not exist. Raises StoreError."""

    def put_new(self, path: str, data: bytes) -> bool:
        """Write an object completely or not at all; return `False` if it exists already. Raises StoreError."""

    def paths(self) -> Iterator[str]:
        """Yield the path of every object. Raises StoreError."""

    def names(self, folder: str) -> list[str] | None:
        """Return the sorted names of the objects directly in a folder; `None` if it does not exist. Raises StoreError."""

    def delete(self, path: str) -> None:
        """Delete an object if it exists. Raises StoreError."""


class FolderDocuments:
    """Documents in a folder of this machine."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        """Use the folder `root`, which the first write creates."""
        self._root = Path(root)

    def label(self, path: str) -> str:
        """Return the path of the file."""
        return str(self._root / path)

    def read(self, path: str) -> bytes | None:
        """Read the file."""
        try:
            return (self._root / path).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _access_error(self.label(path), "read", error) from error

    def create(self, path: str, model: BaseModel) -> bool:
        """Write a new file; of two concurrent writers one succeeds."""
        target = self._root / path
        aside = target.with_name(f".{target.name}.{os.getpid()}-{threading.get_ident()}.new")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            aside.write_text(to_adk_json(model, keep_written=True), encoding="utf-8")
            try:
                os.link(aside, target)
            finally:
                aside.unlink()
        except FileExistsError:
            return False
        except OSError as error:
            raise _access_error(self.label(path), "written", error) from error
        return True

    def check(self) -> None:
        """Create the folder."""
        try:
            self._root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _access_error(str(self._root), "created", error) from error
        if not os.access(self._root, os.W_OK | os.X_OK):
            raise StoreError(f"{self._root}: no permission to write there")

    def put_new(self, path: str, data: bytes) -> bool:
        """Write a new file and sync it to the disk."""
        target = self._root / path
        draft = target.with_name(f".{secrets.token_hex(8)}.new")
        if target.exists():
            return False
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                with draft.open("xb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                draft.replace(target)
            finally:
                draft.unlink(missing_ok=True)
            sync_folder(target.parent)
            sync_folder(target.parent.parent)
        except OSError as error:
            raise _access_error(self.label(path), "written", error) from error
        return True

    def paths(self) -> Iterator[str]:
        """Yield the files below the folder."""
        for folder, _, names in os.walk(self._root, onerror=_raise_listing_error):
            for name in names:
                yield Path(folder, name).relative_to(self._root).as_posix()

    def delete(self, path: str) -> None:
        """Delete the file."""
        try:
            (self._root / path).unlink(missing_ok=True)
        except OSError as error:
            raise _access_error(self.label(path), "deleted", error) from error

    def version(self, path: str) -> str:
        """Return an empty text: a lock on the folder excludes other writers."""
        return ""

    def save(self, path: str, model: BaseModel, *, full: bool = False, version: str = "") -> None:
        """Write the file; refuse to overwrite a file with comments, which JSON cannot hold."""
        target = self._root / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _access_error(self.label(path), "written", error) from error
        save_model(model, target, full=full, keep_written=not full)

    def names(self, folder: str) -> list[str] | None:
        """List the files of the folder."""
        try:
            return sorted(entry.name for entry in (self._root / folder).iterdir() if entry.is_file())
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise _access_error(self.label(folder), "listed", error) from error

    @contextmanager
    def alone(self, folder: str) -> Iterator[None]:
        """Hold the lock of the folder, for which other processes on this machine wait (not on Windows)."""
        try:
            import fcntl

            handle = os.open(self._root / folder, os.O_RDONLY)
        except (
            ImportError,
            OSError,
        ):  # the platform has no locks, or the folder does not exist and there is nothing to change
            yield
            return
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


_PACKAGES = {
    "gs": ("gcsfs", "gcs", "A bucket of Google Cloud Storage"),
    "s3": ("s3fs", "s3", "A bucket of S3"),
}


_CONFLICTS = frozenset({"PreconditionFailed", "412", "ConditionalRequestConflict"})
_VERSIONS = {"gs": "generation", "s3": "ETag"}


class BucketDocuments:
    """Documents in a bucket, through fsspec."""

    def __init__(
        self, scheme: str, bucket: str, folder: str = "", options: Mapping[str, object] | None = None
    ) -> None:
        """Open a bucket (`scheme`: `gs` or `s3`); `folder` is the prefix of all paths, `options` are fsspec's.

        Raises:
            MissingExtraError: the package for it is not installed.
            StoreError: the bucket is not there, or cannot be reached.
        """
        package, extra, feature = _PACKAGES[scheme]
        import_extra(package, extra=extra, feature=feature)
        import fsspec

        self._scheme, self._url = scheme, f"{scheme}://{bucket}"
        self._root = "/".join(part for part in (bucket, *folder.split("/")) if part)
        try:
            self._files: Any = fsspec.filesystem(scheme, **{"use_listings_cache": False, **(options or {})})
            self._files.info(bucket)
        except FileNotFoundError:
            raise StoreError(
                f"{self._url}: the bucket does not exist, or there is no permission to see it"
            ) from None
        except Exception as error:  # one of the provider's many
            raise _access_error(self._url, "opened", error) from error

    def label(self, path: str) -> str:
        """Return the URL of the object."""
        return f"{self._url.partition(':')[0]}://{self._root}/{path}"

    def read(self, path: str) -> bytes | None:
        """Read the object."""
        try:
            data: bytes = self._files.cat_file(f"{self._root}/{path}")
        except FileNotFoundError:
            return None
        except Exception as error:
            raise _access_error(self.label(path), "read", error) from error
        return data

    def create(self, path: str, model: BaseModel) -> bool:
        """Put the object if there is none: the object store sees to it that of two at once, one does."""
        return self.read(path) is None and self.put_new(path, to_adk_json(model, keep_written=True).encode())

    def check(self) -> None:
        """Do nothing: a bucket that cannot be reached cannot be opened."""

    def put_new(self, path: str, data: bytes) -> bool:
        """Put the object if there is none."""
        try:
            self._put(path, data, mode="create")
        except FileExistsError:
            return False
        return True

    def paths(self) -> Iterator[str]:
        """Yield the objects below the folder."""
        try:
            paths = self._files.find(self._root)
        except FileNotFoundError:
            return
        except Exception as error:
            raise _access_error(self.label(""), "listed", error) from error
        for path in paths:
            yield path.removeprefix(f"{self._root}/")

    def delete(self, path: str) -> None:
        """Delete the object."""
        try:
            self._files.rm_file(f"{self._root}/{path}")
        except FileNotFoundError:
            return
        except Exception as error:
            raise _access_error(self.label(path), "deleted", error) from error

    def version(self, path: str) -> str:
        """Return the generation (GCS) or the ETag (S3) of the object; empty when it is not there."""
        try:
            info = self._files.info(f"{self._root}/{path}")
        except FileNotFoundError:
            return ""
        except Exception as error:
            raise _access_error(self.label(path), "read", error) from error
        return str(info.get(_VERSIONS[self._scheme]) or "")

    def save(self, path: str, model: BaseModel, *, full: bool = False, version: str = "") -> None:
        """Put the object in the place of what was there; of a `version`, only in the place of that."""
        text = to_adk_json(model, full=full, keep_written=not full)
        if not version:
            self._put(path, text.encode(), mode="overwrite")
            return
        try:
            self._replace_version(path, text.encode(), version)
        except Exception as error:
            if isinstance(error, FileExistsError) or _code(error) in _CONFLICTS:
                raise ConcurrentWriteError(
                    f"{self.label(path)}: the document was changed by another writer"
                ) from None
            if getattr(error, "errno", None) != errno.ENOSYS:
                raise _access_error(self.label(path), "written", error) from error
            message = (
                f"{self._url} knows no conditions: of two that change {path} at once, one loses what it wrote"
            )
            warnings.warn(message, stacklevel=2)
            self._put(path, text.encode(), mode="overwrite")

    def _replace_version(self, path: str, data: bytes, version: str) -> None:
        """Put the object where its version is still this one: the object store sees to it."""
        if self._scheme == "s3":
            self._files.pipe_file(f"{self._root}/{path}", data, IfMatch=version)
            return
        bucket, _, key = f"{self._root}/{path}".partition("/")
        self._files.call(
            "POST", f"{self._files._location}/upload/storage/v1/b/{bucket}/o",  # noqa: SLF001 - gcsfs has no public way for a condition
            uploadType="media", name=key, ifGenerationMatch=version, data=data,
            headers={"Content-Type": "application/octet-stream"}, json_out=True,
        )  # fmt: skip

    def names(self, folder: str) -> list[str] | None:
        """List the objects right below the folder; object stores have no empty folders."""
        try:
            self._files.invalidate_cache()
            entries = self._files.ls(f"{self._root}/{folder}", detail=True)
        except FileNotFoundError:
            return None
        except Exception as error:
            raise _access_error(self.label(folder), "listed", error) from error
        return sorted(entry["name"].rpartition("/")[2] for entry in entries if entry["type"] == "file")

    def alone(self, folder: str) -> AbstractContextManager[None]:
        """Do nothing: object stores have no locks."""
        return nullcontext()

    def _put(self, path: str, data: bytes, *, mode: str) -> None:
        try:
            self._files.pipe_file(f"{self._root}/{path}", data, mode=mode)
        except FileExistsError:
            raise
        except Exception as error:
            raise _access_error(self.label(path), "written", error) from error


def _code(error: Exception) -> str:
    """Return the error code of S3; empty if the error has none."""
    response: Any = getattr(error.__cause__, "response", None) or {}
    return str(response.get("Error", {}).get("Code", ""))


def _raise_listing_error(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise _access_error(str(error.filename), "listed", error) from error


def _access_error(label: str, done: str, error: Exception) -> StoreError:
    what = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
    return StoreError(f"{label}: cannot be {done}: {hide_secrets(what)}")
