#!/usr/bin/env bash
# What tuning is worth: the true AUC of the defaults against that of the settings `auscult tune`
# chooses from the normal training clips, on the synthetic machines and, if its folder is given, on
# MIMII pump. Labels are read only after the choice, to count.
# Usage: tools/measure_tuning.sh [FOLDER_WITH_MANIFEST]
#   SEEDS="1 2 3"      seeds of the synthetic machines (and of the changes)
#   AUSCULT=path       the program; built in release mode if not given
#   OUTLIERS=no        leave out the runs with other machines as outliers
#   MACHINES="fan"     these synthetic machines only; none of them if it is empty
#   OUT=folder         where the results go; results/tuning if not given
set -euo pipefail
pump=${1:-}
[ -z "$pump" ] || pump=$(cd "$pump" && pwd)
cd "$(dirname "$0")/.."
if [ -z "${AUSCULT:-}" ]; then
    cargo build --release --quiet
    AUSCULT=${CARGO_TARGET_DIR:-target}/release/auscult
fi
seeds=${SEEDS:-1 2 3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=${OUT:-results/tuning}
machines=${MACHINES-fan pump valve slider}
mkdir -p "$out"
rows="$work/rows.jsonl"

# true_auc <train> <test manifest with labels> <fit options>: AUC in % over all test clips, then over
# those of the source and of the target domain (as JSON).
true_auc() {
    local train=$1 test=$2
    shift 2
    "$AUSCULT" fit "$train" -o "$work/model" "$@" >"$work/fit" 2>&1 || [ $? = 2 ]
    "$AUSCULT" score "$work/model" "$test" --csv >"$work/scores.csv" 2>"$work/score" || [ $? = 2 ]
    python3 - "$work/scores.csv" "$test" <<'PY'
import csv, json, os, sys
scores, manifest = sys.argv[1:]
folder = os.path.dirname(os.path.abspath(manifest))
real = lambda path: os.path.realpath(os.path.join(folder, path))
rows = {real(row["path"]): row for row in csv.DictReader(open(manifest))}
scored = [(float(row["score"]), rows[real(os.path.abspath(row["path"]))])
          for row in csv.DictReader(open(scores)) if row["score"]]
def auc(domain=None):
    of = lambda label: [score for score, row in scored if row["label"] == label
                        and (domain is None or row.get("domain") == domain)]
    anomalous, normal = of("anomaly"), of("normal")
    if not anomalous or not normal:
        return None
    wins = sum((a > n) + 0.5 * (a == n) for a in anomalous for n in normal)
    return round(100 * wins / len(anomalous) / len(normal), 2)
print(json.dumps({"all": auc(), "source": auc("source"), "target": auc("target")}))
PY
}

# measure <name> <seed> <train> <test> <with outliers?> <tune options>
measure() {
    local name=$1 seed=$2 train=$3 test=$4 outliers=$5
    shift 5
    rm -f "$work/chosen.json" "$work/chosen.json.state.json" "$work/best.json"
    local started=$SECONDS
    "$AUSCULT" tune "$train" -o "$work/chosen.json" --seed "$seed" --json "$@" >"$work/ranking.json" 2>"$work/tune"
    local seconds=$((SECONDS - started))
    python3 -c '
import json, sys
ranking, chosen = (json.load(open(path)) for path in sys.argv[1:3])
best = {**chosen, **{key: ranking["ranking"][0]["candidate"][key] for key in ("front_end", "detector")}}
json.dump(best, open(sys.argv[3], "w"))' "$work/ranking.json" "$work/chosen.json" "$work/best.json"
    local default chosen best
    default=$(true_auc "$train" "$test")
    chosen=$(true_auc "$train" "$test" --settings "$work/chosen.json")
    best=$(true_auc "$train" "$test" --settings "$work/best.json")
    python3 - "$work/ranking.json" "$work/chosen.json" "$name" "$seed" "$outliers" "$seconds" "$default" "$chosen" "$best" <<'PY' | tee -a "$rows"
import json, sys
ranking, settings = (json.load(open(path)) for path in sys.argv[1:3])
name, seed, outliers, seconds, default, chosen, best = sys.argv[3:]
true = {"default": json.loads(default), "chosen": json.loads(chosen), "best": json.loads(best)}
first = next(r for r in ranking["ranking"] if r["candidate"]["changes"] == 0)
def words(candidate):
    if candidate.get("preset"):
        return "preset " + candidate["preset"]
    detector = candidate["detector"]
    bands = detector["bands"]
    width = bands if isinstance(bands, str) else bands["windows"]["width"]
    exponent = detector["exponent"]
    exponent = exponent if isinstance(exponent, str) else exponent["fixed"]
    return "%s %s, %s %s, %s, aggregate %s, fuse %s" % (
        candidate["front_end"]["name"], candidate["front_end"]["settings"]["convention"],
        "+".join(detector["views"]), width,
        "K %d exponent %s" % (detector["neighbours"], exponent) if detector["neighbours"] else "plain distance",
        detector["aggregation"], detector["fusion"])
print(json.dumps({
    "machine": name, "seed": int(seed), "outliers": outliers == "yes", "tune_seconds": int(seconds),
    "clips": ranking["clips"], "left_out": ranking["left_out"], "groups": ranking["groups"],
    "settings_tried": ranking["settings_tried"],
    "like_the_best": sum(r["like_the_best"] for r in ranking["ranking"]),
    "pseudo_auc": {"default": round(100 * first["mean_auc"], 2),
                   "chosen": round(100 * ranking["chosen"]["mean_auc"], 2),
                   "best": round(100 * ranking["ranking"][0]["mean_auc"], 2)},
    "pseudo_auc_of_chosen_by_kind": {k["kind"]: round(100 * k["auc"], 1) for k in ranking["chosen"]["kinds"]},
    "true_auc": {name: auc["all"] for name, auc in true.items()},
    "true_auc_by_domain": {name: {d: auc[d] for d in ("source", "target")} for name, auc in true.items()},
    "chosen": words(ranking["chosen"]["candidate"]), "best": words(ranking["ranking"][0]["candidate"]),
    "settings": settings,
}))
PY
}

for seed in $seeds; do
    [ -z "$machines" ] || "$AUSCULT" synth --out "$work/synth_$seed" --seed "$seed" >"$work/synth"
    for machine in $machines; do
        folder="$work/synth_$seed/$machine"
        measure "synthetic $machine" "$seed" "$folder/train.csv" "$folder/test.csv" no
        [ "${OUTLIERS:-yes}" = yes ] || continue
        others=()
        for other in fan pump valve slider; do
            [ "$other" = "$machine" ] || others+=("$work/synth_$seed/$other/train.csv")
        done
        measure "synthetic $machine" "$seed" "$folder/train.csv" "$folder/test.csv" yes --outliers "${others[@]}"
    done
done
if [ -n "$pump" ]; then
    python3 - "$pump" "$work" <<'PY'
import csv, os, sys
folder, work = sys.argv[1:]
rows = list(csv.DictReader(open(os.path.join(folder, "manifest.csv"))))
for split in ("train", "test"):
    with open(os.path.join(work, "pump_%s.csv" % split), "w") as file:
        file.write("path,label\n")
        for row in rows:
            if row["split"] == split:
                file.write("%s,%s\n" % (os.path.join(folder, row["path"]), row["label"]))
PY
    for seed in $seeds; do
        measure "MIMII pump id_00" "$seed" "$work/pump_train.csv" "$work/pump_test.csv" no
    done
fi

python3 - "$rows" "$out" "$("$AUSCULT" --version | sed -n 's/^commit: *//p')" "$(nproc) x $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)" "$("$AUSCULT" --version | sed -n 's/^target: *//p')" \
    "${pump:+$(b2sum "$pump/manifest.csv" | cut -c1-16)}" <<'PY'
import json, sys
rows, out, commit, machine, target, manifest = sys.argv[1:]
rows = [json.loads(line) for line in open(rows)]
facts = {"command": "tools/measure_tuning.sh [FOLDER]", "commit the program was built from": commit, "machine": machine, "target": target}
if manifest:
    facts["pump_manifest_blake2"] = manifest
json.dump({**facts, "runs": rows}, open(out + "/runs.json", "w"), indent=1)
mean = lambda rows, key: sum(row["true_auc"][key] for row in rows) / len(rows)
with open(out + "/summary.md", "w") as file:
    print("# Tuning against the defaults: true AUC in %, over all test clips\n", file=file)
    for key, value in facts.items():
        print("- %s: %s" % (key, value), file=file)
    print("\n| machine | seed | outliers | default | chosen | change | best by rank | chosen settings |", file=file)
    print("|---|---|---|---|---|---|---|---|", file=file)
    for row in rows:
        true = row["true_auc"]
        print("| %s | %d | %s | %.1f | %.1f | %+.1f | %.1f | %s |" % (
            row["machine"], row["seed"], "yes" if row["outliers"] else "no", true["default"], true["chosen"],
            true["chosen"] - true["default"], true["best"], row["chosen"]), file=file)
    print("\nMeans over seeds:\n\n| machine | outliers | default | chosen | change | best by rank | worse in |", file=file)
    print("|---|---|---|---|---|---|---|", file=file)
    for name in dict.fromkeys((row["machine"], row["outliers"]) for row in rows):
        of = [row for row in rows if (row["machine"], row["outliers"]) == name]
        worse = sum(row["true_auc"]["chosen"] < row["true_auc"]["default"] for row in of)
        print("| %s | %s | %.1f | %.1f | %+.1f | %.1f | %d of %d |" % (
            name[0], "yes" if name[1] else "no", mean(of, "default"), mean(of, "chosen"),
            mean(of, "chosen") - mean(of, "default"), mean(of, "best"), worse, len(of)), file=file)
    print("\nBy domain, without outliers, means over seeds:\n\n| machine | source: default | chosen | target: default | chosen |", file=file)
    print("|---|---|---|---|---|", file=file)
    for name in dict.fromkeys(row["machine"] for row in rows):
        of = [row["true_auc_by_domain"] for row in rows if row["machine"] == name and not row["outliers"]]
        if any(domains["default"]["target"] is None for domains in of):
            continue
        cell = lambda who, domain: sum(domains[who][domain] for domains in of) / len(of)
        print("| %s | %.1f | %.1f | %.1f | %.1f |" % (name, cell("default", "source"), cell("chosen", "source"),
              cell("default", "target"), cell("chosen", "target")), file=file)
PY
cat "$out/summary.md"
