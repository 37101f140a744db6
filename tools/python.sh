#!/usr/bin/env bash
# Builds the wheel of the Python package into a fresh virtual environment and tests it there.
#
#     tools/python.sh [options of pytest]
#
# Needs a Rust toolchain, Python 3.10 or newer with venv, and the package index. AUSCULT_WHEEL_PROFILE names another
# profile of cargo than dist, which is what tools/wheel.sh builds for everybody else.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="${CARGO_HOME:-${HOME:-/root}/.cargo}/bin:$PATH"

target="${CARGO_TARGET_DIR:-$PWD/target}"
# With the features that the tests of the workspace are built with, so that little is built again.
tools/wheel.sh --sdist ${AUSCULT_WHEEL_PROFILE:+--profile "$AUSCULT_WHEEL_PROFILE" --features training}

# The source distribution has everything that cargo asks for.
sources="$target/python-sources"
rm -rf "$sources" && mkdir -p "$sources"
tar -xzf "$target"/wheels/auscult-*.tar.gz -C "$sources" --strip-components 1
(cd "$sources" && cargo metadata --locked --format-version 1 >/dev/null)
[ -f "$sources/crates/auscult-eval/protocols/table-3.toml" ]

environment="$target/python-tests"
rm -rf "$environment"
python3 -m venv "$environment"
"$environment/bin/pip" install --quiet --disable-pip-version-check -r python/tests/requirements.txt
"$environment/bin/pip" install --quiet --disable-pip-version-check --no-deps "$target"/wheels/auscult-*.whl

# Nothing of the source tree may stand in for the wheel.
unset PYTHONPATH
export MPLBACKEND=Agg
package="$("$environment/bin/python" -c 'import auscult, os; print(os.path.dirname(auscult.__file__))')"
echo "testing $package"
"$environment/bin/python" -m pytest -n 2 "$@"
"$environment/bin/python" -W ignore::UserWarning -m pytest -n 2 -p no:warnings --doctest-modules "$package"
