"""Archives: the rows of the program, in shards that any engine may score."""

from __future__ import annotations

import json
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import auscult
from auscult.archive import Scorer, Shard, Summary


@pytest.fixture(scope="module")
def model(pump: auscult.Machine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("archive") / "pump.auscult"
    pump.save(path)
    return path


@pytest.fixture(scope="module")
def manifest(check: Path) -> Path:
    """Every clip to check, in halves, and one that is not there."""
    rows = [f"{path.name},{start},1" for path in sorted(check.glob("*.wav")) for start in (0, 1)]
    path = check / "clips.csv"
    path.write_text("path,start_seconds,seconds\n" + "\n".join([*rows, "gone.wav,,"]) + "\n")
    return path


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("shard=*"))}


def rows_are_those_of_the_machine(model: Path, check: Path, pump: auscult.Machine) -> None:
    paths = sorted(check.glob("*.wav"))
    rows = Scorer(model, base=check).score([{"uri": path.name} for path in paths])
    scores = pump.score(paths)
    assert rows["score"] == scores.score.tolist()
    assert rows["p_value"] == scores.p_value.tolist()
    assert rows["verdict"] == list(scores.verdict)
    assert rows["differs_most"] == list(scores.differs_most)
    batch = rows.to_arrow()
    assert batch.num_rows == len(paths) == len(rows)
    assert batch.schema.names == list(rows.to_pandas().columns)


def shards_of_many_processes_are_those_of_one(model: Path, manifest: Path, tmp_path: Path) -> None:
    whole = auscult.archive.score(manifest, model, tmp_path / "one", shard_clips=3)
    assert whole.errors == 1 and whole.skipped == 0
    plan = auscult.archive.plan(manifest, shard_clips=3)
    assert whole.shards == len(plan) and plan.clips == whole.rows
    scorer = Scorer(model, base=plan.base, threads=1)
    scorer.prepare(plan, tmp_path / "many")
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        parts = list(pool.map(scorer.write, plan, [tmp_path / "many"] * len(plan)))
    together = sum(parts, Summary())
    assert (together.rows, together.errors) == (whole.rows, whole.errors)
    assert _files(tmp_path / "many") == _files(tmp_path / "one")
    again = auscult.archive.score(manifest, model, tmp_path / "many", shard_clips=3)
    assert (again.skipped, again.rows) == (len(plan), 0)


def the_program_and_the_package_write_the_same(
    model: Path, manifest: Path, tmp_path: Path, program: Any
) -> None:
    auscult.archive.score(manifest, model, tmp_path / "package", shard_clips=4)
    options = ["--out", tmp_path / "program", "--shard-clips", 4, "--json"]
    ran = program("archive", "score", model, manifest, *options)
    assert ran.returncode == 2, ran.stderr
    assert json.loads(ran.stdout)["errors"] == 1
    assert _files(tmp_path / "program") == _files(tmp_path / "package")


def progress_counts_clips_and_an_interrupt_keeps_whole_shards(model: Path, manifest: Path, tmp_path: Path) -> None:
    told: list[auscult.Progress] = []
    auscult.archive.score(manifest, model, tmp_path / "all", shard_clips=2, progress=told.append)
    assert told[-1].what == "clips" and told[-1].done == told[-1].total

    def stop(progress: auscult.Progress) -> None:
        if progress.done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        auscult.archive.score(manifest, model, tmp_path / "some", shard_clips=2, progress=stop)
    kept = _files(tmp_path / "some")
    assert kept and all(_files(tmp_path / "all")[name] == content for name, content in kept.items())


def what_cannot_be_used_is_refused_in_words(model: Path, manifest: Path, check: Path, tmp_path: Path) -> None:
    scorer = Scorer(model, base=check)
    for clips, expected in [
        ([{"path": "a.wav"}], "a clip has uri"),
        ([{"uri": "a.wav", "start": 1}], "a clip has uri"),
        (["a.wav"], "a clip is a mapping"),
        ([{"uri": "a.wav", "seconds": "x"}], "invalid type"),
    ]:
        with pytest.raises(auscult.InputError, match=expected):
            scorer.score(clips)  # type: ignore[arg-type]
    with pytest.raises(auscult.ModelNotFoundError):
        Scorer(tmp_path / "gone.auscult")
    with pytest.raises(auscult.InputError, match="lists no clips"):
        (tmp_path / "empty.csv").write_text("path\n")
        auscult.archive.plan(tmp_path / "empty.csv")
    with pytest.raises(auscult.InputError, match="shard_clips"):
        auscult.archive.plan(manifest, shard_clips=0)
    auscult.archive.score(manifest, model, tmp_path / "out")
    with pytest.raises(auscult.TargetError, match="other settings"):
        auscult.archive.score(manifest, model, tmp_path / "out", hop_seconds=0.5)
    auscult.archive.score(manifest, model, tmp_path / "out", hop_seconds=0.5, replace=True)


def scorers_and_shards_can_be_sent_to_other_processes(model: Path, check: Path) -> None:
    scorer = Scorer(model, base=check, hop_seconds=1.0, channel=0, threads=1)
    again = pickle.loads(pickle.dumps(scorer))
    assert again.settings_hash == scorer.settings_hash != Scorer(model).settings_hash
    shard = Shard(3, '[{"uri": "gone.wav"}]')
    assert again.score(pickle.loads(pickle.dumps(shard)))["error"][0] == scorer.score(shard)["error"][0]
