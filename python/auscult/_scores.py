"""What scoring gives: a record for each clip, and all of them as columns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from . import _html, _native
from ._arrays import Doubles, Floats
from ._extras import needed

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_COLUMNS = (
    "path", "start_seconds", "seconds", "score", "p_value", "calibrated", "verdict", "reason", "differs_most",
    "level_dbfs", "remarks", "alarm", "domain", "time", "copy_of", "error",
)  # fmt: skip
_NUMBERS = ("start_seconds", "seconds", "score", "p_value", "calibrated", "level_dbfs")


@dataclass(frozen=True)
class BandReason:
    """What one band of a clip adds to its score.

    >>> from auscult import BandReason
    >>> BandReason(view="mean", band=0, positions=(0, 38), score=1.5, sentence="0-0.6 kHz: normal").score
    1.5
    """

    view: str
    """The view it is seen in: ``mean`` or ``max``."""
    band: int
    """Its place along the axis."""
    positions: tuple[int, int]
    """The positions of the axis it covers, from the first up to, without, the last."""
    score: float
    """The band's score."""
    sentence: str
    """All of this for people."""
    part: str = ""
    """The member or layer it is of; empty where there is one only."""
    hertz: tuple[float, float] | None = None
    """The frequencies it covers, where the axis has such."""
    times_normal: float | None = None
    """Its score over that of normal clips."""
    deviations: float | None = None
    """How far it is above normal in deviations, where several front ends score together."""
    reference: dict[str, Any] | None = None
    """The closest normal clip: its source, start and visit."""
    levels: list[dict[str, Any]] = field(default_factory=list)
    """Decibels above or below that clip, part by part."""
    modulations: list[dict[str, Any]] = field(default_factory=list)
    """The modulations that differ most from that clip."""

    @classmethod
    def _of(cls, found: dict[str, Any]) -> BandReason:
        def pair(value: dict[str, Any] | None) -> Any:
            return None if value is None else (value["start"], value["end"])

        known = {name: found[name] for name in cls.__dataclass_fields__ if name in found}
        return cls(**known | {"positions": pair(found["positions"]), "hertz": pair(found.get("hertz"))})


@dataclass(frozen=True)
class Record:
    """Everything that is known about one clip; the keys are those of the program's JSON.

    >>> from auscult import Record
    >>> Record(path="a.wav", start_seconds=0.0, seconds=10.0, verdict="normal", reason="sounds normal").score is None
    True
    """

    path: str
    """The file as it was named; ``array`` or ``array 3`` for arrays, ``live`` for live sound."""
    start_seconds: float
    """Where in it the clip starts."""
    seconds: float
    """Length of its sound, before silence fills it up."""
    verdict: str
    """``normal``, ``anomalous``, ``undecided``, or why there is no score: ``silent``, ``too-short``, ..."""
    reason: str
    """Why it scored so, in a sentence."""
    score: float | None = None
    """How far it is from normal; ``None`` if it was not scored."""
    p_value: float | None = None
    """Share of normal clips that score at least as high."""
    calibrated: float | None = None
    """The score on a scale from 0 to 1."""
    differs_most: str | None = None
    """The band that differs most from normal."""
    promised: bool = False
    """Whether the false-alarm rate behind the verdict is promised."""
    promised_if: str | None = None
    """What the promise rests on beside left-out visits."""
    alarm: str | None = None
    """The state after this clip, by the machine's alarm rule."""
    domain: str | None = None
    """The domain whose threshold judged it."""
    quality: dict[str, Any] | None = None
    """Level, peak, clipping and other measures of the recording."""
    remarks: list[str] = field(default_factory=list)
    """What is remarkable about the recording."""
    time: str | None = None
    """When it was recorded, as RFC 3339 text."""
    time_origin: str | None = None
    """Who says so."""
    copy_of: str | None = None
    """An earlier clip, or a reference, with exactly the same sound."""
    error: str | None = None
    """Why a clip that is sound could not be scored."""
    model_hash: str = ""
    """Identifies the model that judged it."""
    explanation: dict[str, Any] | None = None
    """Every band with its reasons, where they were asked for."""

    @property
    def is_anomalous(self) -> bool:
        """Whether the verdict is anomalous.

        >>> Record(path="a.wav", start_seconds=0, seconds=10, verdict="anomalous", reason="").is_anomalous
        True
        """
        return self.verdict == "anomalous"

    @classmethod
    def _of(cls, text: str) -> Record:
        found = json.loads(text)
        return cls(**{name: found[name] for name in cls.__dataclass_fields__ if name in found})


def counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


class _Kept:
    """Records in another process: all they say, without their sound."""

    def __init__(self, columns: dict[str, Any], records: list[str | None], problems: list[str], summary: str) -> None:
        self._columns, self._records = columns, records
        self.problems, self.summary = problems, summary

    def __len__(self) -> int:
        return len(self._records)

    def column(self, name: str) -> Any:
        return self._columns[name]

    def json(self, index: int) -> str | None:
        return self._records[index]


