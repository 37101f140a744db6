"""Packages that only some calls need."""

from __future__ import annotations

import importlib
from typing import Any


def needed(package: str, extra: str) -> Any:
    """A package; where it is missing, the exception names the extra that brings it."""
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package.partition(".")[0]:
            raise
        raise ImportError(f"this needs {error.name}: pip install {error.name}, or auscult with the extra [{extra}]") from error
