#!/usr/bin/env bash
# Fine-tunes CED-tiny with MIMII pump id_00 among the classes, compares BEAM on the tuned encoder with
# BEAM on the frozen one on the pump's test clips, and writes results/training/pump.md and the curves.
#
# Usage: tools/pump_training.sh FOLDER_OF_MIMII_PUMP [FOLDER_OF_OTHER_MACHINES]
#   Each folder has manifest.csv: path,machine,section,split,label,domain.
# The pump is one machine and so one class; what it is told apart from decides what is learnt:
#   synthetic   the pump and three machines of `auscult synth`, 100 clips each
#   types       the pump and the machine types of the other folder, however few clips they have
# AUSCULT names the program to use (built with --features training); otherwise it is built.
set -euo pipefail
pump=$(realpath "${1:?usage: tools/pump_training.sh FOLDER_OF_MIMII_PUMP [FOLDER_OF_OTHER_MACHINES]}")
others=${2:+$(realpath "$2")}
cd "$(dirname "$0")/.."
if [ -z "${AUSCULT:-}" ]; then
    cargo build --release --quiet -p auscult-cli --features training
    AUSCULT="$PWD/target/release/auscult"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out="$PWD/results/training"
mkdir -p "$out"
recipe=(--dataset folder --batch 4 --accumulation 1 --steps 30 --warm-up 5 --checkpoint-every 10)
layers=(6 12)

evaluate() { # a name, then options: a line of the table, AUC and pAUC at each layer
    local name="$1" layer row
    shift
    row="| $name |"
    for layer in "${layers[@]}"; do
        row+=" $("$AUSCULT" bench eval --data "$pump" --dataset folder --front-end ced --method beam \
            --layer "$layer" --no-cache --json "$@" | python3 -c '
import json, sys
found = json.load(sys.stdin)
print("%.1f / %.1f" % (100 * found["auc"], 100 * found["pauc"]))') |"
    done
    echo "$row"
}

tune() { # a name, then folders: trains, keeps the curve, prints what came of it
    local name="$1" folders=() folder
    shift
    for folder; do folders+=(--data "$folder"); done
    "$AUSCULT" train "${folders[@]}" "${recipe[@]}" --out "$work/$name" --json >"$work/$name.json"
    cp "$work/$name/curve.csv" "$out/pump-$name-curve.csv"
    python3 - "$work/$name.json" "$work/$name/curve.csv" "$name" <<'PY'
import csv, json, sys
facts = json.load(open(sys.argv[1]))
curve = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(open(sys.argv[2]))]
mean = lambda rows, key: sum(row[key] for row in rows) / len(rows)
first, last = curve[:5], curve[-5:]
print("- `%s`: %d clips of %d classes; loss %.1f -> %.1f, right %.0f %% -> %.0f %% (means of the first and last five steps); %.0f s"
      % (sys.argv[3], facts["clips"], facts["classes"], mean(first, "loss"), mean(last, "loss"),
         100 * mean(first, "accuracy"), 100 * mean(last, "accuracy"), curve[-1]["seconds"]))
PY
}

(cd "$work" && "$AUSCULT" synth --out synth --machine fan --machine valve --machine slider \
    --train 100 0 --test 1 0 >/dev/null)
tune synthetic "$pump" "$work/synth" >"$work/runs"
if [ -n "$others" ]; then tune types "$pump" "$others" >>"$work/runs"; fi

{
    echo "# MIMII pump id_00: BEAM on CED-tiny, frozen and fine-tuned"
    echo
    echo "100 normal clips to learn, 50 normal and 50 anomalous to check: a subset of MIMII (Purohit et al. 2019,"
    echo "CC BY-SA 4.0). The pump is one class; see the head of the script for what it is told apart from."
    echo "One run, one seed each. AUC / pAUC (FPR up to 0.1, McClish) in %, by layer."
    echo
    echo "- command: \`tools/pump_training.sh MIMII_PUMP${others:+ DCASE2023_SEVEN_TYPES}\`"
    echo "- training: \`auscult train ${recipe[*]}\`, the other settings are the recipe's"
    "$AUSCULT" --version | sed -n "s/^commit: */- commit: /p"
    echo "- machine: $(nproc) x $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)"
    echo "- manifest: blake2 $(b2sum "$pump/manifest.csv" | cut -c1-16)"
    cat "$work/runs"
    echo
    echo "| encoder |$(printf ' layer %s |' "${layers[@]}")"
    echo "|---|$(printf -- '---|%.0s' "${layers[@]}")"
    evaluate frozen
    evaluate "tuned, synthetic" --encoder "$work/synthetic/encoder.safetensors"
    if [ -n "$others" ]; then evaluate "tuned, types" --encoder "$work/types/encoder.safetensors"; fi
} >"$work/page.md"
mv "$work/page.md" "$out/pump.md"
cat "$out/pump.md"
