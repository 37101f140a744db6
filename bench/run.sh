#!/usr/bin/env bash
# Times auscult and its peers in turns, then writes BENCHMARKS.md.
#
#     bench/run.sh [rounds]        default 40 rounds, about 15 minutes on two cores
#
# Needs a Rust toolchain, Python 3.11 or newer with venv, and the package index. The peers go into
# the target folder, at the versions of bench/requirements.txt.
set -euo pipefail
cd "$(dirname "$0")/.."
target="${CARGO_TARGET_DIR:-target}"
environment="$target/bench-peers"
if [ ! -x "$environment/bin/python" ]; then
    python3 -m venv "$environment"
fi
"$environment/bin/pip" install --quiet -r bench/requirements.txt
cargo build --locked --profile dist -p auscult-bench -p auscult-cli
stamp="$(date -u +%Y-%m-%d)"
"$environment/bin/python" bench/compare.py --rounds "${1:-40}" \
    --worker "$target/dist/auscult-bench" --program "$target/dist/auscult" \
    --out "results/speed/$stamp-peers.json"
"$environment/bin/python" bench/scaling.py "$target/dist/auscult-bench" \
    "results/speed/$stamp-scaling.json" 100000 65536
"$environment/bin/python" bench/tables.py
