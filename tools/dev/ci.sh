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
  lint_quickly
  attempt "The site of the documents" build_site
  # shellcheck disable=SC2086,SC2046 # several targets
  attempt "Building (ci)" build ci --target $(targets_of "$rest_suites")
  if last_stage_ok; then
    run_suites ci ci "$rest_suites"
    attempt "Simulating fresh seeds" simulate_fresh
  fi
  # Conformance runs on memory and Redis; under ThreadSanitizer also on MariaDB, whose client has
  # threads. ./dev sanitize runs the rest.
  asan_suites=$asan_ci_suites left_out='*/mariadb*:*/zookeeper*' sanitize asan
  left_out='*/zookeeper*' sanitize tsan
  lint_thoroughly
  attempt "Building (fuzz)" build_fuzzers
  ! last_stage_ok || fuzz_all "$ci_fuzz_seconds"
  test_interop in_short

  stage_summary
  python3 -B tools/dev/tally.py "$results"
}

simulate_fresh() {
  HOLDFAST_FRESH_SEEDS=$ci_fresh_seeds run_layers "$results/ci/fresh" ci fresh --verbose
}
