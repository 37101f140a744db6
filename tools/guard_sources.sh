#!/usr/bin/env bash
# Guards the sources: no file is too long for a reader, no panic hides in a call, and commands stay short, apart from
# each other, and away from reading sound and fitting models.
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

commands=crates/auscult-cli/src/commands
most_command_lines=150
while read -r file; do
    lines="$(wc -l <"$file")"
    if [ "$lines" -gt "$most_command_lines" ]; then
        printf 'guard: %s has %d lines, more than %d: the way belongs in the library, tables and options in their own files\n' \
            "$file" "$lines" "$most_command_lines" >&2
        problems=$((problems + 1))
    fi
done < <(find "$commands" -name '*.rs' | sort)
if grep -rnE 'ClipReader|Model::fit' "$commands" >&2; then
    printf 'guard: a command reads sound or fits a model by itself; the library does\n' >&2
    problems=$((problems + 1))
fi
# A command and the files of its own folder may use each other; commands may not.
if grep -rnE 'commands::|use super::(bench|cache|calibrate|data|demo|encoder|explain|features|fit|inspect|metrics|model|report|score|serve|synth|train|tune|watch)' \
    "$commands" >&2; then
    printf 'guard: a command uses another command\n' >&2
    problems=$((problems + 1))
fi

# The files that ARCHITECTURE.md names for the ten usual changes exist, and no change names more than it may.
python3 tools/guard_changes.py || problems=$((problems + 1))

[ "$problems" -eq 0 ] || exit 1
printf 'guard: no source over %d lines, no unwrap or expect outside tests\n' "$most_lines"
