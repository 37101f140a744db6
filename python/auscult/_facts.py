"""What is known about a machine."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

from . import _native
from ._arrays import Doubles


class Facts:
    """Everything that can be read of a machine."""

    _native: _native.Machine

    @cached_property
    def _facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads(self._native.facts())
        return facts

    @property
    def sample_rate(self) -> int:
        """Samples a second of the clips it compares; other sound is resampled."""
        return self._native.sample_rate

    @property
    def clip_seconds(self) -> float:
        """Length of the clips it compares."""
        return self._native.clip_samples / self._native.sample_rate

    @property
    def reference_count(self) -> int:
        """How many normal clips it remembers."""
        return self._native.reference_count

    @property
    def threshold(self) -> float | None:
        """The score above which a clip is anomalous; ``None`` with too few normal clips."""
        return self._native.threshold

    @property
    def calibration_scores(self) -> Doubles:
        """Scores of references that were left out, ascending: what new normal clips score."""
        return self._native.calibration_scores()

    @property
    def settings(self) -> dict[str, Any]:
        """Everything it was made with, as ``auscult inspect --json`` has it."""
        settings: dict[str, Any] = self._facts["settings"]
        return settings

    @property
    def preset(self) -> str | None:
        """The preset it was made with, if it is one."""
        preset: str | None = self._facts["preset"]
        return preset

    @property
    def front_end(self) -> str:
        """What sound is turned into."""
        front_end: str = self._facts["front_end"]
        return front_end

    @property
    def references(self) -> list[dict[str, Any]]:
        """Where each reference came from: source, start, visit, domain, digest, level."""
        references: list[dict[str, Any]] = self._facts["references"]
        return references

    @property
    def visits(self) -> list[str]:
        """The visits its references come from."""
        visits: list[str] = self._facts["visits"]
        return visits

    @property
    def domains(self) -> list[str]:
        """The domains that have thresholds of their own."""
        domains: list[str] = self._facts["domains"]
        return domains

    @property
    def left_out(self) -> list[dict[str, Any]]:
        """Recordings and clips that were not learnt from, each with its reason; not in the file."""
        left_out: list[dict[str, Any]] = self._facts["left_out"]
        return left_out

    @property
    def is_promised(self) -> bool:
        """Whether the false-alarm rate is promised."""
        return bool(self._facts["promised"])

    @property
    def shortcoming(self) -> str | None:
        """Why the rate is not promised, and what to do; ``None`` if it is."""
        shortcoming: str | None = self._facts["shortcoming"]
        return shortcoming

    @property
    def hash(self) -> str:
        """Identifies the model: a fingerprint of its file."""
        return str(self._facts["hash"])
