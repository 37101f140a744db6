"""The steps of the method, and their laws."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import auscult
from auscult import method

SEEDS = st.integers(0, 2**31)


def _rows(seed, count, width, offset=3.0):
    return (np.random.default_rng(seed).normal(size=(count, width)) + offset).astype(np.float32)


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(2, 30), st.integers(1, 40), st.integers(1, 50), st.integers(0, 5), st.sampled_from(["mean", "max", "min"]))
def the_fast_way_equals_the_open_one(seed, references, width, band_width, neighbours, aggregate):
    rows, queries = _rows(seed, references, width), _rows(seed + 1, 5, width)
    options = {"band_width": band_width, "neighbours": neighbours, "aggregate": aggregate}
    fast = auscult.beam_scores(rows, queries, **options)
    slow = auscult.beam_scores(rows, queries, **options, distance=auscult.cosine_distances, scale=auscult.local_scales)
    np.testing.assert_allclose(fast, slow, rtol=1e-7, atol=1e-15)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(1, 20), st.integers(1, 30), st.sampled_from(["cosine", "euclidean", "squared-euclidean", "unit-euclidean"]))
def distances_are_a_metrics(seed, count, width, metric):
    rows = _rows(seed, count, width)
    found = auscult.cosine_distances(rows, metric=metric)
    assert found.shape == (count, count)
    assert (np.diag(found) == 0).all() and (found == found.T).all() and (found >= 0).all()
    wide = rows.astype(np.float64)
    if metric == "cosine":
        unit = wide / np.linalg.norm(wide, axis=1, keepdims=True)
        np.testing.assert_allclose(found, (1 - unit @ unit.T) / 2, atol=1e-7)
    if metric == "euclidean":
        np.testing.assert_allclose(found, np.linalg.norm(wide[:, None] - wide[None], axis=2), rtol=1e-6, atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(3, 20), st.integers(2, 30), st.integers(1, 30))
def laws_of_the_paper_hold(seed, count, width, band_width):
    rows, queries = _rows(seed, count, width), _rows(seed + 1, 4, width)
    whole = auscult.beam_scores(rows, queries)
    # One band over everything is global matching; the order of references does not matter.
    assert (auscult.beam_scores(rows, queries, band_width=width) == whole).all()
    order = np.random.default_rng(seed).permutation(count)
    shuffled = auscult.beam_scores(rows[order], queries, band_width=band_width)
    assert (shuffled == auscult.beam_scores(rows, queries, band_width=band_width)).all()
    # References score nothing, and powers of two change nothing.
    assert (auscult.beam_scores(rows, rows, band_width=band_width) == 0).all()
    assert (auscult.beam_scores(rows, queries * 4, band_width=band_width) == auscult.beam_scores(rows, queries, band_width=band_width)).all()


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.integers(3, 12), st.integers(2, 20), st.integers(0, 3))
def left_out_scores_are_scores_against_the_others(seed, count, width, neighbours):
    rows = _rows(seed, count, width)
    found = auscult.left_out_scores(rows, neighbours=neighbours, band_width=7)
    for at in range(count):
        rest = np.delete(rows, at, axis=0)
        expected = auscult.beam_scores(rest, rows[at : at + 1], neighbours=neighbours, band_width=7)[0]
        np.testing.assert_allclose(found[at], expected, rtol=1e-9)


def bands_are_those_of_the_paper():
    assert auscult.bands(128, 38) == [(0, 38), (38, 76), (76, 114), (90, 128)]
    assert auscult.bands(10) == [(0, 10)]
    assert auscult.bands(10, 4, 2) == [(0, 4), (2, 6), (4, 8), (6, 10)]
    with pytest.raises(auscult.InputError):
        auscult.bands(10, 0)
    with pytest.raises(auscult.InputError):
        auscult.bands(10, 2, 0)


def a_step_of_your_own_takes_its_place():
    rows, queries = _rows(1, 20, 24), _rows(2, 4, 24)
    seen = []

    def distance(left, right):
        seen.append((left.shape, right.shape))
        return np.abs(left[:, None] - right[None]).sum(axis=2)

    found = auscult.beam_scores(rows, queries, band_width=8, distance=distance, aggregate=lambda s: np.median(s, axis=1))
    assert found.shape == (4,) and ((4, 8), (20, 8)) in seen
    none = auscult.beam_scores(rows, queries, scale=lambda distances, neighbours: np.ones(len(distances)))
    np.testing.assert_allclose(none, auscult.beam_scores(rows, queries, neighbours=0), rtol=1e-9)
    with pytest.raises(auscult.InputError, match="4 x 20"):
        auscult.beam_scores(rows, queries, distance=lambda left, right: np.zeros(3))


def two_views_are_fused():
    mean, most = _rows(1, 20, 24), _rows(2, 20, 24)
    queries = [_rows(3, 5, 24), _rows(4, 5, 24)]
    fused = auscult.beam_scores([mean, most], queries, band_width=8)
    parts = [auscult.beam_scores(rows, query, band_width=8) for rows, query in zip([mean, most], queries)]
    np.testing.assert_allclose(fused, auscult.dmm(*parts), rtol=1e-12)
    assert auscult.dmm([1.0], [3.0], fuse="max").tolist() == [3.0]


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.integers(2, 6))
def diagnostics_are_those_of_the_appendix(seed, parts):
    width = 6 * parts
    rows, queries = _rows(seed, 15, width), _rows(seed + 1, 12, width)
    labels = np.arange(12) % 2
    found = auscult.diagnostics(rows, queries, labels, band_width=6)
    clips, summary = found["clips"], found["summary"]
    np.testing.assert_allclose(clips["global"], auscult.beam_scores(rows, queries, neighbours=0), rtol=1e-6)
    np.testing.assert_allclose(clips["sub_band"], auscult.beam_scores(rows, queries, neighbours=0, band_width=6), rtol=1e-6)
    np.testing.assert_allclose(clips["penalty"], clips["uniform"] - clips["sub_band"], atol=1e-12)
    # B by the paper's formula is 2 (S_uni - S_glob) for disjoint bands that cover the axis.
    np.testing.assert_allclose(clips["deviation"], clips["deviation_by_formula"], atol=1e-6)
    assert (clips["coupling"] <= 1 + 1e-6).all()
    assume(summary is not None)
    assert summary["bands"] == parts
    np.testing.assert_allclose(summary["variance_global"], clips["global"][labels == 0].var(), rtol=1e-6)


def band_scores_say_where():
    rows = _rows(1, 9, 20)
    odd = rows[:1].copy()
    odd[0, 10:] = _rows(77, 1, 10, -3.0)
    scores, nearest = method.band_scores(rows, odd, band_width=10)
    assert scores[0, 0] == 0 and nearest[0, 0] == 0 and scores[0, 1] > 1


def whole_numbers_of_any_kind_are_widths():
    rows = np.random.default_rng(3).normal(4, 1, (8, 20))
    expected = auscult.beam_scores(rows, rows[::-1] + 0.1, band_width=5, band_stride=4)
    for kind in (np.int64, float, np.float64):
        given = auscult.beam_scores(rows, rows[::-1] + 0.1, band_width=kind(5), band_stride=kind(4))
        assert given.tolist() == expected.tolist()
        assert auscult.left_out_scores(rows, band_width=kind(5)).shape == (8,)
        assert auscult.method.band_scores(rows, rows, band_width=kind(5))[0].shape == (8, 4)
    for wrong, said in [(5.5, "band width must be a whole number, got 5.5"), (-5, "band width must be 0 to")]:
        with pytest.raises(auscult.InputError, match=said):
            auscult.beam_scores(rows, rows, band_width=wrong)
    with pytest.raises(auscult.InputError, match="known: .*cosine") as caught:
        auscult.beam_scores(rows, rows, metric="sine")
    assert "column" not in str(caught.value)


def groups_leave_together_or_are_refused():
    rows = np.random.default_rng(3).normal(4, 1, (6, 20))
    groups = ["a"] * 5 + ["b"]
    expected = auscult.beam_scores(rows[5:], rows[:5])
    assert auscult.left_out_scores(rows, groups=groups)[:5].tolist() == expected.tolist()
    with pytest.raises(auscult.InputError, match="at least 2 groups"):
        auscult.left_out_scores(rows, groups=["a"] * 6)
