#!/usr/bin/env python3
"""Writes docs/accuracy.md from results/accuracy; with --check only says whether it is up to date."""
import json, pathlib, sys

root = pathlib.Path(__file__).resolve().parent.parent
page = root / "docs/accuracy.md"

DATA = {
    "synthetic": "Synthetic suite",
    "golden-e2e": "Synthetic clips of the golden pack (two machines, 2 s)",
    "mimii-pump": "MIMII pump id_00 (100 clips to learn, 50 normal and 50 anomalous to judge)",
}
ABOUT = {
    "synthetic": "Four machines (fan, pump, slider, valve) of 180 clips each, 90 + 10 to learn from two domains, faults of severity 0.6 at 6 dB: "
    "`auscult synth --out synthetic --severity 0.6 --train 90 10 --test 20 20`. Systems that learn are measured on `synthetic-2s`: fewer clips of 2 s (`--seconds 2 --severity 0.6 --train 40 4 --test 10 10`), so few that the DCASE network takes about 1000 steps and MIMII's about 250, where 1000 are the least that say something. Such sounds test the program, not the method: rankings on them need not hold on machines.",
    "golden-e2e": "`testdata/golden/e2e`; the official scores agree with an independent implementation to 1e-9 (a test of the program checks this).",
    "mimii-pump": "A subset of MIMII, channel 0 (Purohit et al. 2019, CC BY-SA 4.0), not part of this repository. One machine of one set: the intervals say how little that is.",
}


def cell(row):
    if row["score"] is None:
        return "not run"
    text = f"{100 * row['score']:.1f}"
    if row.get("deviation") is not None:
        text += f" ± {100 * row['deviation']:.1f}"
    if row["interval"]:
        text += f" [{100 * row['interval']['low']:.1f}, {100 * row['interval']['high']:.1f}]"
    return text


def sweep(rows):
    values = sorted({row["x"] for row in rows if row["x"] is not None})
    names = list(dict.fromkeys(row["series"] for row in rows if row["x"] is not None and row["score"] is not None))
    lines = ["| curve | " + " | ".join(f"{value:g}" for value in values) + " |", "|---|" + "---|" * len(values)]
    for name in names:
        cells = {row["x"]: row for row in rows if row["series"] == name and row["x"] is not None}
        lines.append(f"| {name} | " + " | ".join(f"{100 * cells[v]['score']:.1f}" for v in values) + " |")
    for row in rows:
        if row["x"] is None and row["score"] is not None:
            lines.append(f"| {row['system']} (line) | {100 * row['score']:.1f} |" + " |" * (len(values) - 1))
    return lines


def diagnostics(rows):
    lines = ["| front end | K | band | variance ratio | mean-gap ratio | d' ratio | with DMM | Proposition 1 holds | condition of Theorem 1 | d' improves | Theorem 1 consistent |", "|" + "---|" * 11]
    for row in rows:
        number = lambda value: "-" if value is None else f"{value:.3f}"
        share = lambda name: f"{row[name]}/{row['sections']}"
        lines.append("| " + " | ".join([row["front_end"], str(row["neighbours"]), str(row["band_width"]), number(row["variance_ratio_sub_global"]), number(row["mean_gap_ratio"]), number(row["d_prime_ratio"]), number(row["d_prime_ratio_both_views"]), share("proposition_holds"), share("theorem_condition"), share("d_prime_improves"), share("theorem_consistent")]) + " |")
    return lines


def counts(rows):
    lines = ["| section | split | source normal | anomalous | target normal | anomalous |", "|" + "---|" * 6]
    for row in rows:
        names = ["source_normal", "source_anomalous", "target_normal", "target_anomalous"]
        cells = [str(row["found"].get(name, "-")) for name in names]
        lines.append("| " + " | ".join([row["section"], row["split"], *cells]) + " |")
    return lines


