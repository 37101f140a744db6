"""Archives: millions of recordings, scored shard by shard.

A manifest lists clips, a shard is some hundred of them, and one pure function turns the clips of a shard into rows: the
same rows on this machine, on Ray (:mod:`auscult.ray`) and on Spark.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _arrays, _native
from ._control import ProgressOption, Sink
from ._extras import needed
from ._recordings import optional_number, path_of
from .errors import InputError

if TYPE_CHECKING:
    import pandas
    import pyarrow

__all__ = ["Plan", "Rows", "Scorer", "Shard", "Summary", "plan", "score"]

#: A clip: ``uri``, and where they are known ``start_seconds``, ``seconds``, ``machine`` and ``domain``.
Clip = Mapping[str, Any]

_KEYS = ("uri", "start_seconds", "seconds", "machine", "domain")
_NUMBERS = ("start_seconds", "seconds", "score", "p_value")


@dataclass(frozen=True)
class Shard:
    """Some clips that are scored together.

    >>> from auscult.archive import Shard
    >>> Shard(0, '[{"uri": "a.wav"}]').clips
    [{'uri': 'a.wav'}]
    """

    index: int
    """Its place among the shards."""
    json: str
    """Its clips as JSON, which is what engines move."""

    @property
    def clips(self) -> list[dict[str, Any]]:
        """Its clips."""
        clips: list[dict[str, Any]] = json.loads(self.json)
        return clips


@dataclass(frozen=True)
class Summary:
    """What a run came to.

    >>> from auscult.archive import Summary
    >>> Summary(shards=2, rows=600) + Summary(shards=1, skipped=1)
    Summary(shards=3, skipped=1, rows=600, errors=0, anomalous=0, rewritten=0, seconds=0.0)
    """

    shards: int = 0
    """Shards of the archive."""
    skipped: int = 0
    """Shards that were there already, made from the same clips, model and settings."""
    rows: int = 0
    """Rows that were written now."""
    errors: int = 0
    """Of those, rows with an error."""
    anomalous: int = 0
    """Of those, rows called anomalous."""
    rewritten: int = 0
    """Torn or foreign files among the shards, which were written again."""
    seconds: float = 0.0
    """How long it took; of several parts together, all of their times."""

    def __add__(self, other: Summary) -> Summary:
        return Summary(**{name: value + getattr(other, name) for name, value in vars(self).items()})


class Plan:
    """What a manifest asks for, checked as a whole. Made by :func:`plan`; iterates over its shards.

    >>> import tempfile, pathlib, auscult
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "clips.csv").write_text("path\\na.wav\\nb.wav\\n")
    ...     plan = auscult.archive.plan(f"{folder}/clips.csv", shard_clips=1)
    >>> plan.clips, len(plan), plan.base.is_absolute()
    (2, 2, True)
    """

    def __init__(self, native: _native.ArchivePlan) -> None:
        self._native = native

    @property
    def clips(self) -> int:
        """How many rows the manifest has."""
        return self._native.clips()

    @property
    def base(self) -> Path:
        """The folder that paths are relative to."""
        return Path(self._native.base())

    def __len__(self) -> int:
        return self._native.shard_count()

    def __iter__(self) -> Iterator[Shard]:
        shards = self._native.shards()
        while (shard := shards.take()) is not None:
            yield Shard(*shard)

    def __repr__(self) -> str:
        return f"Plan({self.clips} clips, {len(self)} shards)"


def plan(manifest: str | PathLike[str], *, shard_clips: int = 512) -> Plan:
    """Reads a manifest (CSV, JSON lines or Parquet) and checks every row before any work begins.

    >>> import tempfile, pathlib, auscult
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     manifest = pathlib.Path(folder, "clips.csv")
    ...     _ = manifest.write_text("path,start_seconds,seconds\\na.wav,0,10\\na.wav,10,10\\nb.wav,,\\n")
    ...     found = auscult.archive.plan(manifest, shard_clips=2)
    ...     shards = list(found)
    >>> found, shards[1].clips
    (Plan(3 clips, 2 shards), [{'uri': 'b.wav'}])
    """
    count = _arrays.whole_number(shard_clips, "shard_clips", least=1)
    return Plan(_native.ArchivePlan.read(path_of(manifest, "manifest"), count))


class Rows:
    """Rows of a result, a list a column: ``clip_id``, ``uri``, ``start_seconds``, ``seconds``, ``score``, ``p_value``,
    ``verdict``, ``differs_most``, ``error``, ``model_hash`` and ``settings_hash``. Made by :meth:`Scorer.score`.

    >>> from auscult.archive import Rows
    >>> rows = Rows({"uri": ["a.wav", "b.wav"], "score": [1.5, None]})
    >>> len(rows), rows["score"], rows.to_arrow().num_columns, rows.to_pandas().shape
    (2, [1.5, None], 2, (2, 2))
    """

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self.columns = columns
        """The columns; what is missing is ``None``."""

    def __len__(self) -> int:
        return len(self.columns["uri"])

    def __getitem__(self, column: str) -> list[Any]:
        return self.columns[column]

    def __repr__(self) -> str:
        return f"Rows({len(self)} rows)"

    def to_arrow(self) -> pyarrow.RecordBatch:
        """One batch, as Spark's ``mapInArrow`` wants it. Needs pyarrow."""
        arrow = needed("pyarrow", "arrow")
        kind = {name: arrow.float64() if name in _NUMBERS else arrow.string() for name in self.columns}
        arrays = [arrow.array(values, kind[name]) for name, values in self.columns.items()]
        batch: pyarrow.RecordBatch = arrow.RecordBatch.from_arrays(arrays, names=list(self.columns))
        return batch

    def to_pandas(self) -> pandas.DataFrame:
        """One row for each clip. Needs pandas."""
        frame: pandas.DataFrame = needed("pandas", "pandas").DataFrame(self.columns)
        return frame


