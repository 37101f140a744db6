"""Settings that were chosen from normal recordings."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any


class TunedSettings:
    """Settings that :meth:`Machine.tune` chose, and how they compare with the others it tried.

    >>> import tempfile, pathlib, numpy as np, auscult
    >>> clips = np.random.default_rng(2).normal(0, 0.1, (12, 16000))
    >>> chosen = auscult.Machine.tune(
    ...     clips, sample_rate=16000, visits=[i // 2 for i in range(12)], clip_seconds=1.0, presets="paper", most_settings=1
    ... )
    >>> chosen
    TunedSettings(log-mel, best of 1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     chosen.save(f"{folder}/settings.json")
    ...     machine = auscult.Machine.learn(
    ...         clips, sample_rate=16000, settings=pathlib.Path(folder, "settings.json").read_text()
    ...     )
    >>> machine.reference_count
    12
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
        """Writes the settings file."""
        Path(path).write_text(self.json, encoding="utf-8")

    def __repr__(self) -> str:
        return f"TunedSettings({self.front_end}, best of {len(self.ranking['ranking'])})"
