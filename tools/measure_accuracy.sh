#!/usr/bin/env bash
# Runs the protocols on what is at hand and keeps the results under results/accuracy; then writes
# docs/accuracy.md from them.
#
# Usage: tools/measure_accuracy.sh [FOLDER_OF_MIMII_PUMP]
# AUSCULT names the program to use; otherwise it is built, with training. The synthetic suite is made anew.
set -euo pipefail
cd "$(dirname "$0")/.."
pump=${1:-}
if [ -z "${AUSCULT:-}" ]; then
    cargo build --locked --release --quiet -p auscult-cli --features training
    AUSCULT="$PWD/target/release/auscult"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out="$PWD/results/accuracy"
ln -s "$PWD/testdata/golden/e2e" "$work/golden-e2e"
# The suite's recipe is in the commands that the results quote.
(cd "$work" && "$AUSCULT" synth --out synthetic --severity 0.6 --train 90 10 --test 20 20)
[ -z "$pump" ] || ln -s "$(realpath "$pump")" "$work/mimii-pump"

run() { # name of the result, then the arguments of bench run
    local name="$1"
    shift
    # Exit code 2: something could not be run here, and the result says what.
    (cd "$work" && "$AUSCULT" bench run "$@" --out "run-$name" >/dev/null 2>"$name.log") || [ $? -eq 2 ]
    [ -f "$work/run-$name/results.json" ] || { cat "$work/$name.log" >&2; exit 1; }
    mkdir -p "$out/$name"
    cp "$work/run-$name"/{results.json,results.md,index.html} "$out/$name/"
}

for protocol in table-1 table-2 table-3 table-4-small table-5 figure-windows figure-k figure-mimii diagnostics genrep baselines my-folder; do
    run "synthetic-$protocol" "$protocol" --data synthetic --dataset folder
done
# Networks see every frame a hundred times: few clips of 2 s keep it to minutes.
(cd "$work" && "$AUSCULT" synth --out synthetic-2s --seconds 2 --severity 0.6 --train 40 4 --test 10 10)
run synthetic-trained trained --data synthetic-2s --dataset folder --clip-seconds 2
run golden-e2e-table-3 table-3 --data golden-e2e --dataset dcase2023 --clip-seconds 2
if [ -n "$pump" ]; then
    for protocol in table-3 baselines figure-mimii diagnostics; do
        run "mimii-pump-$protocol" "$protocol" --data mimii-pump --dataset mimii
    done
fi
tools/accuracy_page.py