class Scorer:
    """Clips in, rows out: the function that every engine runs.

    Parameters
    ----------
    model
        A model file, or a folder with a file ``NAME.auscult`` for each machine.
    base
        The folder that paths are relative to.
    channel, hop_seconds
        How recordings are read, if not as the model says.
    insecure
        Whether addresses without encryption are taken.
    threads
        Threads to use; those of :func:`auscult.set_threads` if not given.

    >>> import tempfile, pathlib, auscult
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sounds = auscult.datasets.synthesize(
    ...         f"{folder}/sounds", layout="visits", machines=["fan"], train=(20, 0), test=(2, 0), seconds=1.0
    ...     )
    ...     machine = auscult.Machine.learn(sounds / "fan" / "normal", preset="paper", clip_seconds=1.0)
    ...     machine.save(f"{folder}/fan.auscult")
    ...     scorer = auscult.archive.Scorer(f"{folder}/fan.auscult", base=sounds / "fan" / "check")
    ...     rows = scorer.score([{"uri": "normal_0000.wav"}, {"uri": "gone.wav"}])
    ...     manifest = sounds / "fan" / "check" / "clips.csv"
    ...     _ = manifest.write_text("path\\nnormal_0000.wav\\nnormal_0001.wav\\n")
    ...     plan = auscult.archive.plan(manifest, shard_clips=1)
    ...     scorer.prepare(plan, f"{folder}/scores")
    ...     summaries = [scorer.write(shard, f"{folder}/scores") for shard in plan]
    >>> rows["verdict"][1], "no such file" in rows["error"][1]
    ('not-scored', True)
    >>> [summary.rows for summary in summaries]
    [1, 1]
    """

    def __init__(
        self,
        model: str | PathLike[str],
        *,
        base: str | PathLike[str] = ".",
        channel: int | str | None = None,
        hop_seconds: float | None = None,
        insecure: bool = False,
        threads: int | None = None,
    ) -> None:
        self._options: dict[str, Any] = {
            "model": path_of(model, "model"),
            "base": path_of(base, "base"),
            "channel": None if channel is None else str(channel),
            "hop_seconds": optional_number(hop_seconds, "hop_seconds"),
            "insecure": bool(insecure),
            "jobs": None if threads is None else _arrays.whole_number(threads, "threads", least=1),
        }
        self._native = _native.ArchiveScorer.open(self._options)

    @property
    def settings_hash(self) -> str:
        """Identifies how recordings are read."""
        return self._native.settings_hash()

    def score(self, clips: Iterable[Clip] | Shard, *, progress: ProgressOption = None) -> Rows:
        """The rows of these clips, in their order. What is wrong with a clip is in its row."""
        given = clips.json if isinstance(clips, Shard) else json.dumps([_clip(one) for one in clips])
        return Rows({name: values for name, values in self._native.score(given, Sink(progress))})

    def write(
        self, shard: Shard, out: str | PathLike[str], *, replace: bool = False, progress: ProgressOption = None
    ) -> Summary:
        """Scores a shard into ``out``, a file ``shard=NNNNN.parquet`` written whole, unless its results are there."""
        target = path_of(out, "out")
        return _summary(self._native.write((shard.index, shard.json), target, bool(replace), Sink(progress)))

    def prepare(self, plan: Plan, out: str | PathLike[str], *, replace: bool = False) -> None:
        """Makes the folder ``out``; refuses results of another manifest, model or settings that are in it."""
        self._native.prepare(plan._native, path_of(out, "out"), bool(replace), Sink(None))

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened, (self._options,)


