#!/usr/bin/env python3
"""Golden numbers of ensembles whose members compare in ways of their own.

Writes testdata/golden/members/members.json: random vectors of two members (one with two views, three
bands, cosine distance and learnt exponents; one with one view, one band, the scaled distance and three
neighbours) and, worked out plainly in numpy (float64), what docs/detection.md defines: the scores s of
clips, l of references left out one by one, h of references against the other visits (or the other
half), the standardised z, and the left-out scores that calibrate: those of a fit without the group.

    python3 tools/golden/members.py
"""

import json
import pathlib

import numpy as np

OUT = pathlib.Path(__file__).resolve().parents[2] / "testdata/golden/members/members.json"
FLOOR = 1e-9


def unit(rows):
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.where(length > 0, rows / np.where(length > 0, length, 1), 0)


class Band:
    """One band of one memory: distances, local scales, exponent."""

    def __init__(self, references, rule):
        self.rule, self.references = rule, references
        if rule["metric"] == "scaled":
            variance = unit(references).var(axis=0)
            self.weights = 1 / np.sqrt(variance + 0.5 * variance.mean())
        self.between = self.distances(references)
        np.fill_diagonal(self.between, np.inf)
        self.exponent = self.learn_exponent() if rule["exponent"] == "auto" else rule["exponent"]
        self.scales = self.scales_of(self.between)

    def distances(self, clips):
        left, right = unit(clips), unit(self.references)
        if self.rule["metric"] == "scaled":
            left, right = left * self.weights, right * self.weights
            return ((left[:, None] - right[None]) ** 2).sum(-1)
        return ((left[:, None] - right[None]) ** 2).sum(-1) / 4

    def scales_of(self, between):
        """Sums over the nearest others; a lone reference has scale 1."""
        nearest = np.sort(between, axis=1)[:, : self.rule["neighbours"]]
        finite = np.where(np.isfinite(nearest), nearest, 0).sum(axis=1)
        return np.where(np.isfinite(nearest).any(axis=1), np.maximum(finite, 1e-12), 1.0)

    def learn_exponent(self):
        pairs = []
        for index, row in enumerate(self.between):
            nearest = int(np.argmin(row))
            others = self.between[nearest].copy()
            others[index] = np.inf
            others = np.sort(others)[: self.rule["neighbours"]]
            others = others[np.isfinite(others)]
            pairs.append((row[nearest], others.sum() if len(others) else 1.0))
        logs = np.log(np.maximum(pairs, 1e-12))
        offsets = logs - logs.mean(axis=0)
        variance = (offsets[:, 1] ** 2).sum()
        if len(pairs) < 3 or variance <= np.finfo(float).eps * len(pairs):
            return 1.0
        return float(np.clip((offsets[:, 0] * offsets[:, 1]).sum() / variance, 0, 1))

    def score(self, clips):
        return (self.distances(clips) / self.scales**self.exponent).min(axis=1)

    def left_out(self):
        scores = []
        for index in range(len(self.between)):
            rest = [other for other in range(len(self.between)) if other != index]
            scales = self.scales_of(self.between[np.ix_(rest, rest)])
            scores.append((self.between[index, rest] / scales**self.exponent).min())
        return np.array(scores)


def fit(members, vectors, visits):
    """Every member's bands, divisors, and what its log scores are standardised by."""
    fitted = []
    for member, vector in zip(members, vectors):
        bands = [Band(vector[:, start:end], member) for start, end in member["bands"]]
        left_out = [band.left_out() for band in bands]
        divisors = [scores.mean() for scores in left_out]
        l = np.mean([scores / by for scores, by in zip(left_out, divisors)], axis=0)
        h = np.zeros(len(vector))
        for group in np.unique(visits):
            own, others = visits == group, visits != group
            h[own] = np.mean(
                [
                    Band(vector[others, start:end], member).score(vector[own, start:end]) / by
                    for (start, end), by in zip(member["bands"], divisors)
                ],
                axis=0,
            )
        fitted.append({"bands": bands, "divisors": divisors, "l": l, "h": h, "member": member})
    return fitted


def scores(fitted, vectors):
    s = [
        np.mean(
            [
                band.score(vector[:, start:end]) / by
                for band, by, (start, end) in zip(one["bands"], one["divisors"], one["member"]["bands"])
            ],
            axis=0,
        )
        for one, vector in zip(fitted, vectors)
    ]
    z = [
        (np.log(value + FLOOR) - np.log(one["l"] + FLOOR).mean()) / np.log(one["h"] + FLOOR).std()
        for value, one in zip(s, fitted)
    ]
    return s, z


def halves(count):
    return (np.arange(count) >= count // 2).astype(int)


def case(seed, count, visits):
    random = np.random.default_rng(seed)
    first = random.normal(size=(count + 6, 24)) * 0.2 + np.linspace(1, 2, 24)
    second = np.abs(random.normal(size=(count + 6, 40))) * np.linspace(0.2, 3, 40)
    first[-2:] += random.normal(size=(2, 24))
    second[-3:, 7] *= 6
    vectors = [v.astype(np.float32).astype(float) for v in (first, second)]
    # Views of 12 positions: bands of 5 with the last one at the end, twice.
    windows = [(0, 5), (5, 10), (7, 12)]
    members = [
        {"metric": "cosine", "neighbours": 1, "exponent": "auto",
         "bands": windows + [(start + 12, end + 12) for start, end in windows]},
        {"metric": "scaled", "neighbours": 3, "exponent": 1.0, "bands": [(0, 40)]},
    ]
    references = [v[:count] for v in vectors]
    clips = [v[count:] for v in vectors]
    wander = np.array(visits) if visits else halves(count)
    fitted = fit(members, references, wander)
    s, z = scores(fitted, clips)
    # Without visits every reference is a file of its own: ten folds of them.
    folds = np.array(visits) if visits else np.arange(count) % 10
    left_out = np.zeros(count)
    for fold in np.unique(folds):
        keep, out = folds != fold, folds == fold
        rest = [v[keep] for v in references]
        inner = wander[keep] if visits else halves(int(keep.sum()))
        _, values = scores(fit(members, rest, inner), [v[out] for v in references])
        left_out[out] = np.mean(values, axis=0)
    number = lambda array: np.asarray(array).tolist()
    return {
        "visits": visits,
        "references": number(np.concatenate(references, axis=1)),
        "clips": number(np.concatenate(clips, axis=1)),
        "s": [number(value) for value in s],
        "l": [number(one["l"]) for one in fitted],
        "h": [number(one["h"]) for one in fitted],
        "z": [number(value) for value in z],
        "score": number(np.mean(z, axis=0)),
        "left_out": number(left_out),
    }


if __name__ == "__main__":
    cases = {
        "no_visits": case(1, 13, None),
        "three_visits": case(2, 14, [0] * 5 + [1] * 4 + [2] * 5),
    }
    OUT.write_text(json.dumps(cases) + "\n")
    print(OUT, OUT.stat().st_size, "bytes")
