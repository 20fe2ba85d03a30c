# ./dev test: everything that can be checked here, layer by layer, and what each layer took. CI runs
# the same, and adds the sanitizers, the linters and the fuzzers. A layer that fails keeps no other
# from running.
# shellcheck shell=bash

# Layers that are joined by a plus run together. Those that wait do so for leases, outages and
# servers nearly all of the time: more of them run at once than there are cores.
waiting_layers="conformance redis+mysql+zookeeper sentinel+cluster+chaos cli+process"
layers="tidy docs unit sim mutants $waiting_layers examples package"
sanitized_layers="unit sim conformance redis+mysql+zookeeper"
cores=$(nproc)

verb_test() {
  need build server stores
  fetch_servers
  fetch_stores
  export_servers
  results=$PWD/build/results
  rm -rf "$results"

  in_ci && lint_quickly
  test_preset ci all "$layers"
  if in_ci; then
    sanitize asan core_tests "$sanitized_layers"
    sanitize tsan threaded_tests threads
    lint_thoroughly
    attempt "Building (fuzz)" build_fuzzers
    ! last_stage_ok || fuzz_all 15
  fi

  stage_summary
  python3 tools/dev/tally.py "$results"
}

# sanitize <preset> <target> <layers>: on one server of each store, since what they look for is ours
# and not the server's.
sanitize() {
  local all=$HOLDFAST_SERVERS
  HOLDFAST_SERVERS=${all%%;*}
  on_few_servers test_preset "$@"
  HOLDFAST_SERVERS=$all
}

# One MariaDB and one kind of ZooKeeper say enough where it is the memory of our side that is asked
# for.
on_few_servers() {
  HOLDFAST_NEWER_MYSQL='' HOLDFAST_NEWER_ZOOKEEPERS='' GTEST_FILTER='-*Galera*' "$@"
}

# test_preset <preset> <target> <layers>
test_preset() {
  local preset=$1 layer
  attempt "Building ($preset)" build "$preset" --target "$2"
  if ! last_stage_ok; then
    return
  fi
  for layer in $3; do
    if [[ $(cd "build/$preset" && ctest -N -L "$(label "$layer")") != *"Total Tests: 0"* ]]; then
      attempt "Testing $layer ($preset)" run_layer "$preset" "$layer"
    fi
  done
}

# run_layer <preset> <layer> [<ctest option>...]
# Every case of a GoogleTest program is counted, so these leave a report each.
run_layer() {
  local preset=$1 layer=$2 folder=$results/$1/$2 at_once=$cores
  shift 2
  mkdir -p "$folder"
  [[ " $waiting_layers threads " != *" $layer "* ]] || at_once=$((cores * 3))
  GTEST_OUTPUT=xml:$folder/ HOLDFAST_RESULTS=$folder ctest --preset "$preset" \
    -L "$(label "$layer")" --parallel "$at_once" --no-label-summary "$@" \
    --output-junit "$folder/ctest.junit"
}

# What ctest calls a layer, or several of them.
label() { printf '^(%s)$' "${1//+/|}"; }
