# Runs long work in named stages, prints the time of each, and a summary at the end.
# shellcheck shell=bash

stage_titles=() stage_times=() stage_results=()
stage_plan=()         # the titles of all stages, if they are known
times_file=build/times # the time of each stage's last success
stage_logs=build/logs
process_group_beside='' # runs beside the stages, and ends with them

say() { printf '%s\n' "$*"; }
warn() { printf './dev: warning: %s\n' "$*" >&2; }
die() {
  printf './dev: %s\n' "$*" >&2
  exit 1
}
in_ci() { [[ ${CI:-} == true ]]; }

# stage <title> <command>...: runs a command. A failure ends the verb.
stage() {
  stage_begin "$1"
  shift
  "$@"
  stage_end ok
}

# attempt <title> <command>...: runs a command. A failure is reported at the end, after the other
# stages.
attempt() {
  stage_begin "$1"
  shift
  local status
  # Not `if "$@"`, because `set -e` has no effect inside the command then.
  set +e
  if shows_progress; then
    (
      set -e
      "$@"
    ) 2>&1 | show_progress
    status=${PIPESTATUS[0]}
    ((status == 0)) || tell_end_of_log
  else
    (
      set -e
      "$@"
    )
    status=$?
  fi
  set -e
  if ((status == 0)); then stage_end ok; else stage_end FAILED; fi
}

# plan_stages <title>...: announces the stages; an argument may have several lines. On a terminal,
# each stage then shows one line with its progress, and its output goes to a log.
plan_stages() { mapfile -t stage_plan < <(printf '%s\n' "$@"); }

shows_progress() {
  ((${#stage_plan[@]} > 0)) && [[ -t 1 && ${TERM:-dumb} != dumb ]]
}

show_progress() {
  local title=${stage_titles[-1]} i later=()
  for i in "${!stage_plan[@]}"; do
    [[ ${stage_plan[i]} != "$title" ]] || later=("${stage_plan[@]:i + 1}")
  done
  mkdir -p "$stage_logs"
  python3 -B tools/dev/progress.py "$(log_of_stage)" "$times_file" \
    $((${#stage_plan[@]} - ${#later[@]})) "$title" "${later[@]}"
}

log_of_stage() { printf '%s/%s.log' "$stage_logs" "${#stage_titles[@]}"; }

tell_end_of_log() {
  tail -n 60 "$(log_of_stage)"
  say "The whole output of this stage is in $(log_of_stage)."
}

last_stage_ok() { [[ ${stage_results[-1]} == ok ]]; }
failed_stages() { printf '%s\n' "${stage_results[@]}" | grep -c FAILED || true; }

stage_begin() {
  stage_titles+=("$1")
  stage_began=$SECONDS
  shows_progress || printf '\n==> %s\n' "$1"
  trap stage_summary EXIT
}

stage_end() {
  stage_times+=($((SECONDS - stage_began)))
  stage_results+=("$1")
  if [[ $1 == ok ]]; then note_time; else note_failed "${stage_titles[-1]}"; fi
  printf '==> %s: %s, %s s\n' "${stage_titles[-1]}" "$1" "${stage_times[-1]}"
}

# Remembers the time of the last stage, from which the next run estimates the remaining time.
note_time() {
  mkdir -p build
  touch "$times_file"
  {
    printf '%s\t%s\n' "${stage_times[-1]}" "${stage_titles[-1]}" |
      sed -E 's/ \([0-9]+ of [0-9]+\)$//' # removes the round
    cat "$times_file"
  } | awk -F '\t' '!known[$2]++' > "$times_file.new"
  mv "$times_file.new" "$times_file"
}

# Records a failed stage for the tally that the last verb prints.
note_failed() {
  [[ -n ${results:-} ]] || return 0
  mkdir -p "$results"
  printf '%s\n' "$1" >> "$results/failed_stages"
}

# Runs once, in whatever way the verb ends. A stage that has not ended by then has failed.
stage_summary() {
  trap - EXIT
  [[ -z $process_group_beside ]] || kill -- "-$process_group_beside" 2> /dev/null || true
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
