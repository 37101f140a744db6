#!/usr/bin/env bash
# Fits and scores MIMII pump id_00 with the built-in front ends and writes AUCs to results/.
# AUSCULT names the program to use; otherwise it is built.
# Usage: tools/pump_auc.sh FOLDER  (a folder with manifest.csv: path,machine,section,split,label,domain)
set -euo pipefail
folder=${1:?usage: tools/pump_auc.sh FOLDER_WITH_MANIFEST}
cd "$(dirname "$0")/.."
if [ -z "${AUSCULT:-}" ]; then
  cargo build --release --quiet
  AUSCULT="$PWD/target/release/auscult"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=results/mimii-pump.md
mkdir -p results
python3 - "$folder" "$work" <<'PY'
import csv, sys, os
folder, work = sys.argv[1:]
rows = list(csv.DictReader(open(os.path.join(folder, "manifest.csv"))))
for split in ("train", "test"):
    with open(os.path.join(work, split + ".csv"), "w") as file:
        file.write("path\n")
        for row in rows:
            if row["split"] == split:
                file.write(os.path.abspath(os.path.join(folder, row["path"])) + "\n")
PY
{
  echo "# MIMII pump id_00, channel 0: 100 normal clips to learn, 50 normal and 50 anomalous to check"
  echo
  echo "A subset of MIMII (Purohit et al. 2019, CC BY-SA 4.0). AUC and pAUC (FPR up to 0.1, McClish) in %;"
  echo "promised false-alarm rate 5 %, calibrated by leaving out files (the recordings name no visits)."
  echo
  echo "- command: \`tools/pump_auc.sh FOLDER\`"
  "$AUSCULT" --version | sed -n "s/^commit: */- commit: /p"
  echo "- machine: $(nproc) x $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)"
  echo "- manifest: blake2 $(b2sum "$folder/manifest.csv" | cut -c1-16)"
  echo
  echo "| front end | convention | method | exponent | AUC | pAUC | false alarms of 50 | found of 50 |"
  echo "|---|---|---|---|---|---|---|---|"
} > "$out"
run() { # front end, convention, method, exponent
  "$AUSCULT" fit "$work/train.csv" -o "$work/model" --front-end "$1" --convention "$2" --method "$3" --density-exponent "$4" > /dev/null 2>&1
  "$AUSCULT" score "$work/model" "$work/test.csv" --csv > "$work/scores.csv" 2> /dev/null
  python3 - "$work/scores.csv" "$@" >> "$out" <<'PY'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
anomalous = [row for row in rows if "abnormal" in row["path"]]
normal = [row for row in rows if "abnormal" not in row["path"]]
a = [float(row["score"]) for row in anomalous]
n = sorted((float(row["score"]) for row in normal), reverse=True)
wins = lambda normals: sum((x > y) + 0.5 * (x == y) for x in a for y in normals) / len(a) / len(n)
top = n[: int(0.1 * len(n))]
least = 0.1 * 0.1 / 2
pauc = 0.5 * (1 + (wins(top) - least) / (0.1 - least))
flagged = lambda rows: sum(row["verdict"] == "anomalous" for row in rows)
print("| %s | %s | %s | %s | %.1f | %.1f | %d | %d |" % (*sys.argv[2:6], 100 * wins(n), 100 * pauc, flagged(normal), flagged(anomalous)))
PY
}
for method in global beam adabeam; do
  for exponent in 1 auto; do
    for front in "log-mel s15" "log-mel dcase" "mfcc kaldi" "mfcc librosa"; do run ${front% *} ${front#* } $method $exponent; done
  done
done
for method in global beam; do for convention in spectrum inverse; do run lpc $convention $method 1; done; done
cat "$out"
