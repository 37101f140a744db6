"""Data sets and protocols, with embeddings of one's own."""

import json

import numpy as np
import pytest

import auscult

OPTIONS = {"dataset": "dcase2023", "clip_seconds": 2.0, "samples": 0}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench") / "data"
    return auscult.datasets.synthesize(folder, machines=["fan", "valve"], train=(10, 4), test=(4, 4), seconds=2.0)


def data_sets_are_tables_with_labels_and_domains(root):
    clips = auscult.datasets.load("dcase2023", root)
    assert len(clips) == 2 * (14 + 16) and clips.attrs["dataset"] == "dcase2023"
    assert clips.groupby(["machine", "split"]).size().to_dict() == {
        ("fan", "test"): 16, ("fan", "train"): 14, ("valve", "test"): 16, ("valve", "train"): 14,
    }
    assert set(clips["domain"]) == {"source", "target"} and set(clips["label"]) == {"normal", "anomaly"}
    assert len(auscult.datasets.load("dcase2023", root, machines="fan")) == 30
    with pytest.raises(auscult.AuscultError, match="dcase1999"):
        auscult.datasets.load("dcase1999", root)


def an_embedding_of_ones_own_scores_beside_ours(root, tmp_path):
    """As ASDKit has it: an own embedding, and a back end that is not its own."""

    def cepstra(samples, sample_rate):
        return auscult.features.mfcc(samples, sample_rate)

    results = auscult.bench.run("table-3", root, front_end=cepstra, band_width=20, machines=["fan"], **OPTIONS)
    table = results.table().set_index("system")
    mine, ours = table.loc["own AdaBEAM"], table[table.index.str.contains("mfcc AdaBEAM")]
    # The same features, the same bands, the same numbers.
    assert mine["score"] in ours["score"].tolist()
    assert {"own global", "own BEAM"} <= set(table.index) and len(table) > 3

    scores = results.scores()
    own = scores[scores["system"] == "own AdaBEAM"]
    assert len(own) == 16
    official = auscult.metrics.official_scores(own["label"], own["score"], domain=own["domain"])["dcase2023"]
    assert 100 * official == pytest.approx(mine["score"], abs=1e-9)

    files = results.submission(tmp_path / "submission", "own AdaBEAM")
    assert sorted(file.name for file in files) == [
        "anomaly_score_fan_section_00_test.csv", "decision_result_fan_section_00_test.csv",
    ]
    saved = results.save(tmp_path / "run")
    assert json.loads((saved / "results.json").read_text())["rows"] == results.json["rows"]
    assert "own AdaBEAM" in (saved / "results.md").read_text()
    assert "<table" in results._repr_html_()


def vectors_made_elsewhere_score_as_the_function_that_made_them(root, tmp_path):
    def vector(samples, sample_rate):
        return auscult.features.log_mel(samples, sample_rate).mean(axis=0)

    clips = auscult.datasets.load("dcase2023", root)
    import wave

    rows = []
    for path in clips["path"]:
        with wave.open(path) as sound:
            rows.append(vector(np.frombuffer(sound.readframes(sound.getnframes()), "<i2"), sound.getframerate()))
    file = tmp_path / "vectors.npy"
    np.save(file, np.stack(rows))
    common = {"band_width": 38, "only_own": True, **OPTIONS}
    of_function = auscult.bench.run("baselines", root, front_end=vector, **common).table()
    for given in (file, np.stack(rows)):
        of_vectors = auscult.bench.run("baselines", root, front_end=given, **common).table()
        assert of_vectors.equals(of_function)
    with pytest.raises(auscult.EvaluationError, match="59 vectors, and there are 60 clips"):
        auscult.bench.run("baselines", root, front_end=np.stack(rows)[:-1], **common)


def what_fails_in_an_embedding_is_said(root):
    calls = []

    def broken(samples, sample_rate):
        calls.append(len(samples))
        if len(calls) > 3:
            raise ValueError("out of luck")
        return np.ones(8)

    with pytest.warns(auscult.AuscultWarning, match="out of luck"):
        results = auscult.bench.run("baselines", root, front_end=broken, only_own=True, machines="fan", **OPTIONS)
    assert results.table()["score"].isna().all()
    with pytest.raises(auscult.InputError, match="finite"):
        auscult.bench.run("baselines", root, front_end=lambda x, rate: np.full(4, np.nan), **OPTIONS)
    with pytest.raises(auscult.EvaluationError, match="no such protocol"):
        auscult.bench.run("table-99", root, **OPTIONS)


def a_run_goes_on_from_its_folder(root, tmp_path):
    first = auscult.bench.run("genrep", root, out=tmp_path / "run", machines="fan", **OPTIONS)
    seen = []
    second = auscult.bench.run("genrep", root, out=tmp_path / "run", machines="fan", progress=seen.append, **OPTIONS)
    assert second.table().equals(first.table()) and not seen
