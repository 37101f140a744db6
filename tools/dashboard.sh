#!/usr/bin/env bash
# The pages of the service (crates/auscult-server/dashboard).
#
#   tools/dashboard.sh build     types and format, then the bundle in dist/, which is committed
#   tools/dashboard.sh check     types, format, and whether dist/ is what the sources give
#   tools/dashboard.sh test      the pages in a real browser, against the real program (built if it is missing)
#   tools/dashboard.sh pictures  docs/images/pages-*.png, from the pictures of the last test
#   tools/dashboard.sh fixture   invented data on 127.0.0.1:8099, for work on the looks
#
# Installs what is missing: Node.js and Chromium from the system's packages, the rest from npm.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/packages.sh
pages="$PWD/crates/auscult-server/dashboard"
target="${CARGO_TARGET_DIR:-$PWD/target}"
work="$target/dashboard"

need() {
    local missing=()
    command -v npm >/dev/null || missing+=(nodejs npm)
    if [ "$1" = browser ]; then command -v chromium >/dev/null || missing+=(chromium); fi
    install_packages "${missing[@]}"
}

tools_of_pages() {
    need node
    [ -d "$pages/node_modules/esbuild" ] || npm ci --prefix "$pages" --no-audit --no-fund --loglevel=error
    "$pages/node_modules/.bin/tsc" --noEmit -p "$pages"
    (cd "$pages" && node_modules/.bin/prettier --config .prettierrc.json --log-level warn "--$1" src build.mjs ../../../tools/dashboard/*.mjs)
}

tools_of_tests() {
    need browser
    mkdir -p "$work/shots"
    cp tools/dashboard/package.json tools/dashboard/*.mjs "$work"
    npm install --prefix "$work" --no-package-lock --no-audit --no-fund --loglevel=error
}

case "${1:-}" in
build)
    tools_of_pages write
    node "$pages/build.mjs"
    ;;
check)
    tools_of_pages check
    fresh="$(mktemp -d)"
    trap 'rm -rf "$fresh"' EXIT
    node "$pages/build.mjs" "$fresh"
    if ! diff -r "$fresh" "$pages/dist" >/dev/null; then
        echo "crates/auscult-server/dashboard/dist is not what its sources give: run tools/dashboard.sh build and commit it" >&2
        exit 1
    fi
    echo "dist is what its sources give"
    ;;
test)
    tools_of_tests
    program="${AUSCULT:-$target/debug/auscult}"
    [ -n "${AUSCULT:-}" ] || cargo build --locked --quiet --workspace --bins
    AUSCULT="$program" CHROMIUM="$(command -v chromium)" SHOTS="$work/shots" \
        node --test --test-concurrency=1 "$work"/*.test.mjs
    ;;
pictures)
    command -v pngquant >/dev/null || install_packages pngquant
    node "$work/pictures.mjs" "$work/shots" docs/images
    pngquant --force --ext .png --skip-if-larger 96 docs/images/pages-*.png
    ;;
fixture)
    need node
    node tools/dashboard/fixture.mjs
    ;;
*)
    sed -n '2,10p' "$0" | sed 's/^# \{0,1\}//'
    exit 2
    ;;
esac
