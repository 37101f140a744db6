#!/usr/bin/env bash
# An archive on a Ray cluster of this machine, one worker killed in the middle: tools/ray.sh [CLIPS]
#
# Needs the environment that tools/python.sh makes; installs Ray into it.
set -euo pipefail
cd "$(dirname "$0")/.."
environment="${CARGO_TARGET_DIR:-$PWD/target}/python-tests"
[ -x "$environment/bin/python" ] || { echo "tools/ray.sh: run tools/python.sh first" >&2; exit 2; }
"$environment/bin/pip" install --quiet --disable-pip-version-check "ray>=2.40,<3"
exec "$environment/bin/python" -W ignore tools/ray_cluster.py "$@"