def _unpickled(*state: Any) -> Scores:
    return Scores(_Kept(*state))


class Scores(Sequence[Record]):
    """Scored clips in the order they were read: columns as arrays, and each clip as a :class:`Record`.

    A higher score is further from normal. Numbers that are not known, such as the score of a silent clip, are NaN;
    texts that are not known are ``None``. Pickled scores leave their sound behind.

    >>> import numpy as np, auscult
    >>> rng = np.random.default_rng(1)
    >>> normal = [rng.normal(0, 0.1, 16000) for _ in range(24)]
    >>> machine = auscult.Machine.learn(
    ...     normal, sample_rate=16000, visits=[i // 4 for i in range(24)], preset="paper", clip_seconds=1.0
    ... )
    >>> scores = machine.score([normal[0], np.zeros(16000)], sample_rate=16000)
    >>> len(scores), scores.verdict.tolist()
    (2, ['normal', 'silent'])
    >>> bool(np.isnan(scores.score[1])), scores[1].reason.split(":")[0]
    (True, 'silent')
    >>> [clip["verdict"] for clip in scores.to_dicts()]
    ['normal', 'silent']

    As tables, each with one row for a clip:

    >>> scores.to_pandas()[["path", "verdict"]].values.tolist()
    [['array 0', 'normal'], ['array 1', 'silent']]
    >>> scores.to_arrow()["score"].to_pylist()[0], scores.to_polars()["verdict"][1]
    (0.0, 'silent')

    The sound of arrays is there if they were scored with ``explain=True``:

    >>> scores.samples(0) is None
    True
    >>> machine.score([normal[0]], sample_rate=16000, explain=True).samples(0).shape
    (16000,)
    """

    def __init__(self, records: _native.Records | _Kept, machine: _native.Machine | None = None) -> None:
        self._records = records
        self._machine = machine
        self._columns: dict[str, Any] = {}

    def _column(self, name: str) -> Any:
        if name not in self._columns:
            column = self._records.column(name)
            if name in _NUMBERS:
                # Tables of Arrow have the same memory.
                column.flags.writeable = False
            self._columns[name] = column
        return self._columns[name]

    def _numbers(self, name: str) -> Doubles:
        column: Doubles = self._column(name)
        return column

    def _texts(self, name: str, kind: Any = object) -> NDArray[Any]:
        return np.asarray(self._column(name), dtype=kind)

    @property
    def path(self) -> NDArray[np.object_]:
        """The recording of each clip, as it was named."""
        return self._texts("path")

    @property
    def start_seconds(self) -> Doubles:
        """Where each clip starts in its recording."""
        return self._numbers("start_seconds")

    @property
    def seconds(self) -> Doubles:
        """Length of each clip's sound."""
        return self._numbers("seconds")

    @property
    def score(self) -> Doubles:
        """How far each clip is from normal: higher is further; NaN if it was not scored."""
        return self._numbers("score")

    @property
    def p_value(self) -> Doubles:
        """Share of normal clips that score at least as high; NaN if that is not known."""
        return self._numbers("p_value")

    @property
    def calibrated(self) -> Doubles:
        """The score on a scale from 0 to 1; NaN if that is not known."""
        return self._numbers("calibrated")

    @property
    def level_dbfs(self) -> Doubles:
        """How loud each clip was recorded, in dB below full scale."""
        return self._numbers("level_dbfs")

    @cached_property
    def verdict(self) -> NDArray[np.str_]:
        """The verdict on each clip, or why there is none."""
        return self._texts("verdict", np.str_)

    @property
    def reason(self) -> NDArray[np.object_]:
        """Why each clip scored so, in a sentence."""
        return self._texts("reason")

    @property
    def differs_most(self) -> NDArray[np.object_]:
        """The band of each clip that differs most from normal."""
        return self._texts("differs_most")

    @property
    def remarks(self) -> NDArray[np.object_]:
        """What is remarkable about each recording, separated by commas."""
        return self._texts("remarks")

    @property
    def alarm(self) -> NDArray[np.object_]:
        """The state after each clip, by the machine's alarm rule; ``None`` without a rule."""
        return self._texts("alarm")

    @property
    def domain(self) -> NDArray[np.object_]:
        """The domain whose threshold judged each clip."""
        return self._texts("domain")

    @property
    def time(self) -> NDArray[np.object_]:
        """When each clip was recorded, as RFC 3339 text."""
        return self._texts("time")

    @property
    def copy_of(self) -> NDArray[np.object_]:
        """An earlier clip, or a reference, with the same sound."""
        return self._texts("copy_of")

    @property
    def error(self) -> NDArray[np.object_]:
        """Why a clip that is sound could not be scored."""
        return self._texts("error")

    @property
    def is_anomalous(self) -> NDArray[np.bool_]:
        """Which clips are anomalous."""
        anomalous: NDArray[np.bool_] = self.verdict == "anomalous"
        return anomalous

    @property
    def problems(self) -> list[str]:
        """Recordings that could not be read, or not to their end, and why."""
        return self._records.problems

    @cached_property
    def summary(self) -> dict[str, Any]:
        """What the run came to, as the program's JSON has it in ``run.summary``."""
        found: dict[str, Any] = json.loads(self._records.summary or "{}")
        return found

    def __len__(self) -> int:
        return len(self._records)

    @overload
    def __getitem__(self, index: int) -> Record: ...

    @overload
    def __getitem__(self, index: slice) -> list[Record]: ...

    def __getitem__(self, index: int | slice) -> Record | list[Record]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        at = index + len(self) if index < 0 else index
        text = self._records.json(at) if 0 <= at < len(self) else None
        if text is None:
            raise IndexError(f"there are {len(self)} records, got index {index}")
        return Record._of(text)

    def __iter__(self) -> Iterator[Record]:
        return (self[index] for index in range(len(self)))

    def __reduce__(self) -> tuple[Any, ...]:
        records = [self._records.json(index) for index in range(len(self))]
        return _unpickled, (self._table(), records, self.problems, self._records.summary)

    def __repr__(self) -> str:
        counts = {str(name): int(count) for name, count in zip(*np.unique(self.verdict, return_counts=True))}
        listed = ", ".join(f"{count} {name}" for name, count in counts.items())
        return f"Scores({counted(len(self), 'clip')}{': ' if listed else ''}{listed})"

    def to_dicts(self) -> list[dict[str, Any]]:
        """Every record as a dictionary: the program's JSON, number for number."""
        return [json.loads(self._records.json(index) or "{}") for index in range(len(self))]

    def to_pandas(self) -> pandas.DataFrame:
        """One row for each clip, to change as you like. Needs pandas."""
        table: pandas.DataFrame = needed("pandas", "pandas").DataFrame(self._table(), copy=True)
        return table

    def to_polars(self) -> polars.DataFrame:
        """One row for each clip. Needs polars and pyarrow; columns of numbers are not copied."""
        frame: polars.DataFrame = needed("polars", "polars").from_arrow(self.to_arrow())
        return frame

    def to_arrow(self) -> pyarrow.Table:
        """One row for each clip. Needs pyarrow; columns of numbers are not copied."""
        arrow = needed("pyarrow", "arrow")

        def column(name: str, values: Any) -> pyarrow.Array:
            if name in _NUMBERS:
                buffers = [None, arrow.py_buffer(values)]
                return arrow.Array.from_buffers(arrow.float64(), len(values), buffers)
            return arrow.array(values, arrow.string())

        table: pyarrow.Table = arrow.table({name: column(name, values) for name, values in self._table().items()})
        return table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The same for any program that speaks the Arrow interface."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _table(self) -> dict[str, Any]:
        return {name: self._column(name) for name in _COLUMNS}

    def samples(self, index: int) -> Floats | None:
        """The sound of a clip at the model's rate; ``None`` if it cannot be read again.

        Files are read again; arrays are there if they were scored with ``explain=True``.
        """
        record = self[index]
        if self._machine is None or isinstance(self._records, _Kept):
            return None
        return self._machine.samples_at(self._records, record.path, record.start_seconds)

    def _repr_html_(self) -> str:
        return _html.scores(self, self._machine)


