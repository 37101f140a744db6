#!/usr/bin/env bash
# Guards the sources: no file is too long for a reader, no panic hides in a call.
set -euo pipefail
cd "$(dirname "$0")/.."

most_lines=600
problems=0

while read -r file; do
    lines="$(wc -l <"$file")"
    if [ "$lines" -gt "$most_lines" ]; then
        printf 'guard: %s has %d lines, more than %d: split it\n' "$file" "$lines" "$most_lines" >&2
        problems=$((problems + 1))
    fi
done < <(find crates/*/src -name '*.rs' | sort)

# Clippy denies these too, but an attribute can silence it. Comments, modules behind
# `#[cfg(test)]` and files of such modules are left out.
found="$(find crates/*/src -name '*.rs' ! -name testing.rs ! -name tests.rs ! -path '*/tests/*' |
    sort | xargs awk '
        FNR == 1 { in_tests = 0; after_cfg = 0 }
        in_tests { next }
        /^[[:space:]]*#\[cfg\((all\()?test[,)]/ { after_cfg = 1; next }
        after_cfg && /^[[:space:]]*#\[/ { next }
        after_cfg && /^[[:space:]]*(pub |pub\(crate\) )?mod [a-z_]+ \{/ { in_tests = 1; next }
        { after_cfg = 0 }
        /^[[:space:]]*\/\// { next }
        /\.(unwrap|expect)\(/ { printf "%s:%d: %s\n", FILENAME, FNR, $0 }
    ')"
if [ -n "$found" ]; then
    printf 'guard: unwrap or expect outside tests:\n%s\n' "$found" >&2
    problems=$((problems + 1))
fi

[ "$problems" -eq 0 ] || exit 1
printf 'guard: no source over %d lines, no unwrap or expect outside tests\n' "$most_lines"
