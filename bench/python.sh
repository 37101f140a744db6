#!/usr/bin/env bash
# Times the Python package and its peers in turns, then writes results/python.
#
#     bench/python.sh [rounds] [clips]        default 9 rounds of 1000 clips
#
# Needs what tools/wheel.sh needs. The peers go into the target folder, at the versions of bench/python-requirements.txt.
set -euo pipefail
cd "$(dirname "$0")/.."
target="${CARGO_TARGET_DIR:-$PWD/target}"
environment="$target/bench-python"
[ -x "$environment/bin/python" ] || python3 -m venv "$environment"
"$environment/bin/pip" install --quiet -r bench/python-requirements.txt
compgen -G "$target/wheels/auscult-*.whl" >/dev/null || tools/wheel.sh
"$environment/bin/pip" install --quiet --force-reinstall --no-deps "$target"/wheels/auscult-*.whl
unset PYTHONPATH
"$environment/bin/python" bench/python.py --rounds "${1:-9}" --clips "${2:-1000}" \
    --out "results/python/$(date -u +%Y-%m-%d).json"