@dataclass(frozen=True)
class Explanation:
    """Why a clip scored as it did.

    >>> from auscult import Explanation, Record
    >>> record = Record(path="a.wav", start_seconds=0, seconds=1, verdict="normal", reason="sounds normal")
    >>> print(Explanation("sounds normal", [], record, 16000, None))
    sounds normal
    """

    summary: str
    """One sentence on the clip as a whole."""
    bands: list[BandReason]
    """Every band of every view, the furthest from its normal first."""
    record: Record
    """The clip's record."""
    sample_rate: int
    """Samples a second of :attr:`samples`."""
    samples: Floats | None
    """The clip's sound at the model's rate; ``None`` if it cannot be read again."""

    def __str__(self) -> str:
        return "\n".join([self.summary, *(f"  {band.sentence}" for band in self.bands[:5])])

    def to_pandas(self) -> pandas.DataFrame:
        """One row for each band. Needs pandas.

        >>> from auscult import Explanation, Record
        >>> record = Record(path="a.wav", start_seconds=0, seconds=1, verdict="normal", reason="")
        >>> len(Explanation("", [], record, 16000, None).to_pandas())
        0
        """
        names = ["view", "band", "part", "positions", "hertz", "score", "times_normal", "deviations", "sentence"]
        rows = [{name: getattr(band, name) for name in names} for band in self.bands]
        table: pandas.DataFrame = needed("pandas", "pandas").DataFrame(rows, columns=names)
        return table

    def _repr_html_(self) -> str:
        return _html.explanation(self)
