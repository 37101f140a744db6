#!/usr/bin/env bash
# Opens the pages auscult writes in a real browser (tools/browser/report.test.mjs).
#
# Installs what is missing: Chromium and Node.js from the system's packages, the driver and the
# accessibility checker from npm, below the target folder. Screenshots stay in target/browser/shots.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/packages.sh

work="${CARGO_TARGET_DIR:-$PWD/target}/browser"
mkdir -p "$work/shots" "$work/reports"

missing=()
command -v chromium >/dev/null || missing+=(chromium)
command -v npm >/dev/null || missing+=(nodejs npm)
install_packages "${missing[@]}"
cp tools/browser/package.json tools/browser/*.mjs "$work"
npm install --prefix "$work" --no-package-lock --no-audit --no-fund --loglevel=error

# One page of a made-up fan with every oddity, one of the demonstration.
target="${CARGO_TARGET_DIR:-$PWD/target}"
cargo build --locked --quiet --workspace --examples --bins
"$target/debug/examples/sample_report" "$work/reports/sample.html"
"$target/debug/auscult" demo --out "$work/demo" >/dev/null
cp "$work/demo/report.html" "$work/reports/demo.html"

CHROMIUM="$(command -v chromium)" REPORTS_SHOTS="$work/shots" \
    REPORTS="$work/reports/sample.html $work/reports/demo.html" \
    node --test "$work/report.test.mjs"
