"""Figures of scores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

import auscult
from auscult import metrics

TABLES = st.lists(st.tuples(st.booleans(), st.integers(0, 12)), min_size=4, max_size=80).filter(
    lambda rows: len({label for label, _ in rows}) == 2
)


@settings(max_examples=100, deadline=None)
@given(TABLES, st.floats(0.05, 1.0))
def areas_are_those_of_scikit_learn(rows, share):
    y, s = np.array([row[0] for row in rows]), np.array([row[1] for row in rows], dtype=float)
    assert metrics.auc(y, s) == pytest.approx(roc_auc_score(y, s), abs=1e-12)
    assert metrics.pauc(y, s, max_fpr=share) == pytest.approx(roc_auc_score(y, s, max_fpr=share), abs=1e-9)
    assert metrics.auc(y, s) == pytest.approx(1 - metrics.auc(y, -s), abs=1e-12)


def official_scores_are_harmonic_means_of_source_target_and_partial():
    rng = np.random.default_rng(0)
    y, s = np.tile([0, 1], 100), rng.normal(size=200) + np.tile([0, 1], 100)
    domain = np.repeat(["source", "target"], 100)
    found = metrics.official_scores(y, s, domain=domain)
    anomalies = y == 1
    parts = [
        metrics.auc(y[keep], s[keep])
        for keep in [(domain == "source") | anomalies, (domain == "target") | anomalies]
    ] + [metrics.pauc(y, s)]
    assert found["dcase2023"] == pytest.approx(3 / sum(1 / part for part in parts), abs=1e-12)
    assert metrics.official_scores(y, s)["dcase2023"] is None


def intervals_hold_the_figure():
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 60)
    s = rng.normal(size=120) + y
    found = metrics.intervals(y, s, samples=200)["auc"]
    assert found["bootstrap"]["low"] < metrics.auc(y, s) < found["bootstrap"]["high"]


def the_programs_report_is_the_packages(program, tmp_path):
    import json

    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 30)
    s = rng.normal(size=60) + y
    table = tmp_path / "scores.csv"
    lines = [f"{at}.wav,{label},{float(score)!r}" for at, (label, score) in enumerate(zip(y, s))]
    table.write_text("path,label,score\n" + "\n".join(lines))
    expected = json.loads(program("metrics", table, "--json").stdout)
    found = metrics.report(y, s)
    assert {name: expected[name] for name in ("auc", "pauc", "normal", "intervals")} == {
        name: found[name] for name in ("auc", "pauc", "normal", "intervals")
    }


@pytest.mark.parametrize(
    ("y", "s", "said"),
    [
        ([0, 2], [1.0, 2.0], "got 2"),
        ([0, 0], [1.0, 2.0], "one kind"),
        ([0, 1], [1.0, np.nan], "score 1 is nan"),
        ([0, 1], [1.0], "2 labels and 1 scores"),
        (["normal", "odd"], [1.0, 2.0], "'odd'"),
        ([[0, 1]], [1.0, 2.0], "one dimension"),
    ],
)
def odd_tables_are_refused(y, s, said):
    with pytest.raises(auscult.InputError, match=said):
        metrics.auc(y, s)
