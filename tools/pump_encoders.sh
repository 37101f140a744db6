#!/usr/bin/env bash
# Fits and scores MIMII pump id_00 with encoders and ensembles and writes AUCs to results/encoders/.
# AUSCULT names the program to use; otherwise it is built.
# Usage: tools/pump_encoders.sh FOLDER  (a folder with manifest.csv: path,machine,section,split,label,domain)
set -euo pipefail
folder=${1:?usage: tools/pump_encoders.sh FOLDER_WITH_MANIFEST}
cd "$(dirname "$0")/.."
if [ -z "${AUSCULT:-}" ]; then
  cargo build --release --quiet
  AUSCULT="$PWD/target/release/auscult"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=results/encoders/pump.md
mkdir -p results/encoders
python3 - "$folder" "$work" <<'PY'
import csv, os, sys
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
  echo "# MIMII pump id_00 with encoders: 100 normal clips to learn, 50 normal and 50 anomalous to check"
  echo
  echo "A subset of MIMII (Purohit et al. 2019, CC BY-SA 4.0). AUC and pAUC (FPR up to 0.1, McClish) in %."
  echo
  echo "- command: \`tools/pump_encoders.sh FOLDER\`"
  "$AUSCULT" --version | sed -n "s/^commit: */- commit: /p"
  echo "- machine: $(nproc) x $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)"
  echo "- manifest: blake2 $(b2sum "$folder/manifest.csv" | cut -c1-16)"
  echo
  echo "| options | AUC | pAUC |"
  echo "|---|---|---|"
} > "$out"
run() {
  "$AUSCULT" fit "$work/train.csv" -o "$work/model" "$@" > /dev/null 2>&1
  "$AUSCULT" score "$work/model" "$work/test.csv" --csv > "$work/scores.csv" 2> /dev/null
  python3 - "$work/scores.csv" "$*" >> "$out" <<'PY'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
a = [float(row["score"]) for row in rows if "abnormal" in row["path"]]
n = sorted((float(row["score"]) for row in rows if "abnormal" not in row["path"]), reverse=True)
wins = lambda normals: sum((x > y) + 0.5 * (x == y) for x in a for y in normals) / len(a) / len(n)
least = 0.1 * 0.1 / 2
pauc = 0.5 * (1 + (wins(n[: int(0.1 * len(n))]) - least) / (0.1 - least))
print("| `%s` | %.2f | %.2f |" % (sys.argv[2], 100 * wins(n), 100 * pauc))
PY
}
run --front-end log-mel --method adabeam
run --front-end mfcc --method adabeam --density-exponent auto
run --front-end ced --method beam
run --front-end ced --method beam --precision int16
run --front-end ced --method adabeam
run --front-end ced --method beam --layer 6
run --front-end ced --method beam --layer 12
run --front-end ced+mfcc --method beam
run --front-end ced@raw+ced@ldn+mfcc@raw+mfcc@ldn --method beam
run --front-end ced+mfcc --method beam --combine-members min
run --front-end ced+mfcc --method adabeam --density-exponent auto
cat "$out"
