#!/usr/bin/env bash
# Passes every test of the workspace: the one command for a fresh machine.
#
# Needs a Rust toolchain, 1.90 or newer, and Python 3.11 or newer with venv; cargo-nextest, Chromium and
# Node.js are installed if missing (the latter two from Debian's packages, as root or with sudo), and
# Python packages into the target folder.
# Tests that cannot run here are listed at the end, with the reason.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/steps.sh

# What cargo installs may not be on the path of a new account.
export PATH="${CARGO_HOME:-${HOME:-/root}/.cargo}/bin:$PATH"
profile=default
if [ "${CI:-}" = true ]; then
    profile=ci
    export CARGO_TERM_COLOR=never
fi

if ! command -v cargo-nextest >/dev/null; then
    run_step "install cargo-nextest" cargo install cargo-nextest --locked
fi

# Unit and integration tests of every member; benches are not tests.
run_step "tests" cargo nextest run --locked --workspace --tests --profile "$profile"
tests_code=$step_code
run_step "doctests" cargo test --locked --workspace --doc --quiet --features auscult/ced-tiny
run_step "examples" tools/examples.sh
run_step "pages in a browser" tools/browser.sh
# Built as the tests are: what is published is built by tools/wheel.sh alone.
case "$(uname -s)" in
    Linux | Darwin) run_step "python package" env AUSCULT_WHEEL_PROFILE=dev tools/python.sh ;;
    *) skip_step "python package" "tools/python.sh is for Linux and macOS" ;;
esac
program="${CARGO_TARGET_DIR:-$PWD/target}/debug/auscult"
case "$(uname -s)" in
    Linux) run_step "broker and mail server" tools/services.sh ;;
    *) skip_step "broker and mail server" "tools/services.sh installs mosquitto from Debian's packages" ;;
esac
run_step "pages of the service are built" tools/dashboard.sh check
case "$(uname -s)" in
    Linux)
        run_step "pages of the service in a browser" tools/dashboard.sh test
        run_step "the service" tools/service.sh guarded killed tls slow examples
        ;;
    *) skip_step "the service, and its pages in a browser" "their tests are for Linux" ;;
esac
run_step "the story" tools/story.sh --check
run_step "links of the book" tools/book.py links
run_step "options in the book" tools/book.py options "$program" --check
run_step "commands of the book" tools/book.py run "$program"
run_step "workflows" tools/workflows.sh

# nextest counts what it skipped; these lines say what and why.
printf '\ntests that did not run:\n'
# 0 and 100: they ran, and all passed or some failed; anything else: none ran.
if [ "$tests_code" -ne 0 ] && [ "$tests_code" -ne 100 ]; then
    echo "  SKIPPED all: see the errors above"
else
    cargo nextest list --locked --workspace --tests --run-ignored only --message-format oneline \
        2>/dev/null | sed 's/^/  SKIPPED /' || true
fi
# `#[ignore = "reason"]`, with the name of the test two lines below or less.
grep -rn --include='*.rs' -A 3 '#\[ignore = ' crates |
    sed -nE 's/^.*#\[ignore = "(.*)"\].*$/  why: \1/p; s/^.*[-:] *(async )?fn ([a-z0-9_]+)\(.*$/       (\2)/p' || true
if [ ! -d "${AUSCULT_GOLDEN:-../shared/golden}" ]; then
    echo "  why: the large golden pack is absent; only testdata/golden was compared"
    echo "       (name its folder in AUSCULT_GOLDEN to compare all of it)"
fi

finish_steps "tools/test.sh"
