"""Detectors with the manners of scikit-learn."""

import pickle

import numpy as np
import pytest
from conftest import RATE
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import auscult
from auscult.sklearn import BandDetector, BeamDetector

RNG = np.random.default_rng(5)
X = RNG.normal(4, 1, (200, 60))
Y = np.concatenate([RNG.normal(4, 1, (30, 60)), RNG.normal(4, 2, (30, 60))])
TRUTH = np.repeat([0, 1], 30)


@parametrize_with_checks([BandDetector(), BandDetector(band_width=1, neighbours=0, metric="euclidean")])
def every_check_of_scikit_learn_passes(estimator, check):
    check(estimator)


def plain_distances_are_those_of_nearest_neighbours():
    ours = BandDetector(neighbours=0, metric="euclidean").fit(X)
    theirs = NearestNeighbors(n_neighbors=1).fit(X.astype(np.float32))
    np.testing.assert_allclose(-ours.score_samples(Y), theirs.kneighbors(Y.astype(np.float32))[0][:, 0], rtol=1e-6)
    left_out = theirs.kneighbors()[0][:, 0]
    np.testing.assert_allclose(ours.decision_scores_, left_out, rtol=1e-6)
    cosine = NearestNeighbors(n_neighbors=1, metric="cosine").fit(X)
    found = BandDetector(neighbours=0).fit(X)
    np.testing.assert_allclose(-found.score_samples(Y), cosine.kneighbors(Y)[0][:, 0] / 2, rtol=1e-4)


def what_the_attributes_mean_is_what_scikit_learn_and_pyod_mean():
    detector = BandDetector(band_width=20, contamination=0.1).fit(X)
    assert (detector.decision_function(Y) == detector.score_samples(Y) - detector.offset_).all()
    assert set(detector.predict(Y)) == {-1, 1}
    assert detector.labels_.sum() == 20 and detector.threshold_ == -detector.offset_
    assert ((detector.predict(X) == -1) == (detector.labels_ == 1)).all()
    assert auscult.metrics.auc(TRUTH, -detector.score_samples(Y)) > 0.9
    lof = LocalOutlierFactor(novelty=True).fit(X)
    assert auscult.metrics.auc(TRUTH, -lof.score_samples(Y)) > 0.9


def clones_pickles_pipelines_and_searches_work():
    detector = BandDetector(band_width=20, neighbours=2, density_exponent="auto")
    assert clone(detector).get_params() == detector.get_params()
    detector.fit(X)
    again = pickle.loads(pickle.dumps(detector))
    assert (again.score_samples(Y) == detector.score_samples(Y)).all()
    assert (again.score_samples(X) == detector.score_samples(X)).all()
    pipeline = make_pipeline(StandardScaler(), BandDetector(metric="euclidean")).fit(X)
    assert pipeline.predict(Y).shape == (60,)

    def figure(estimator, rows, labels):
        return auscult.metrics.auc(labels, -estimator.score_samples(rows))

    folds = StratifiedKFold(3)
    search = GridSearchCV(BandDetector(), {"band_width": [None, 20], "neighbours": [0, 1]}, scoring=figure, cv=folds)
    search.fit(np.concatenate([X, Y]), np.concatenate([np.zeros(200), TRUTH]))
    assert 0.5 < search.best_score_ <= 1


def groups_leave_together():
    rows = np.repeat(RNG.normal(4, 1, (20, 30)), 2, axis=0) + RNG.normal(0, 1e-3, (40, 30))
    alone = BandDetector(neighbours=0).fit(rows)
    grouped = BandDetector(neighbours=0).fit(rows, groups=np.arange(40) // 2)
    assert grouped.decision_scores_.min() > 10 * alone.decision_scores_.max()
    with pytest.raises(auscult.InputError, match="one for each clip"):
        BandDetector().fit(rows, groups=[1])


def odd_parameters_are_refused():
    for parameters in (
        {"contamination": 0.9}, {"contamination": "some"}, {"band_width": 2.5}, {"metric": "x"}, {"neighbours": -1},
        {"neighbours": 2**70},
    ):
        with pytest.raises(ValueError, match="must be|unknown"):
            BandDetector(**parameters).fit(X)
    with pytest.raises(ValueError, match="NaN"):
        BandDetector().fit(np.full((5, 3), np.nan))


def what_becomes_of_the_callers_array_does_not_matter():
    rows = X.astype(np.float32)
    detector = BandDetector().fit(rows)
    expected = detector.score_samples(X).tolist()
    assert (detector.references_[0] == rows).all()
    rows[:] = 0
    assert detector.score_samples(X).tolist() == expected
    assert pickle.loads(pickle.dumps(detector)).score_samples(X).tolist() == expected
    with pytest.raises(AttributeError):
        BandDetector().references_


def odd_settings_of_sound_are_refused(clips):
    with pytest.raises(auscult.InputError, match="clip_seconds"):
        BeamDetector(clip_seconds=-1).fit(clips)
    with pytest.raises(auscult.InputError, match="a name, got function"):
        BeamDetector(lambda x, rate: x).fit(clips)


def sound_is_detected_on_by_the_front_end_of_the_paper(noise, clips):
    visits = [at // 2 for at in range(24)]
    detector = BeamDetector().fit(clips, groups=visits)
    hum = 0.1 * np.sin(2 * np.pi * 1000 * np.arange(RATE) / RATE)
    queries = np.stack([hum, clips[0] * 1.3])
    # The same as a machine of the preset paper, bit for bit.
    assert (-detector.score_samples(queries)).tolist() == noise.score(queries, sample_rate=RATE).score.tolist()
    assert sorted(detector.decision_scores_.tolist()) == noise.calibration_scores.tolist()
    again = pickle.loads(pickle.dumps(clone(detector).fit(clips)))
    assert again.predict([hum]).tolist() == [-1]
    assert BeamDetector("lpc", clip_seconds=0.5).fit(clips).score_samples(list(queries)).shape == (2,)
    with pytest.raises(auscult.InputError, match="one clip"):
        detector.predict(hum)


def a_pickled_detector_is_the_fitted_one():
    for detector in (BandDetector(band_width=8), BandDetector(band_width=8, metric="euclidean")):
        detector.fit(X).set_params(neighbours=5, band_width=30)
        again = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(detector))))
        assert again.score_samples(Y).tolist() == detector.score_samples(Y).tolist()
        assert again.get_params() == detector.get_params()


def the_two_zeros_are_one_number():
    zeros = X.copy()
    zeros[:, 0] = 0.0
    detector = BandDetector().fit(zeros)
    assert detector.score_samples(np.where(zeros == 0, -0.0, zeros)).tolist() == detector.score_samples(zeros).tolist()


def one_group_is_refused():
    with pytest.raises(auscult.InputError, match="at least 2 groups"):
        BandDetector().fit(X, groups=["a"] * len(X))
