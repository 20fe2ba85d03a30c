# Long work in named stages, each with its time, and a summary at the end.
# shellcheck shell=bash

stage_titles=() stage_times=() stage_results=()

say() { printf '%s\n' "$*"; }
warn() { printf './dev: warning: %s\n' "$*" >&2; }
die() {
  printf './dev: %s\n' "$*" >&2
  exit 1
}
in_ci() { [[ ${CI:-} == true ]]; }

# stage <title> <command>...: runs a command that must succeed.
stage() {
  stage_begin "$1"
  shift
  "$@"
  stage_end ok
}

# attempt <title> <command>...: runs a command whose failure is told at the end, after the others.
attempt() {
  stage_begin "$1"
  shift
  # Not `if "$@"`: `set -e` would then not act inside the command.
  set +e
  (
    set -e
    "$@"
  )
  local status=$?
  set -e
  if ((status == 0)); then stage_end ok; else stage_end FAILED; fi
}

last_stage_ok() { [[ ${stage_results[-1]} == ok ]]; }
failed_stages() { printf '%s\n' "${stage_results[@]}" | grep -c FAILED || true; }

stage_begin() {
  stage_titles+=("$1")
  stage_began=$SECONDS
  printf '\n==> %s\n' "$1"
  trap stage_summary EXIT
}

stage_end() {
  stage_times+=($((SECONDS - stage_began)))
  stage_results+=("$1")
  [[ $1 == ok ]] || note_failed "${stage_titles[-1]}"
  printf '==> %s: %s, %s s\n' "${stage_titles[-1]}" "$1" "${stage_times[-1]}"
}

# Where results are counted, the tally at the end of the last verb names what failed in any.
note_failed() {
  [[ -n ${results:-} ]] || return 0
  mkdir -p "$results"
  printf '%s\n' "$1" >> "$results/failed_stages"
}

# Runs once, whichever way the verb ends. A stage that is still open then has failed.
stage_summary() {
  trap - EXIT
  if ((${#stage_titles[@]} > ${#stage_times[@]})); then
    stage_end FAILED
  fi
  if ((${#stage_titles[@]} == 1)); then
    return
  fi
  local i
  printf '\n'
  for i in "${!stage_titles[@]}"; do
    printf '  %5s s  %-6s  %s\n' "${stage_times[i]}" "${stage_results[i]}" "${stage_titles[i]}"
  done
  printf '  %5s s  in all\n' "$SECONDS"
}
