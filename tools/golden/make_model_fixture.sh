#!/usr/bin/env bash
# Makes testdata/models/v1.auscult and the score a later program must still give.
# Run once per model file version; never overwrite a committed version.
# AUSCULT names the program to use; otherwise it is built.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ -z "${AUSCULT:-}" ]; then
  cargo build --release --quiet
  AUSCULT="$PWD/target/release/auscult"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$AUSCULT" synth --out "$work/sounds" --machine fan --layout visits --seconds 1 --train 12 0 --test 2 0 --visits 3 --seed 7
(cd "$work/sounds/fan" && "$AUSCULT" fit normal -o "$work/v1.auscult" --clip-seconds 1 --false-alarm-rate 20%)
mkdir -p testdata/models
cp "$work/v1.auscult" testdata/models/v1.auscult
cp "$work/sounds/fan/check/imbalance_0000.wav" testdata/models/v1.wav
"$AUSCULT" score testdata/models/v1.auscult testdata/models/v1.wav --csv --bands > testdata/models/v1.csv
