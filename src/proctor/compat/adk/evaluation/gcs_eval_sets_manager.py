"""As `google.adk.evaluation.gcs_eval_sets_manager`: eval sets in a bucket of Google Cloud Storage."""

from __future__ import annotations

from typing import Any

from proctor.compat.adk.argument_errors import set_up
from proctor.compat.adk.eval_set_storage import SetsInDocuments
from proctor.stores.object_store import BucketDocuments

__all__ = ["GcsEvalSetsManager"]


class GcsEvalSetsManager(SetsInDocuments):
    """Eval sets as `gs://<bucket_name>/<app>/evals/eval_sets/<id>.evalset.json`."""

    def __init__(self, bucket_name: str, *, eval_storage_dir: str = "", **options: Any) -> None:
        """Take the bucket; `eval_storage_dir` is a folder in it that all is put into, `options` are those of fsspec.

        Raises:
            ValueError: the bucket is not there, or the package for it is missing.
        """
        if "credentials" in options:  # as google-adk's client calls them
            options["token"] = options.pop("credentials")
        with set_up():
            documents = BucketDocuments("gs", bucket_name, eval_storage_dir, options)
        super().__init__(documents, "{app_name}/evals/eval_sets")
