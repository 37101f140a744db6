#!/usr/bin/env bash
# Makes testdata/models/v1.auscult (or, with the argument v3, that of a trained network, with v5 that of a
# preset) and the score a later program must still give; with the argument v2 or v4, the files of those versions from v1.auscult.
# Run once per model file version; never overwrite a committed version.
# AUSCULT names the program to use; otherwise it is built.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ "${1:-v1}" = v2 ] || [ "${1:-v1}" = v4 ]; then
  # Writes only what is missing.
  exec cargo nextest run -p auscult-core --test compatibility --run-ignored only
fi
if [ -z "${AUSCULT:-}" ]; then
  cargo build --release --quiet
  AUSCULT="$PWD/target/release/auscult"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$AUSCULT" synth --out "$work/sounds" --machine fan --layout visits --seconds 1 --train 12 0 --test 2 0 --visits 3 --seed 7
if [ "${1:-v1}" = v3 ]; then
  (cd "$work/sounds/fan" && "$AUSCULT" fit normal -o "$work/v3.auscult" --clip-seconds 1 --false-alarm-rate 20% \
    --method autoencoder --network mimii --epochs 200 --folds 3)
  cp "$work/v3.auscult" testdata/models/v3.auscult
  "$AUSCULT" score testdata/models/v3.auscult testdata/models/v1.wav --csv > testdata/models/v3.csv
  exit
fi
if [ "${1:-v1}" = v5 ]; then
  (cd "$work/sounds/fan" && "$AUSCULT" fit normal -o "$work/v5.auscult" --clip-seconds 1 --false-alarm-rate 20% \
    --preset fast)
  cp "$work/v5.auscult" testdata/models/v5.auscult
  "$AUSCULT" score testdata/models/v5.auscult testdata/models/v1.wav --csv > testdata/models/v5.csv
  exit
fi
(cd "$work/sounds/fan" && "$AUSCULT" fit --preset paper normal -o "$work/v1.auscult" --clip-seconds 1 --false-alarm-rate 20%)
mkdir -p testdata/models
cp "$work/v1.auscult" testdata/models/v1.auscult
cp "$work/sounds/fan/check/imbalance_0000.wav" testdata/models/v1.wav
"$AUSCULT" score testdata/models/v1.auscult testdata/models/v1.wav --csv --bands > testdata/models/v1.csv
