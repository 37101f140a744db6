#!/usr/bin/env bash
# Guards the arrows between the crates:
# 1. every member depends on the members that tools/arrows.txt names, and on no other;
# 2. auscult-core depends on nothing outside tools/core_dependencies.txt, and the list has no name
#    too many;
# 3. nothing of auscult-core is built from C;
# 4. tokio is below auscult-archive (for object stores), auscult-monitor, auscult-server and auscult-cli only, and what has these below it
#    (and auscult-finetune on WebAssembly), pyo3 below auscult-python only;
# 5. the tensor library is below auscult-finetune only, and by feature.
set -euo pipefail
cd "$(dirname "$0")/.."

problems=0
problem() {
    printf 'guard: %s\n' "$1" >&2
    problems=$((problems + 1))
}

# 1. Arrows between members; benchmarks and studies stand beside and may use anything.
if ! python3 - <<'ARROWS'
import json, subprocess, sys
wanted = {}
for line in open("tools/arrows.txt"):
    line = line.split("#")[0].strip()
    if line:
        name, arrows = line.split(":")
        wanted[name.strip()] = set(arrows.split())
metadata = json.loads(subprocess.check_output(
    ["cargo", "metadata", "--locked", "--no-deps", "--format-version", "1"]))
members = {package["name"] for package in metadata["packages"]}
wrong = 0
for package in metadata["packages"]:
    name = package["name"]
    found = {d["name"] for d in package["dependencies"] if d["kind"] is None and d["name"] in members}
    if name in ("auscult-bench", "auscult-studies"):
        continue
    allowed = wanted.get(name)
    if allowed is None:
        print(f"guard: tools/arrows.txt does not have {name}", file=sys.stderr)
        wrong += 1
        continue
    for arrow in sorted(found - allowed):
        print(f"guard: {name} depends on {arrow}, which tools/arrows.txt does not allow", file=sys.stderr)
        wrong += 1
    for arrow in sorted(allowed - found):
        print(f"guard: tools/arrows.txt has {name} -> {arrow}, which does not exist: remove it", file=sys.stderr)
        wrong += 1
for name in sorted(set(wanted) - members):
    print(f"guard: tools/arrows.txt names {name}, which is not a member", file=sys.stderr)
    wrong += 1
sys.exit(1 if wrong else 0)
ARROWS
then
    problem "the arrows between crates are not those of tools/arrows.txt"
fi

# The list is the same on every machine that runs this.
target=x86_64-unknown-linux-gnu
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# names <cargo tree options>: the crates of auscult-core's tree.
names() {
    cargo tree --locked --quiet -p auscult-core --target "$target" --prefix none -f '{p}' "$@" |
        cut -d' ' -f1 | sort -u
}

names -e normal >"$work/default"
names -e normal --no-default-features >"$work/bare"
names -e normal,build >"$work/build"
sed 's/#.*//' tools/core_dependencies.txt | tr -d ' \t\r' | grep . | sort -u >"$work/allowed"

# 2. The allow-list of the core.
while read -r name; do
    problem "auscult-core depends on $name, which tools/core_dependencies.txt does not allow:"
    cargo tree --locked --quiet -p auscult-core --target "$target" -e normal -i "$name" >&2 || true
done < <(sort -u "$work/default" "$work/bare" | comm -23 - "$work/allowed")
while read -r name; do
    problem "tools/core_dependencies.txt allows $name, which auscult-core does not use: remove it"
done < <(comm -13 "$work/default" "$work/allowed")
if grep -qx rayon "$work/bare"; then
    problem "auscult-core depends on rayon without the feature parallel"
fi

# 3. No C. Of the crates that build C, blake3 names cc but does not call it with the feature pure.
for name in bindgen cmake cxx-build nasm-rs pkg-config vcpkg; do
    if grep -qx "$name" "$work/build"; then
        problem "auscult-core is built with $name"
    fi
done
if grep -E -- '-(sys|src)$' "$work/build" | grep -vx linux-raw-sys >"$work/sys"; then
    problem "auscult-core links native code: $(tr '\n' ' ' <"$work/sys")"
fi
if grep -qx cc "$work/build"; then
    users="$(cargo tree --locked --quiet -p auscult-core --target "$target" -e normal,build \
        -i cc --depth 1 --prefix none -f '{p}' | cut -d' ' -f1 | grep -vx cc | sort -u | tr '\n' ' ')"
    [ "$users" = "blake3 " ] || problem "these crates of auscult-core build C: $users"
fi
for features in "" --no-default-features; do
    # shellcheck disable=SC2086
    cargo tree --locked --quiet -p auscult-core --target "$target" -e normal --prefix none \
        -f '{p} {f}' $features >"$work/features"
    grep '^blake3 ' "$work/features" | grep -w pure >/dev/null ||
        problem "blake3 without its feature pure compiles C and assembler"
done

# 4. What may be below which member.
# only <crate> <member...>: no other member may have the crate below it, with any feature.
members="$(cargo metadata --locked --no-deps --format-version 1 |
    grep -oE '"name":"auscult[a-z-]*","version"' | cut -d'"' -f4 | sort -u)"
[ -n "$members" ] || problem "cargo metadata lists no members"
only() {
    local crate="$1" member
    shift
    for member in $members; do
        case " $* " in *" $member "*) continue ;; esac
        cargo tree --locked --quiet -p "$member" -e normal,build --all-features --target all \
            --prefix none -f '{p}' | cut -d' ' -f1 >"$work/member"
        if grep -qx "$crate" "$work/member"; then
            problem "$member has $crate below it; only $* may"
        fi
    done
}
# The tensor library of auscult-finetune has it on WebAssembly alone.
only tokio auscult-archive auscult-monitor auscult-server auscult-cli auscult-finetune auscult-python auscult-studies
only pyo3 auscult-python

# 5. The tensor library.
only burn-tensor auscult-finetune auscult-cli auscult-python
for member in auscult-cli auscult-python; do
    if cargo tree --locked --quiet -p "$member" -e normal --prefix none -f '{p}' |
        cut -d' ' -f1 | grep -qx burn-tensor; then
        problem "$member has burn-tensor below it without the feature training"
    fi
done

if [ "$problems" -gt 0 ]; then
    printf 'guard: %d problem(s)\n' "$problems" >&2
    exit 1
fi
printf 'guard: auscult-core has %d crates, %d without default features; all arrows hold\n' \
    "$(wc -l <"$work/default")" "$(wc -l <"$work/bare")"
