#!/usr/bin/env bash
# Makes testdata/models/v6.auscult and the score a later program must still give; with the argument v2 or v4, the files of
# those versions from v1.auscult. The others are from programs of their time: v1 by --preset paper, v3 by --method autoencoder
# --network mimii --epochs 200 --folds 3, v5 by --preset fast, each with the other options below.
# Run once per model file version; never overwrite a committed version.
# AUSCULT names the program to use; otherwise it is built.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ "${1:-v6}" = v2 ] || [ "${1:-v6}" = v4 ]; then
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
(cd "$work/sounds/fan" && "$AUSCULT" fit normal -o "$work/v6.auscult" --clip-seconds 1 --false-alarm-rate 20% --preset fast)
cp "$work/v6.auscult" testdata/models/v6.auscult
"$AUSCULT" score testdata/models/v6.auscult testdata/models/v1.wav --csv > testdata/models/v6.csv
