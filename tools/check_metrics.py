#!/usr/bin/env python3
"""Compares `auscult metrics` with scikit-learn on random scores, ties and tiny sets included.

    pip install scikit-learn scipy numpy
    tools/check_metrics.py [PROGRAM] [--cases N]

PROGRAM is the auscult binary (default: target/release/auscult). Not part of the tests: they compare
with numbers of scikit-learn kept in testdata/golden/metrics.
"""
import argparse, json, os, subprocess, sys, tempfile

import numpy as np
from scipy.stats import hmean, t as student
from sklearn.metrics import f1_score, roc_auc_score

EPSILON = sys.float_info.epsilon


def figures(y, s, target):
    def areas(keep):
        if len(set(y[keep])) < 2:
            return None, None
        return roc_auc_score(y[keep], s[keep]), roc_auc_score(y[keep], s[keep], max_fpr=0.1)

    out = {}
    out["auc"], out["pauc"] = areas(np.ones(len(y), bool))
    for name, domain in (("source", 0), ("target", 1)):
        out[f"auc_{name}"], out[f"pauc_{name}"] = areas((target == domain) | (y == 1))
        same = areas(target == domain)
        out[f"auc_{name}_same_domain"], out[f"pauc_{name}_same_domain"] = same
    normal, anomalous = s[y == 0], s[y == 1]
    out["mean_gap"] = anomalous.mean() - normal.mean()
    out["d_prime"] = out["mean_gap"] / normal.std() if normal.std() > 0 else None
    return out


def official_half_width(y, s, measure):
    values = []
    for i in range(len(y)):
        keep = np.arange(len(y)) != i
        if len(set(y[keep])) < 2:
            return None
        values.append(measure(y[keep], s[keep]))
    values = np.array(values)
    n = len(values)
    return student.ppf(0.975, n - 1) * np.sqrt(((values - values.mean()) ** 2).sum() / (n * (n - 1)))


def f1_ev(y, s):
    thresholds = np.unique(s)
    if len(thresholds) < 2:
        return None
    f1 = np.array([f1_score(y, s > t, zero_division=0) for t in thresholds])
    return float((np.diff(thresholds) * f1[:-1]).sum() / (thresholds[-1] - thresholds[0]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?", default="target/release/auscult")
    parser.add_argument("--cases", type=int, default=40)
    arguments = parser.parse_args()
    rng = np.random.default_rng(1)
    compared = 0
    worst = 0.0
    for case in range(arguments.cases):
        sections, rows = [], []
        for section in range(int(rng.integers(1, 4))):
            n = int(rng.integers(8, 120))
            y = rng.permutation(np.r_[0, 0, 0, 0, 1, 1, 1, 1, rng.integers(0, 2, n)])
            target = rng.integers(0, 2, len(y))
            s = rng.normal(size=len(y)) + y * rng.uniform(0, 2)
            if rng.random() < 0.5:
                s = np.round(s, 1)  # ties
            # Every label in every domain, so that all figures exist.
            for k, (label, domain) in enumerate(((0, 0), (0, 1), (1, 0), (1, 1))):
                y[k], target[k] = label, domain
            sections.append((y, s, target))
            rows += [(f"{section}_{i}", a, repr(float(b)), "target" if c else "source", f"m{section}") for i, (a, b, c) in enumerate(zip(y, s, target))]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "scores.csv")
            with open(path, "w") as file:
                file.write("path,label,score,domain,machine\n")
                file.writelines(",".join(map(str, row)) + "\n" for row in rows)
            got = json.loads(subprocess.run([arguments.program, "metrics", path, "--json", "--samples", "100"], check=True, capture_output=True, text=True).stdout)
        want = figures(*(np.concatenate(parts) for parts in zip(*sections)))
        y, s = np.concatenate([a for a, _, _ in sections]), np.concatenate([b for _, b, _ in sections])
        pairs = [(name, got[name], value) for name, value in want.items()]
        by_section = [figures(*section) for section in sections]
        for index, expected in enumerate(by_section):
            pairs += [(f"section {index} {name}", got["sections"][index][name], value) for name, value in expected.items()]
        scores = got["official_scores"]
        pairs += [
            ("2022", scores["dcase2022"], hmean([max(f[k], EPSILON) for f in by_section for k in ("auc_source", "auc_target", "pauc")])),
            ("2021", scores["dcase2021"], hmean([max(f[k], EPSILON) for f in by_section for k in ("auc_source_same_domain", "auc_target_same_domain", "pauc_source_same_domain", "pauc_target_same_domain")])),
            ("2020", scores["dcase2020"], np.mean([f[k] for f in by_section for k in ("auc", "pauc")])),
            ("ci of auc", got["intervals"]["auc"]["official_half_width"], official_half_width(y, s, roc_auc_score)),
            ("ci of pauc", got["intervals"]["pauc"]["official_half_width"], official_half_width(y, s, lambda a, b: roc_auc_score(a, b, max_fpr=0.1))),
            ("f1-ev", got["f1_over_thresholds"]["f1_ev"], f1_ev(y, s)),
        ]
        for name, value, expected in pairs:
            if expected is None or value is None:
                assert expected is None and value is None, (case, name, value, expected)
                continue
            difference = abs(value - expected) / max(abs(expected), 1e-3)
            worst = max(worst, difference)
            assert difference < 1e-9, (case, name, value, expected)
            compared += 1
    print(f"{compared} numbers agree with scikit-learn, largest relative difference {worst:.1e}")


if __name__ == "__main__":
    main()
