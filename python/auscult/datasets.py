"""Published data sets of the field, as tables; and made-up ones to try things on."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native
from ._control import logger
from ._extras import needed
from ._recordings import path_of, text, texts
from .errors import AuscultError

if TYPE_CHECKING:
    import pandas

__all__ = ["load", "synthesize"]


def _options(
    dataset: str | None,
    root: str | PathLike[str] | Sequence[str | PathLike[str]],
    truth: str | PathLike[str] | Sequence[str | PathLike[str]] | None,
    machines: str | Sequence[str] | None,
    sets: str | Sequence[str] | None,
) -> dict[str, Any]:
    return {
        "dataset": text(dataset),
        "roots": texts(root, "root"),
        "truth": texts(() if truth is None else truth, "truth"),
        "machines": texts(() if machines is None else machines, "machines"),
        "sets": texts(() if sets is None else sets, "sets"),
    }


def load(
    dataset: str | None,
    root: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    truth: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
    machines: str | Sequence[str] | None = None,
    sets: str | Sequence[str] | None = None,
) -> pandas.DataFrame:
    """The clips of a data set: path, name, machine, section, set, split, label, domain, attributes. Needs pandas.

    ``dataset`` is ``dcase2020`` to ``dcase2026``, ``mimii`` or ``folder``; ``None`` looks at the folders. ``truth`` is a
    folder with the ground truth of evaluation sets. Rows are sorted by set, machine, section, split and name. Zip
    archives need not be unpacked. ``DataFrame.attrs`` has the name of the data set and remarks on what was found.

    >>> import tempfile, auscult
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     root = auscult.datasets.synthesize(
    ...         f"{folder}/data", machines=["fan"], train=(2, 1), test=(1, 1), seconds=1.0
    ...     )
    ...     clips = auscult.datasets.load("dcase2023", root)
    >>> clips.groupby(["split", "label"]).size().to_dict()
    {('test', 'anomaly'): 2, ('test', 'normal'): 2, ('train', 'normal'): 3}
    """
    pandas_module = needed("pandas", "pandas")
    found = json.loads(_native.load_dataset(_options(dataset, root, truth, machines, sets)))
    columns = ["path", "name", "machine", "section", "set", "split", "label", "domain", "attributes"]
    frame: pandas.DataFrame = pandas_module.DataFrame(found["rows"], columns=columns)
    frame.attrs.update(dataset=found["dataset"], remarks=found["remarks"])
    for remark in found["remarks"]:
        logger.info("%s", remark)
    return frame


def synthesize(
    folder: str | PathLike[str],
    *,
    layout: str = "dcase",
    machines: Sequence[str] | str = (),
    faults: Sequence[str] | str = (),
    severity: float = 0.5,
    train: tuple[int, int] = (36, 6),
    test: tuple[int, int] = (12, 6),
    visits: int = 4,
    snr_db: float = 6.0,
    seconds: float = 10.0,
    seed: int = 1,
) -> Path:
    """Writes made-up machines (fan, pump, valve, slider) to a new folder, as ``auscult synth`` does.

    ``layout="dcase"`` is a tree with DCASE's names, ``layout="visits"`` one as a plant would have it. ``train`` and
    ``test`` are clips of the source and of the target domain; of test clips there are as many faulty as normal ones.

    >>> import tempfile, auscult
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     root = auscult.datasets.synthesize(
    ...         f"{folder}/pump", layout="visits", machines=["pump"], train=(4, 0), test=(1, 0), visits=2, seconds=1.0
    ...     )
    ...     len(list((root / "pump" / "normal").rglob("*.wav")))
    4
    """
    command = [sys.executable, "-m", "auscult", "synth", "--out", path_of(folder, "folder"), "--layout", str(layout)]
    command += [part for machine in texts(machines, "machines") for part in ("--machine", machine)]
    command += [part for fault in texts(faults, "faults") for part in ("--fault", fault)]
    command += ["--train", *map(str, train), "--test", *map(str, test), "--visits", str(visits)]
    command += ["--severity", str(severity), "--snr-db", str(snr_db), "--seconds", str(seconds), "--seed", str(seed)]
    # The program watches for Ctrl-C in its own way, so it is a process of its own.
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise AuscultError(done.stderr.strip() or f"auscult synth ended with code {done.returncode}")
    return Path(folder)
