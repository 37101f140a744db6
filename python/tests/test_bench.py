"""Data sets and protocols, with embeddings of one's own."""

import json

import numpy as np
import pandas
import pytest

import auscult

OPTIONS = {"dataset": "dcase2023", "clip_seconds": 1.0, "samples": 0}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench") / "data"
    return auscult.datasets.synthesize(folder, machines=["fan", "valve"], train=(10, 4), test=(4, 4), seconds=1.0)


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


class _BackEnd:
    """A back end as toolkits of the field call theirs: embeddings to learn from, then a dictionary of scores."""

    def fit(self, embeddings):
        self._detector = auscult.sklearn.BandDetector(band_width=64).fit(embeddings)
        return self

    def anomaly_score(self, embeddings):
        return {"BEAM": -self._detector.score_samples(embeddings)}


def a_toolkit_with_an_embedding_of_its_own_has_our_back_end(root):
    import wave

    filters = np.abs(np.random.default_rng(3).normal(size=(513, 256)))

    def embed(samples, sample_rate):
        frames = np.lib.stride_tricks.sliding_window_view(samples, 1024)[::512] * np.hanning(1024)
        return np.log(np.abs(np.fft.rfft(frames)) @ filters + 1e-8).mean(axis=0)

    clips = auscult.datasets.load("dcase2023", root)
    rows = []
    for path in clips["path"]:
        with wave.open(path) as sound:
            samples = np.frombuffer(sound.readframes(sound.getnframes()), "<i2").astype(np.float32) / 2**15
        rows.append(embed(samples, 16_000))
    clips["embedding"] = rows
    found = []
    for _, section in clips.groupby(["machine", "section"]):
        train, test = (section[section["split"] == split] for split in ("train", "test"))
        back_end = _BackEnd().fit(np.stack(train["embedding"].tolist()))
        found.append(test.assign(score=back_end.anomaly_score(np.stack(test["embedding"].tolist()))["BEAM"]))
    table = pandas.concat(found)
    official = auscult.metrics.official_scores(
        table["label"], table["score"], domain=table["domain"], machine=table["machine"], section=table["section"]
    )
    results = auscult.bench.run("baselines", root, front_end=embed, band_width=64, only_own=True, **OPTIONS)
    of_ours = results.table().set_index("system").loc["own BEAM", "score"]
    assert 100 * official["dcase2023"] == pytest.approx(of_ours, abs=1e-9)


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

    common = {"only_own": True, "machines": "fan", **OPTIONS}
    with pytest.warns(auscult.AuscultWarning), pytest.raises(auscult.FrontEndError, match="out of luck") as caught:
        auscult.bench.run("baselines", root, front_end=broken, **common)
    assert isinstance(caught.value.__cause__, ValueError)
    for front_end, said in [(lambda x, rate: np.full(4, np.nan), "finite"), (lambda x, rate: 1 / 0, "ZeroDivisionError")]:
        with pytest.raises(auscult.FrontEndError, match=said):
            auscult.bench.run("baselines", root, front_end=front_end, **common)
    with pytest.raises(auscult.EvaluationError, match="no such protocol"):
        auscult.bench.run("table-99", root, **OPTIONS)


def encoders_that_are_trained_first_are_those_of_the_program(root):
    with pytest.warns(auscult.AuscultWarning, match="trained by the program: auscult bench run"):
        results = auscult.bench.run("table-4-small", root, machines="fan", **OPTIONS)
    assert np.isfinite(results.table().set_index("system").loc["AdaBEAM, as it came", "score"])


def a_run_goes_on_from_its_folder(root, tmp_path):
    first = auscult.bench.run("genrep", root, out=tmp_path / "run", machines="fan", **OPTIONS)
    seen = []
    second = auscult.bench.run("genrep", root, out=tmp_path / "run", machines="fan", progress=seen.append, **OPTIONS)
    assert second.table().equals(first.table()) and not seen


def names_that_are_taken_are_refused(root):
    def cepstra(samples, sample_rate):
        return auscult.features.mfcc(samples, sample_rate)

    for name in ("log-mel", "mfcc", "ced"):
        for only_own in (False, True):
            with pytest.raises(auscult.InputError, match=f"none of .*log-mel.*, got {name}"):
                auscult.bench.run("baselines", root, front_ends={name: cepstra}, only_own=only_own, **OPTIONS)
    with pytest.raises(auscult.InputError, match="another name"):
        auscult.bench.run("baselines", root, front_end=cepstra, front_ends={"own": cepstra}, **OPTIONS)


def a_function_is_tried_with_clips_of_the_runs_length(root):
    lengths = set()

    def spectrum(samples, sample_rate):
        lengths.add((len(samples), sample_rate))
        return np.log(np.abs(np.fft.rfft(samples)) + 1e-6)

    results = auscult.bench.run("baselines", root, front_end=spectrum, only_own=True, machines="fan", **OPTIONS)
    assert lengths == {(16_000, 16_000)} and results.table()["score"].notna().all()


def what_is_no_front_end_is_refused_in_words(root, tmp_path):
    np.save(tmp_path / "objects.npy", np.array([{}]), allow_pickle=True)
    for given in ("mfcc", tmp_path / "gone.npy", tmp_path / "objects.npy"):
        with pytest.raises(auscult.InputError, match=r"own must be a function, vectors, or an \.npy file"):
            auscult.bench.run("baselines", root, front_end=given, **OPTIONS)
    with pytest.raises(auscult.InputError, match="front_ends are names with front ends"):
        auscult.bench.run("baselines", root, front_ends=[np.ones(4)], **OPTIONS)
    with pytest.raises(auscult.InputError, match="only_own leaves nothing to run"):
        auscult.bench.run("baselines", root, only_own=True, **OPTIONS)


def results_are_pickled_without_submissions(root, tmp_path):
    import pickle

    results = auscult.bench.run("genrep", root, machines="fan", **OPTIONS)
    again = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(results))))
    assert again.table().equals(results.table()) and again.scores().equals(results.scores())
    assert again.markdown() == results.markdown() and again.json == results.json
    with pytest.raises(auscult.InputError, match="pickled"):
        again.submission(tmp_path, "x")
