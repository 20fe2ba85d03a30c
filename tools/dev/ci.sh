# ./dev ci: what CI runs after ./dev test. It runs the linters, the other tests, fresh seeds of the
# simulator, the sanitizers, the fuzzers and the tests with other programs' locks. It also builds
# the site of the documents. Its last line counts the tests of ./dev test too.
# shellcheck shell=bash

ci_fuzz_seconds=15
ci_fresh_seeds=2500 # in each world; four times as many in the plain world: 20,000 in all

verb_ci() {
  need build server stores interop
  fetches_all=1
  fetch_servers
  fetch_stores
  export_servers
  results=$PWD/build/results
  mkdir -p "$results"
  find "$results" -mindepth 1 -maxdepth 1 ! -name core -exec rm -rf {} +

  # Everything that needs the network comes first.
  prepare_interop
  prepare_neighbours
  attempt "Building the simulator (ci)" build ci --target layer_sim
  ! last_stage_ok || begin_simulating
  lint_quickly
  attempt "The site of the documents" build_site
  # shellcheck disable=SC2086,SC2046 # several targets
  attempt "Building (ci)" build ci --target $(targets_of "$rest_suites")
  if last_stage_ok; then
    run_suites ci ci "$rest_suites"
  fi
  # Conformance runs on memory and Redis; under ThreadSanitizer also on MariaDB, whose client has
  # threads. ./dev sanitize runs the rest.
  asan_suites=$asan_ci_suites left_out='*/mariadb*:*/zookeeper*' sanitize asan
  left_out='*/zookeeper*' sanitize tsan
  lint_thoroughly
  attempt "Building (fuzz)" build_fuzzers
  ! last_stage_ok || fuzz_all "$ci_fuzz_seconds"
  test_interop in_short
  [[ -z $process_group_beside ]] || attempt "Simulating fresh seeds" end_simulating

  stage_summary
  python3 -B tools/dev/tally.py "$results"
}

# Simulates fresh seeds beside the other stages. The simulator reads no clock, and it runs only
# while a core would be idle. Therefore it neither delays the other tests nor depends on them.
begin_simulating() {
  mkdir -p "$results/ci/fresh"
  set -m # gives the simulator a process group, which ends with this script
  (
    chrt --idle --pid 0 "$BASHPID" || renice -n 19 "$BASHPID"
    status=0
    # Its own folder, because two runs of CTest in one folder would overwrite each other's files.
    HOLDFAST_FRESH_SEEDS=$ci_fresh_seeds ctest --test-dir build/ci/tests/sim -L '^fresh$' \
      --parallel "$cores" --no-tests=error --verbose \
      --output-junit "$results/ci/fresh/ctest.junit" || status=$?
    echo "$status" > "$results/fresh.status"
  ) < /dev/null > "$results/fresh.log" 2>&1 &
  process_group_beside=$!
  set +m
}

# Waits for the simulator, and prints what it wrote.
end_simulating() {
  tail --pid="$process_group_beside" --follow /dev/null
  cat "$results/fresh.log"
  [[ $(< "$results/fresh.status") == 0 ]]
}