def _opened(options: dict[str, Any]) -> Scorer:
    names = {"jobs": "threads"}
    given = {names.get(name, name): value for name, value in options.items() if name != "model"}
    return Scorer(options["model"], **given)


def _clip(clip: Clip) -> dict[str, Any]:
    if not isinstance(clip, Mapping):
        raise InputError(f"a clip is a mapping with uri, and where known start_seconds and seconds; got {clip!r}")
    unknown = [str(key) for key in clip if key not in _KEYS]
    if unknown or not isinstance(clip.get("uri"), str):
        raise InputError(f"a clip has uri, a text, and of {', '.join(_KEYS[1:])} what is known; got {dict(clip)!r}")
    return {key: clip[key] for key in _KEYS if clip.get(key) is not None}


def _summary(text: str) -> Summary:
    return Summary(**json.loads(text))


def score(
    manifest: str | PathLike[str],
    model: str | PathLike[str],
    out: str | PathLike[str],
    *,
    shard_clips: int = 512,
    channel: int | str | None = None,
    hop_seconds: float | None = None,
    insecure: bool = False,
    replace: bool = False,
    progress: ProgressOption = None,
) -> Summary:
    """Scores a manifest on this machine, as ``auscult archive score`` does; may be killed and called again.

    >>> import tempfile, pathlib, auscult
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sounds = auscult.datasets.synthesize(
    ...         f"{folder}/sounds", layout="visits", machines=["fan"], train=(20, 0), test=(2, 0), seconds=1.0
    ...     )
    ...     machine = auscult.Machine.learn(sounds / "fan" / "normal", preset="paper", clip_seconds=1.0)
    ...     machine.save(f"{folder}/fan.auscult")
    ...     manifest = sounds / "fan" / "check" / "clips.csv"
    ...     _ = manifest.write_text("path\\nnormal_0000.wav\\nnormal_0001.wav\\n")
    ...     first = auscult.archive.score(manifest, f"{folder}/fan.auscult", f"{folder}/scores")
    ...     again = auscult.archive.score(manifest, f"{folder}/fan.auscult", f"{folder}/scores")
    >>> first.rows, first.errors, again.rows, again.skipped
    (2, 0, 0, 1)
    """
    planned = plan(manifest, shard_clips=shard_clips)
    scorer = Scorer(model, base=planned.base, channel=channel, hop_seconds=hop_seconds, insecure=insecure)
    target = path_of(out, "out")
    return _summary(scorer._native.run(planned._native, target, bool(replace), Sink(progress)))
