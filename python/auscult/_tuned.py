"""Settings that were chosen from normal recordings."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any


class TunedSettings:
    """Settings that :meth:`Machine.tune` chose, and how they compare with the others it tried.

    >>> import auscult
    >>> auscult.TunedSettings.__name__
    'TunedSettings'
    """

    def __init__(self, settings: str, ranking: str) -> None:
        self.json = settings
        """The settings as the program's settings file holds them (``auscult fit --settings``)."""
        self.ranking: dict[str, Any] = json.loads(ranking)
        """The chosen candidate and all that were tried, the best first."""

    @property
    def front_end(self) -> str:
        """The name of the chosen front end."""
        return str(json.loads(self.json)["front_end"]["name"])

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the settings file.

        >>> import auscult
        >>> auscult.TunedSettings.save.__name__
        'save'
        """
        Path(path).write_text(self.json, encoding="utf-8")

    def __repr__(self) -> str:
        return f"TunedSettings({self.front_end}, best of {len(self.ranking['ranking'])})"
