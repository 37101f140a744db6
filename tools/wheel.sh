#!/usr/bin/env bash
# Builds the wheel of the Python package into target/wheels: one for CPython 3.10 and newer.
#
#     tools/wheel.sh [--sdist] [options of maturin build]        --sdist: the source distribution too
#
# Optimised as everything that is published (profile dist). Needs a Rust toolchain, Python 3.10 or newer with venv, and
# the package index; maturin goes into the target folder.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="${CARGO_HOME:-${HOME:-/root}/.cargo}/bin:$PATH"

target="${CARGO_TARGET_DIR:-$PWD/target}"
tools="$target/python-tools"
if [ ! -x "$tools/bin/maturin" ]; then
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check 'maturin==1.16.0'
fi
with_sources=no
if [ "${1:-}" = --sdist ]; then
    with_sources=yes
    shift
fi
# What older builds left would be taken for this one.
rm -f "$target"/wheels/auscult-*.whl "$target"/wheels/auscult-*.tar.gz
# The linker of Rust on this system, LLVM's, keeps functions of equal code once.
linked=()
[ "$(uname -sm)" != "Linux x86_64" ] || linked=(-- -C link-arg=-Wl,--icf=all)
# What is not published may be large, and is made sooner.
level=9
[[ " $* " != *" --profile "* ]] || level=1
"$tools/bin/maturin" build --out "$target/wheels" --compression-level "$level" "$@" "${linked[@]}"
if [ "$with_sources" = yes ]; then
    "$tools/bin/maturin" sdist --out "$target/wheels"
fi

most_bytes=15000000
for wheel in "$target"/wheels/auscult-*.whl; do
    bytes="$(stat -c %s "$wheel" 2>/dev/null || stat -f %z "$wheel")"
    printf '%s: %d bytes\n' "$wheel" "$bytes"
    # Of what is published: other profiles are not stripped.
    if [ "$bytes" -gt "$most_bytes" ] && [[ " $* " != *" --profile "* ]]; then
        printf 'wheel.sh: %s has more than %d bytes\n' "$wheel" "$most_bytes" >&2
        exit 1
    fi
done
