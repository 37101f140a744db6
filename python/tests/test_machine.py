"""A machine: learning, changing, listening, saving."""

import os
import pickle
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from conftest import RATE

import auscult

VISITS = [at // 2 for at in range(24)]


def _learn(clips, visits, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", auscult.AuscultWarning)
        return auscult.Machine.learn(
            clips, sample_rate=RATE, visits=visits, preset="paper", clip_seconds=1.0, **options
        )


def the_forms_that_scripts_rely_on(normal, check, tmp_path, monkeypatch):
    shutil.copytree(normal, tmp_path / "recordings")
    shutil.copy(sorted(check.rglob("*.wav"))[0], tmp_path / "a.wav")
    monkeypatch.chdir(tmp_path)
    with pytest.warns(auscult.AuscultWarning):
        m = auscult.Machine.learn("recordings/", clip_seconds=2.0)
    m.save("pump.auscult")
    s = m.score(["a.wav"])
    assert s.score.shape == s.p_value.shape == s.verdict.shape == (1,)
    assert s.to_pandas().loc[0, "score"] == s.score[0]
    X, Y = np.random.default_rng(0).normal(3, 1, (60, 128)), np.random.default_rng(1).normal(3, 1, (4, 128))
    assert auscult.sklearn.BandDetector(band_width=38, neighbours=1).fit(X).score_samples(Y).shape == (4,)
    assert auscult.metrics.auc([0, 1], [0.0, 1.0]) == 1.0
    assert auscult.features.log_mel(np.zeros(16000), 16000, convention="s15").shape[1] == 128


def a_named_member_of_a_preset_is_changed(clips):
    with pytest.warns(auscult.AuscultWarning):
        machine = auscult.Machine.learn(
            clips, sample_rate=RATE, preset="fast", front_end="modulation(neighbours=5)", clip_seconds=1.0
        )
    assert machine.preset is None, "it is not the preset any more"
    assert machine.front_end == "log-mel (dcase) + modulation"


def adding_and_forgetting_equal_a_fresh_fit(clips, noise):
    grown = _learn(clips[:20], VISITS[:20]).add(clips[20:], sample_rate=RATE, visits=VISITS[20:])
    queries = clips[:3] * 1.3
    expected = noise.score(queries, sample_rate=RATE).score
    assert grown.score(queries, sample_rate=RATE).score.tolist() == expected.tolist()
    shrunk = noise.forget(visits=["10", "11"])
    fresh = _learn(clips[:20], VISITS[:20])
    assert shrunk.reference_count == 20
    assert shrunk.calibration_scores.tolist() == fresh.calibration_scores.tolist()
    assert noise.forget(indices=[0]).reference_count == 23
    with pytest.raises(auscult.InputError, match="visit"):
        noise.forget(visits=["never"])


def a_machine_survives_file_and_pickle(noise, clips, tmp_path):
    file = tmp_path / "noise.auscult"
    noise.save(file)
    queries = clips * 1.2
    expected = noise.score(queries, sample_rate=RATE).score.tolist()
    for again in (auscult.Machine.open(file), pickle.loads(pickle.dumps(noise))):
        assert again.hash == noise.hash
        assert again.score(queries, sample_rate=RATE).score.tolist() == expected
    again.verify()


def pushed_sound_equals_scored_sound(noise, clips):
    sound = np.concatenate(clips[:4])
    whole = noise.score(sound, sample_rate=RATE)
    assert len(whole) == 4
    with noise.live(RATE) as live:
        pushed = [record for piece in np.array_split(sound, 13) for record in live.push(piece)]
    assert [record.score for record in pushed] == whole.score.tolist()
    assert [record.start_seconds for record in pushed] == [0.0, 1.0, 2.0, 3.0]
    with pytest.raises(auscult.InputError, match="finished"):
        live.push(sound)


def other_rates_are_resampled(noise, clips):
    slow = noise.score(np.repeat(clips[0], 3), sample_rate=48_000)
    assert np.isfinite(slow.score).all() and len(slow) == 1


def clips_that_are_not_sound_have_no_score(noise):
    odd = [np.zeros(RATE), np.full(RATE, 0.5), np.full(RATE, np.nan), np.ones(100) * 0.1]
    with pytest.warns(auscult.AuscultWarning, match="not scored"):
        scores = noise.score(odd, sample_rate=RATE)
    assert scores.verdict.tolist() == ["silent", "constant", "not-finite", "too-short"]
    assert np.isnan(scores.score).all() and np.isnan(scores.p_value).all()
    assert scores[0].score is None
    with pytest.raises(auscult.UnusableClipError, match="silent"):
        _ignored(lambda: noise.explain(odd[0], sample_rate=RATE))


def _ignored(work):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return work()


def tables_have_a_row_a_clip_and_those_of_arrow_share_their_numbers(noise, clips):
    scores = noise.score(clips[:3], sample_rate=RATE)
    frame, table, polars = scores.to_pandas(), scores.to_arrow(), scores.to_polars()
    assert list(frame.columns) == table.column_names == polars.columns
    assert frame["score"].tolist() == table["score"].to_pylist() == polars["score"].to_list() == scores.score.tolist()
    address = scores.score.__array_interface__["data"][0]
    assert table["score"].chunk(0).buffers()[1].address == address
    assert polars["score"].to_numpy(allow_copy=False).__array_interface__["data"][0] == address
    frame.loc[0, "score"] = 5.0
    assert scores.score[0] == 0.0 == scores[0].score
    with pytest.raises(ValueError, match="read-only"):
        scores.score[0] = 5.0
    import pyarrow

    assert pyarrow.table(scores).equals(table)


def records_are_a_sequence(noise, clips):
    scores = noise.score(clips[:3], sample_rate=RATE)
    assert [record.path for record in scores] == ["array 0", "array 1", "array 2"]
    assert scores[-1] == scores[2] and len(scores[1:]) == 2
    with pytest.raises(IndexError, match="3 records"):
        scores[3]


def promises_change_with_calibration(noise, pump):
    strict, loose = noise.calibrate(false_alarm_rate=0.05), noise.calibrate(false_alarm_rate="20%")
    assert loose.threshold < strict.threshold
    assert loose.settings["false_alarm_rate"] == 0.2
    with pytest.raises(auscult.BudgetError):
        noise.calibrate(budget="1 alarm per year")
    with pytest.raises(auscult.InputError, match="got 2"):
        noise.calibrate(false_alarm_rate=2)
    with pytest.warns(auscult.AuscultWarning, match="no threshold: a false-alarm rate of 0.1 %") as caught:
        assert noise.calibrate(false_alarm_rate=0.001).threshold is None
    assert caught[0].filename == __file__


def tuned_settings_are_learnt_with(clips):
    chosen = auscult.Machine.tune(
        clips[:12], sample_rate=RATE, visits=VISITS[:12], clip_seconds=1.0, presets=["paper"], most_settings=2
    )
    assert len(chosen.ranking["ranking"]) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machine = auscult.Machine.learn(clips, sample_rate=RATE, visits=VISITS, settings=chosen)
    assert machine.settings["front_end"]["name"] == chosen.front_end
    assert machine.clip_seconds == 1.0
    for beside in ({"preset": "best"}, {"front_end": "mfcc"}, {"convention": "s15"}):
        with pytest.raises(auscult.InputError, match="settings choose"):
            auscult.Machine.learn(clips, sample_rate=RATE, settings=chosen, **beside)


def reports_are_pages_and_replace_only_pages(pump, check, noise, clips, tmp_path):
    page = pump.report(tmp_path / "pump.html", check, title="Pump <3>")
    text = page.read_text()
    assert "Pump &lt;3&gt;" in text and "<audio" in text
    pump.report(page)
    hum = 0.1 * np.sin(2 * np.pi * 1000 * np.arange(RATE) / RATE)
    scores = noise.score([hum], sample_rate=RATE, explain=True)
    assert "<audio" in noise.report(tmp_path / "arrays.html", scores).read_text()
    letter = tmp_path / "letter.html"
    letter.write_text("dear all")
    with pytest.raises(auscult.TargetError, match="not a page"):
        pump.report(letter)
    with pytest.raises(OSError):
        pump.report(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.html")
        with pytest.raises(auscult.TargetError, match="not a page"):
            pump.report(tmp_path / "pipe.html")


def notebooks_show_picture_and_player(pump, check, noise, clips):
    assert "<svg" in pump._repr_html_() and "<audio" in pump._repr_html_()
    scores = pump.score(check)
    assert "<svg" in scores._repr_html_() and "<audio" in scores._repr_html_()
    why = pump.explain(sorted(check.rglob("*.wav"))[-1])
    assert "data:image/png" in why._repr_html_() and "<audio" in why._repr_html_()
    # Names are text, not markup.
    odd = auscult.Explanation("<b>", [], scores[0], RATE, None)
    assert "<b>" not in odd._repr_html_()


@pytest.mark.filterwarnings("ignore::auscult.AuscultWarning")
def what_is_left_out_is_named(clips, tmp_path):
    machine = auscult.Machine.learn(
        [*clips[:20], np.zeros(RATE), clips[0]], sample_rate=RATE, preset="paper", clip_seconds=1.0, visits="monday"
    )
    assert [one["kind"] for one in machine.left_out] == ["unusable", "copy"]
    assert machine.visits == ["monday"] and not machine.is_promised and "visit" in machine.shortcoming


def folders_that_look_like_labels_are_asked_about(check, normal, tmp_path):
    sounds = sorted(normal.rglob("*.wav"))
    for folder, chosen in [("normal", sounds[:3]), ("abnormal", sounds[3:6])]:
        (tmp_path / folder).mkdir()
        for at, sound in enumerate(chosen):
            shutil.copy(sound, tmp_path / folder / f"{at}.wav")
    with pytest.raises(auscult.LabelFoldersError, match="look like labels"):
        auscult.Machine.learn(tmp_path, clip_seconds=2.0, preset="paper")
    with pytest.warns(auscult.AuscultWarning):
        machine = auscult.Machine.learn(tmp_path, clip_seconds=2.0, preset="paper", label_folders="use")
    assert machine.reference_count == 3


def unreadable_recordings_are_warnings_beside_good_ones(pump, check, tmp_path):
    bad = tmp_path / "bad.wav"
    bad.write_bytes(b"RIFF    WAVEnonsense")
    good = sorted(check.rglob("*.wav"))[0]
    with pytest.warns(auscult.AuscultWarning, match="bad.wav"):
        scores = pump.score([bad, good])
    assert len(scores) == 1 and "bad.wav" in scores.problems[0]
    with pytest.raises(auscult.SoundError, match="bad.wav"):
        _ignored(lambda: pump.score(bad))


def models_of_other_kinds_are_refused_with_the_reason(tmp_path, noise):
    file = tmp_path / "noise.auscult"
    noise.save(file)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "damaged.auscult").write_bytes(data)
    with pytest.raises(auscult.ModelError, match="damaged"):
        auscult.Machine.open(tmp_path / "damaged.auscult")
    (tmp_path / "foreign.auscult").write_bytes(b"hello")
    with pytest.raises(auscult.ModelError, match="not an auscult model"):
        auscult.Machine.open(tmp_path / "foreign.auscult")
    version = auscult._native.model_file_version()
    mark = rb'\"version\":'
    later = file.read_bytes().replace(b"%s%d" % (mark, version), b"%s%d" % (mark, version + 1))
    assert later != file.read_bytes()
    (tmp_path / "later.auscult").write_bytes(later)
    with pytest.raises(auscult.ModelError, match=f"{version + 1}.*{version}"):
        auscult.Machine.open(tmp_path / "later.auscult")
    with pytest.raises(FileNotFoundError):
        auscult.Machine.open(tmp_path / "gone.auscult")
    with pytest.raises(auscult.TargetError):
        noise.save("/no/such/folder/x.auscult")


def models_of_every_version_open():
    folder = Path(__file__).parents[2] / "testdata"
    models = sorted(folder.rglob("*.auscult"))
    assert models, f"no model files below {folder}"
    for model in models:
        assert auscult.Machine.open(model).reference_count > 0, model


def columns_and_arrays_of_paths_are_paths(pump, check):
    import pandas
    import polars

    paths = sorted(str(path) for path in check.rglob("*.wav"))
    expected = pump.score(paths).score.tolist()
    for given in (pandas.Series(paths, index=range(7, 7 + len(paths))), np.array(paths), polars.Series(paths)):
        assert pump.score(given).score.tolist() == expected


def domains_may_be_an_array(noise, clips):
    import pandas

    for kind in (list, np.array, pandas.Series):
        scores = noise.score(clips[:2], sample_rate=RATE, domains=kind(["source", "target"]))
        assert scores.score.tolist() == [0.0, 0.0]
    for one_or_list in (clips[0], [clips[0]]):
        with pytest.raises(auscult.InputError, match="hop"):
            noise.score(one_or_list, sample_rate=RATE, hop_seconds=0)


def clips_that_are_not_scored_are_warned_of_however_they_come(noise, clips):
    for short in (clips[0, :10], [clips[0, :10]]):
        with pytest.warns(auscult.AuscultWarning, match="too short") as caught:
            assert noise.score(short, sample_rate=RATE).verdict.tolist() == ["too-short"]
        assert caught[0].filename == __file__


def scores_are_pickled_without_their_sound(noise, clips, tmp_path):
    import copy
    import pickle

    scores = _ignored(lambda: noise.score([clips[0], np.zeros(RATE)], sample_rate=RATE, explain=True))
    for again in (pickle.loads(pickle.dumps(scores)), copy.deepcopy(scores)):
        assert list(again) == list(scores) and again.to_dicts() == scores.to_dicts()
        assert again.to_pandas().equals(scores.to_pandas())
        assert again.to_arrow().to_pylist()[0] == scores.to_arrow().to_pylist()[0]
        assert again.summary == scores.summary and again.problems == scores.problems
        assert again.samples(0) is None and scores.samples(0) is not None
        with pytest.raises(auscult.InputError, match="pickled"):
            noise.report(tmp_path / "page.html", again)
    assert pickle.loads(pickle.dumps(again)).to_dicts() == scores.to_dicts()


def a_folder_with_names_that_are_not_text_may_be_searched(pump, check, tmp_path):
    import os
    import shutil

    path = sorted(check.rglob("*.wav"))[0]
    shutil.copy(path, tmp_path / "a.wav")
    shutil.copy(path, os.fsencode(tmp_path) + b"/bad\xff.wav")
    assert pump.score(f"{tmp_path}/a*.wav").score.tolist() == pump.score(path).score.tolist()
