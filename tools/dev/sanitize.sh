# ./dev sanitize: runs the tests with AddressSanitizer and UndefinedBehaviorSanitizer (asan), and
# those with several threads with ThreadSanitizer (tsan). They run on one server of each store,
# because the sanitizers check our code and not the servers.
# shellcheck shell=bash

asan_suites="unit sim conformance+redis@one-server mysql+zookeeper@one-server"
asan_ci_suites="unit sim conformance+redis@one-server" # in CI
tsan_suites="threads@one-server"
sanitized_seeds=25 # the simulator is many times slower with a sanitizer

verb_sanitize() {
  local preset presets=()
  for preset in "$@"; do
    [[ $preset == asan || $preset == tsan ]] ||
      die "./dev sanitize knows asan and tsan, not '$preset'"
    presets+=("$preset")
  done
  ((${#presets[@]} > 0)) || presets=(asan tsan)
  need build server stores
  export_servers
  results=$PWD/build/results
  rm -rf "$results"
  plan_stages "$(sanitizer_titles "${presets[@]}")"
  for preset in "${presets[@]}"; do
    sanitize "$preset"
  done
  stage_summary
  python3 -B tools/dev/tally.py "$results"
}

sanitizer_titles() {
  local preset
  for preset in "$@"; do
    printf 'Building (%s)\n' "$preset"
    titles_of "$(sanitizer_suites "$preset")" "$preset"
  done
}

sanitizer_suites() {
  if [[ $1 == tsan ]]; then
    printf '%s' "$tsan_suites"
  else
    printf '%s' "$asan_suites"
  fi
}

# sanitize <preset>
sanitize() {
  local preset=$1 suites
  suites=$(sanitizer_suites "$preset")
  # shellcheck disable=SC2046 # several targets
  attempt "Building ($preset)" build "$preset" --target $(targets_of "$suites")
  ! last_stage_ok || HOLDFAST_FRESH_SEEDS=$sanitized_seeds run_suites "$preset" "$preset" "$suites"
}
