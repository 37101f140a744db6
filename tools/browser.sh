#!/usr/bin/env bash
# Opens the pages auscult writes in a real browser (tools/browser/report.test.mjs).
#
# Installs what is missing: Chromium and Node.js from the system's packages, the driver and the
# accessibility checker from npm, below the target folder. Screenshots stay in target/browser/shots.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/packages.sh

target="${CARGO_TARGET_DIR:-$PWD/target}"
work="$target/browser"
pages="$work/pages"
mkdir -p "$work/shots"
rm -rf "$pages"
mkdir -p "$pages"

missing=()
command -v chromium >/dev/null || missing+=(chromium)
command -v npm >/dev/null || missing+=(nodejs npm)
install_packages "${missing[@]}"
cp tools/browser/package.json tools/browser/*.mjs "$work"
npm install --prefix "$work" --no-package-lock --no-audit --no-fund --loglevel=error

# A made-up fan with every oddity, the same with a moved microphone, the demonstration, a hall of machines, and a page of
# three hundred clips.
cargo build --locked --quiet --workspace --examples --bins
"$target/debug/examples/sample_report" "$pages/sample.html" "$pages/moved.html"
auscult() { "$target/debug/auscult" "$@"; }
auscult demo --out "$work/demo" >/dev/null
cp "$work/demo/report.html" "$pages/demo.html"
rm -rf "$work/hall" "$work/many"
auscult synth --out "$work/hall" --layout visits --machine fan --train 30 0 --test 1 0 --visits 6 --seconds 4 >/dev/null
auscult fit "$work/hall/fan/normal" -o "$work/hall/fan.auscult" --preset fast --clip-seconds 4 >/dev/null 2>&1
auscult report --machine "$work/hall/fan.auscult" "$work/hall/fan/normal" \
    --machine "$work/demo/pump.auscult" "$work/demo/sounds/pump/check/leak_*.wav" \
    -o "$pages/hall.html" --title "Hall 2" 2>/dev/null
auscult synth --out "$work/many" --layout visits --machine pump --train 20 0 --test 150 0 --visits 5 >/dev/null
auscult fit "$work/many/pump/normal" -o "$work/many/pump.auscult" --preset paper >/dev/null 2>&1
auscult report "$work/many/pump.auscult" "$work/many/pump/check" -o "$pages/many.html" 2>/dev/null

CHROMIUM="$(command -v chromium)" REPORTS_SHOTS="$work/shots" REPORTS_FOLDER="$pages" \
    node --test "$work/report.test.mjs"
