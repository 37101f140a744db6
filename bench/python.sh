#!/usr/bin/env bash
# Times the Python package and its peers in turns, then writes results/python.
#
#     bench/python.sh [rounds] [clips]        default 9 rounds of 1000 clips
#
# Needs what tools/wheel.sh needs. The peers go into the target folder, at the versions of bench/python-requirements.txt.
# The wheel is built as it is published (profile dist), whatever was built before. Tensors of torch are tested here too,
# because other environments do not have it.
set -euo pipefail
cd "$(dirname "$0")/.."
target="${CARGO_TARGET_DIR:-$PWD/target}"
environment="$target/bench-python"
[ -x "$environment/bin/python" ] || python3 -m venv "$environment"
"$environment/bin/pip" install --quiet -r bench/python-requirements.txt
tools/wheel.sh
"$environment/bin/pip" install --quiet --force-reinstall --no-deps "$target"/wheels/auscult-*.whl
unset PYTHONPATH
"$environment/bin/python" -m pytest -p no:cacheprovider python/tests/test_torch.py
"$environment/bin/python" bench/python.py --rounds "${1:-9}" --clips "${2:-1000}" \
    --out "results/python/$(date -u +%Y-%m-%d).json"
