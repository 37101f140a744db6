"""Protocols on data sets: the paper's tables, with front ends of your own beside ours."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import uuid
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from . import _arrays, _native
from ._arrays import ArrayLike
from ._control import ProgressOption, Sink
from ._extras import needed
from ._own import Embedding, Function
from ._recordings import optional_number, optional_path, path_of
from .datasets import _options
from .errors import FrontEndError, InputError

if TYPE_CHECKING:
    import pandas

__all__ = ["Results", "protocols", "run"]

#: A function, vectors of every clip in the order of ``datasets.load``, or an ``.npy`` file with them.
FrontEnd: TypeAlias = "Embedding | ArrayLike | str | PathLike[str]"


def protocols() -> list[str]:
    """The names of the protocols that come with the package.

    >>> import auscult
    >>> auscult.bench.protocols()[:2]
    ['table-1', 'table-2']
    """
    return _native.protocol_names()


class _Kept:
    """What is left of a run in another process: its texts."""

    def __init__(self, json: str, sections: str, markdown: str, latex: str, page: str) -> None:
        self.json, self.sections = (lambda: json), (lambda: sections)
        self.markdown, self.latex, self.page = (lambda: markdown), (lambda: latex), (lambda: page)

    def submission(self, folder: str, system: str, threshold: str) -> list[str]:
        raise InputError("results that were pickled cannot write submissions; write them where the protocol was run")


def _unpickled(*texts: str) -> Results:
    return Results(_Kept(*texts))


class Results:
    """What a run came to: a row for each system and part of a data set. Made by :func:`run`.

    >>> import tempfile, numpy as np, auscult
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     root = auscult.datasets.synthesize(
    ...         f"{folder}/data", machines=["fan"], train=(6, 2), test=(2, 2), seconds=1.0
    ...     )
    ...     vectors = np.random.default_rng(0).normal(4, 1, (len(auscult.datasets.load("dcase2023", root)), 40))
    ...     results = auscult.bench.run(
    ...         "baselines", root, dataset="dcase2023", front_end=vectors, band_width=10, only_own=True,
    ...         clip_seconds=1.0, samples=0,
    ...     )
    ...     kept = sorted(path.name for path in results.save(f"{folder}/run").iterdir())
    ...     submitted = results.submission(f"{folder}/submission", "own BEAM")
    >>> results.table()["system"].tolist(), results.scores().groupby("system").size().tolist()
    (['own global', 'own BEAM'], [8, 8])
    >>> kept
    ['index.html', 'results.json', 'results.md', 'results.tex', 'scores.csv']
    >>> [path.name for path in submitted]
    ['anomaly_score_fan_section_00_test.csv', 'decision_result_fan_section_00_test.csv']
    >>> "own BEAM" in results.markdown()
    True
    """

    def __init__(self, native: _native.BenchRun | _Kept) -> None:
        self._native = native
        self._json: dict[str, Any] = json.loads(native.json())

    @property
    def json(self) -> dict[str, Any]:
        """Everything, as ``results.json`` of ``auscult bench run`` has it."""
        return self._json

    def table(self) -> pandas.DataFrame:
        """Scores in %, one row for each system and part of a data set. Needs pandas."""

        def percent(share: float | None) -> float:
            return float("nan") if share is None else 100.0 * share

        rows = []
        for row in self._json["rows"]:
            interval = row["interval"] or {"low": None, "high": None}
            rows.append(
                {
                    "dataset": row["dataset"],
                    "set": row["set"],
                    "system": row["system"],
                    "measure": row["measure"],
                    "score": percent(row["score"]),
                    "low": percent(interval["low"]),
                    "high": percent(interval["high"]),
                    "auc": percent(row["auc"]),
                    "paper": row["paper"],
                    "problem": row["problem"],
                }
            )
        names = ["dataset", "set", "system", "measure", "score", "low", "high", "auc", "paper", "problem"]
        table: pandas.DataFrame = needed("pandas", "pandas").DataFrame(rows, columns=names)
        return table

    def scores(self) -> pandas.DataFrame:
        """The score of every test clip by every system. Needs pandas."""
        rows = []
        for section in json.loads(self._native.sections()):
            for system in section["systems"]:
                for clip, score in zip(section["clips"], system["scores"]):
                    rows.append(
                        {
                            "system": system["system"],
                            "set": section["set"],
                            "machine": section["machine"],
                            "section": section["section"],
                            "name": clip["name"],
                            "label": clip["label"],
                            "domain": clip["domain"],
                            "score": score,
                        }
                    )
        names = ["system", "set", "machine", "section", "name", "label", "domain", "score"]
        table: pandas.DataFrame = needed("pandas", "pandas").DataFrame(rows, columns=names)
        return table

    def markdown(self) -> str:
        """The tables for people."""
        return self._native.markdown()

    def save(self, folder: str | PathLike[str]) -> Path:
        """Writes ``results.json``, ``results.md``, ``results.tex``, ``index.html`` and ``scores.csv``."""
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        texts = {
            "results.json": json.dumps(self._json, indent=2),
            "results.md": self._native.markdown(),
            "results.tex": self._native.latex(),
            "index.html": self._native.page(),
        }
        for name, text in texts.items():
            (target / name).write_text(text, encoding="utf-8")
        self.scores().to_csv(target / "scores.csv", index=False)
        return target

    def submission(self, folder: str | PathLike[str], system: str, *, threshold: str = "gamma") -> list[Path]:
        """Writes the files that the evaluators of DCASE take, of one system; ``threshold`` is ``gamma`` or ``quantile``."""
        return [Path(path) for path in self._native.submission(path_of(folder, "folder"), str(system), str(threshold))]

    def __reduce__(self) -> tuple[Any, ...]:
        native = self._native
        texts = [text() for text in (native.json, native.sections, native.markdown, native.latex, native.page)]
        return _unpickled, tuple(texts)

    def __repr__(self) -> str:
        return f"Results({self._json['protocol']['name']}, {len(self._json['rows'])} rows)"

    def _repr_html_(self) -> str:
        html: str = self.table().drop(columns=["problem"]).to_html(index=False, float_format="%.2f", na_rep="")
        return html


def run(
    protocol: str | PathLike[str],
    root: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    dataset: str | None = None,
    truth: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
    machines: str | Sequence[str] | None = None,
    sets: str | Sequence[str] | None = None,
    front_end: FrontEnd | None = None,
    front_ends: Mapping[str, FrontEnd] | None = None,
    band_width: int | None = None,
    systems: Sequence[Mapping[str, Any]] | None = None,
    only_own: bool = False,
    clip_seconds: float | None = None,
    out: str | PathLike[str] | None = None,
    cache: str | PathLike[str] | None = None,
    samples: int = 1000,
    progress: ProgressOption = None,
) -> Results:
    """Runs a protocol on the data sets below ``root``, as ``auscult bench run`` does.

    Parameters
    ----------
    protocol
        A name (:func:`protocols`) or a TOML file.
    root, dataset, truth, machines, sets
        Where the data are and what of them to take, as in :func:`auscult.datasets.load`. With ``dataset`` the folder is
        that data set; otherwise it holds those of the protocol in folders of their names.
    front_end, front_ends
        Embeddings of your own, scored beside the protocol's: a function ``(samples, sample_rate)`` that gives a vector
        or frames x features, vectors of every clip in the order of :func:`auscult.datasets.load`, or an ``.npy`` file
        with them. ``front_end`` is called ``own``; ``front_ends`` names several.
    band_width
        Features in a band of the embedding; without it only global matching is run.
    systems
        What to run on the embeddings, as ``[[system]]`` of a protocol file has it; global matching, BEAM and, with
        frames, AdaBEAM if not given.
    only_own
        Leaves the protocol's own systems out.
    out
        A folder: finished sections are kept there, and the run goes on from them.
    cache
        A folder for vectors of the protocol's front ends.
    samples
        Draws of the intervals; 0 for none.

    >>> import tempfile, numpy as np, auscult
    >>> def loudness(samples, sample_rate):
    ...     return np.abs(np.fft.rfft(samples[:16000]))[:512] + 1e-6
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     root = auscult.datasets.synthesize(
    ...         f"{folder}/data", machines=["fan"], train=(6, 2), test=(2, 2), seconds=1.0
    ...     )
    ...     results = auscult.bench.run(
    ...         "baselines", root, dataset="dcase2023", front_end=loudness, band_width=128, only_own=True,
    ...         clip_seconds=1.0, samples=0,
    ...     )
    >>> results.table()["system"].tolist()
    ['own global', 'own BEAM']
    """
    if front_ends is not None and not isinstance(front_ends, Mapping):
        raise InputError(f"front_ends are names with front ends, such as {{'mine': function}}; got {front_ends!r}")
    own = dict(front_ends or {})
    if front_end is not None:
        if "own" in own:
            raise InputError("front_end is called own, and so is one of front_ends; give that another name")
        own["own"] = front_end
    if only_own and not own and not systems:
        raise InputError("only_own leaves nothing to run; give front_end, front_ends or systems")
    width = None if band_width is None else _arrays.whole_number(band_width, "band width", least=1)
    data = _options(dataset, root, truth, machines, sets)
    seconds = optional_number(clip_seconds, "clip_seconds")
    length = _native.protocol_length(path_of(protocol, "protocol"), seconds)
    given = [_own(name, embedding, width, length) for name, embedding in own.items()]
    added = None if systems is None else json.dumps([dict(system) for system in systems])
    options = {
        "protocol": fspath(protocol),
        "systems": added,
        "only_own": bool(only_own),
        "clip_seconds": seconds,
        "out": optional_path(out, "out"),
        "cache": optional_path(cache, "cache"),
        "samples": _arrays.whole_number(samples, "samples"),
        "command": f"auscult.bench.run({fspath(protocol)!r})",
        "machine": f"{os.cpu_count()} x {platform.processor() or platform.machine()}",
    }
    sink = Sink(progress)
    results = Results(_native.run_protocol(options, data, given, sink))
    for one in given:
        systems_of_it = [it["name"] for it in results.json["protocol"]["system"] if it["front_end"] == one["name"]]
        scores = [row["score"] for row in results.json["rows"] if row["system"] in systems_of_it]
        if one["function"] is not None and scores and all(score is None for score in scores):
            one["function"].raise_cause(sink.problems)
    return results


def _own(name: str, embedding: FrontEnd, band_width: int | None, length: tuple[int, int]) -> dict[str, Any]:
    """An embedding as the native module takes it; a function is tried once to see what it gives."""
    if not isinstance(name, str) or any(mark in name for mark in "+:@()"):
        raise InputError(f"a front end's name is a text without + : @ ( ), got {name!r}")
    found: dict[str, Any] = {"name": name, "band_width": band_width, "function": None, "vectors": None}
    if isinstance(embedding, (str, PathLike)):
        try:
            embedding = np.load(fspath(embedding), allow_pickle=False)
        except (OSError, ValueError) as error:
            raise InputError(
                f"{name} must be a function, vectors, or an .npy file of numbers; cannot read {fspath(embedding)}: {error}"
            ) from error
    if callable(embedding):
        function = Function(embedding)
        try:
            axis_len, has_frames, _ = function.describe(*length)
        except Exception as error:
            raise FrontEndError(f"{type(error).__name__}: {error}") from error
        return found | {
            "function": function,
            "axis_len": axis_len,
            "has_frames": has_frames,
            "token": uuid.uuid4().hex,
        }
    vectors = _arrays.matrix(embedding, name)
    token = hashlib.sha256(vectors.tobytes()).hexdigest()
    return found | {"vectors": vectors, "axis_len": vectors.shape[1], "has_frames": False, "token": token}
