#!/usr/bin/env bash
# The real program as a service, on loopback: logins, TLS, slow clients, kill -9, the examples of docs/service.md, and schemathesis
# against the description. Everything stops by itself.
set -euo pipefail
cd "$(dirname "$0")/.."
target="${CARGO_TARGET_DIR:-$PWD/target}"
program="${AUSCULT:-$target/debug/auscult}"

tools="$target/service-tools"
# Only one part needs it.
if [[ $# -eq 0 || " $* " == *" described "* ]] && [ ! -x "$tools/bin/schemathesis" ]; then
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet 'schemathesis>=4,<5'
fi
SCHEMATHESIS="$tools/bin/schemathesis" exec python3 tools/service.py "$(realpath "$program")" "$@"
