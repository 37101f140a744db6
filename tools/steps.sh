# Sourced by the scripts that run several steps: each step is named, timed and remembered.
#
#   run_step "name" command...      runs a command; a failure is remembered, the steps go on;
#                                   step_code has its exit code
#   skip_step "name" "why"          says loudly what is not checked
#   finish_steps "name of it all"   prints the table; fails if a step failed

step_lines=()
step_failures=0
step_code=0
steps_began=$SECONDS

run_step() {
    local name="$1" began=$SECONDS code=0
    shift
    printf '\n==> %s: %s\n' "$name" "$*"
    "$@" </dev/null || code=$?
    step_code=$code
    local took=$((SECONDS - began))
    if [ "$code" -eq 0 ]; then
        printf '<== %s: ok, %d s\n' "$name" "$took"
        step_lines+=("$(printf '  ok       %4d s  %s' "$took" "$name")")
    else
        printf '<== %s: FAILED with code %d, %d s\n' "$name" "$code" "$took"
        step_lines+=("$(printf '  FAILED   %4d s  %s' "$took" "$name")")
        step_failures=$((step_failures + 1))
    fi
}

skip_step() {
    printf '\n!!! SKIPPED %s: %s\n' "$1" "$2"
    step_lines+=("$(printf '  SKIPPED          %s: %s' "$1" "$2")")
}

finish_steps() {
    printf '\n%s, %d s:\n' "$1" "$((SECONDS - steps_began))"
    printf '%s\n' "${step_lines[@]}"
    if [ "$step_failures" -gt 0 ]; then
        printf '%d step(s) FAILED\n' "$step_failures"
        return 1
    fi
    printf 'all steps passed\n'
}