def windows(rows):
    lines = ["| front end | data set | positions | window | stride | windows | as in the paper |", "|" + "---|" * 7]
    for row in rows:
        agrees = {True: "yes", False: "no", None: "not in the paper"}[row["as_paper"]]
        numbers = [str(row[name]) for name in ["axis_len", "width", "stride", "windows"]]
        lines.append("| " + " | ".join([row["front_end"], row["dataset"], *numbers, agrees]) + " |")
    return lines


def missing_front_ends(folders):
    found = {}
    for folder in folders:
        for missing in json.loads((folder / "results.json").read_text())["facts"]["missing"]:
            found[missing["front_end"]] = missing["reason"]
    return dict(sorted(found.items()))


def section(folder):
    results = json.loads((folder / "results.json").read_text())
    protocol, rows = results["protocol"], results["rows"]
    lines = [f"### {protocol['title']}", ""]
    if protocol["paper"]:
        lines += [f"The protocol of the paper's {protocol['paper'].split(' (')[0]}.", ""]
    lines += [f"`{results['facts']['command']}`, {results['facts']['program']}; page with figures: [index.html](../results/accuracy/{folder.name}/index.html)", ""]
    trials = {system["name"] for system in protocol["system"] if system.get("trial_of")}
    scored = [row for row in rows if row["score"] is not None and row["system"] not in trials]
    if scored and protocol.get("sweep"):
        lines += [f"Score in %: {scored[0]['measure']}, against {protocol['sweep']['axis']}.", ""] + sweep(rows)
    elif scored:
        of_trials = ", means and deviations of five trials where there is a ±" if trials else ""
        lines += [f"Score in %: {scored[0]['measure']}, with 95 % intervals{of_trials}.", "", "| system | score |", "|---|---|"]
        lines += [f"| {row['system']} | {cell(row)} |" for row in scored]
    if results["diagnostics"]:
        lines += ["Means over sections. With DMM: d' of bands on both views over that of global matching on the mean view.", ""]
        lines += diagnostics(results["diagnostics"])
    if results.get("counts"):
        lines += counts(results["counts"]) + [""]
    if results.get("windows"):
        lines += windows(results["windows"]) + [""]
    for problem in dict.fromkeys(row["problem"] for row in rows if row["score"] is None):
        names = dict.fromkeys(row["series"] or row["system"] for row in rows if row["problem"] == problem)
        lines += ["", f"No score: {', '.join(names)} ({problem})."]
    return lines + [""]


def main():
    lines = [
        "# Accuracy",
        "",
        "Written by `tools/accuracy_page.py` from [results/accuracy](../results/accuracy), which `tools/measure_accuracy.sh` makes. What the",
        "scores mean, and how to run the protocols on your own data: [evaluation](evaluation.md).",
        "",
        "## DCASE and all of MIMII: not run here",
        "",
        "The paper's tables need DCASE 2020, 2023 and 2024 and all of MIMII, which were not available here. With them on disk each table is one",
        "command, and stands beside the paper's numbers:",
        "",
        "    auscult data download dcase2023 -o DATA/dcase2023",
        "    auscult bench run table-3 --data DATA --out runs/table-3 --truth dcase2023_task2_evaluator",
        "",
        "`auscult bench list` names the protocols, and [the paper, number by number](paper.md) says which is what.",
        "",
    ]
    folders = sorted(path for path in (root / "results/accuracy").iterdir() if path.is_dir())
    missing = missing_front_ends(folders)
    if missing:
        lines += ["Front ends of the protocols that were not run, and have no rows below:", ""]
        lines += [f"- {name}: {reason}" for name, reason in missing.items()] + [""]
    for name, title in DATA.items():
        mine = [folder for folder in folders if folder.name.startswith(name)]
        if mine:
            lines += [f"## {title}", "", ABOUT[name], ""]
            for folder in mine:
                lines += section(folder)
    text = "\n".join(lines).rstrip() + "\n"
    if "--check" in sys.argv:
        sys.exit(0 if page.exists() and page.read_text() == text else f"{page} is out of date; run tools/accuracy_page.py")
    page.write_text(text)


if __name__ == "__main__":
    main()
