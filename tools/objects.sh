#!/usr/bin/env bash
# An archive in an object store, from a real server: tools/objects.sh [PROGRAM]
#
# Builds the program with the feature object-store if none is named; Python packages come into the target folder.
set -euo pipefail
cd "$(dirname "$0")/.."
target="${CARGO_TARGET_DIR:-$PWD/target}"
environment="$target/objects"
if [ ! -x "$environment/bin/moto_server" ]; then
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check "moto[server]>=5,<6" "boto3>=1.35" "pyarrow>=14"
fi
program="${1:-}"
if [ -z "$program" ]; then
    cargo build --locked --quiet -p auscult-cli --features auscult-cli/object-store
    program="$target/debug/auscult"
fi
exec "$environment/bin/python" tools/objects.py "$program"
