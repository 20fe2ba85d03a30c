# ./dev test: runs the tests layer by layer, and prints the time of each layer. Without options it
# runs the core, a selection that takes ten minutes; --all runs everything. After a layer has
# failed, the other layers still run.
# shellcheck shell=bash

# A suite is one or more layers that run together, joined by plus. A part of the layers follows an
# @:
#   one-server     on one Redis, MariaDB and ZooKeeper of the distribution, and in memory
#   other-servers  the rest: Valkey, TLS, a user with few permissions, Cluster, Sentinel
#   readme         the example that README.md names
#   others         the other examples
core_suites="tidy+docs unit sim conformance+redis+cli@one-server examples@readme"
rest_suites="mutants conformance+redis+cli@other-servers differential"
rest_suites+=" mysql+zookeeper+process+sentinel+cluster+chaos examples@others package"
all_layers="tidy docs unit sim conformance redis cli mysql zookeeper sentinel cluster chaos process"
all_layers+=" differential mutants examples package"
# These mostly wait for leases, outages and servers, so more of them than there are cores run at the
# same time. The layer threads is not among them: ThreadSanitizer keeps all cores busy.
waiting_layers="conformance redis cli mysql zookeeper sentinel cluster chaos process"
topologies='*/*_tls*:*/*_acl*:*/*_cluster*:*/*_sentinel*'
cores=$(nproc)

explain_test() {
  cat << END
usage: ./dev test [--all | --rest | LAYER...] [--repeat N] [--load]
       ./dev test --slowest

Without options it builds and runs the core: the layers tidy, docs, unit, sim (with fresh seeds),
conformance, redis and cli, on one server of each store. That takes ten minutes the first time.

  --all       everything: the core, and --rest
  --rest      all that the core leaves out
  LAYER...    these layers in full; the layers are
$(fold -s -w 70 <<< "$all_layers" | sed 's/^ */                /')
  --repeat N  runs all that N times, and counts the failures of each test
  --load      keeps the machine busy while the tests run, with two processes for each core
  --slowest   lists the fifty slowest tests of the last run

The last line is always "N passed, N failed, N skipped".
END
}

verb_test() {
  local what=core repeat=1 load='' chosen=()
  understand_test "$@"
  if [[ $what == slowest ]]; then
    exec python3 -B tools/dev/slowest.py build/results
  fi
  local suites="${chosen[*]}"
  case $what in
    core) suites=$core_suites ;;
    rest) suites=$rest_suites ;;
    all) suites="$core_suites $rest_suites" ;;
  esac
  need build server stores
  if [[ $what != core ]]; then
    fetch_servers
    fetch_stores
  fi
  export_servers
  results=$PWD/build/results
  rm -rf "$results"
  local targets=core
  [[ $what == core ]] || targets=$(targets_of "$suites")
  plan_stages "Building (ci)" "$(titles_of "$suites" ci "$repeat")"
  # shellcheck disable=SC2086 # several targets
  attempt "Building (ci)" build ci --target $targets
  if last_stage_ok; then
    [[ -z $load ]] || keep_busy
    run_suites "$what" ci "$suites" "$repeat"
  fi
  stage_summary
  [[ $what != core ]] || tell_left_out
  python3 -B tools/dev/tally.py "$results"
}

# Parses the options into verb_test's variables what, repeat, load and chosen.
understand_test() {
  while (($# > 0)); do
    case $1 in
      -h | --help)
        explain_test
        exit
        ;;
      --all | --rest | --slowest)
        [[ $what == core ]] || refuse_test "$1 and ${chosen[0]:---$what} exclude each other"
        what=${1#--}
        ;;
      --repeat)
        [[ ${2:-} =~ ^[1-9][0-9]{0,4}$ ]] || refuse_test "--repeat takes a number from 1 to 99999"
        repeat=$2
        shift
        ;;
      --load) load=yes ;;
      -*) refuse_test "./dev test has no option '$1'" ;;
      *)
        [[ " $all_layers " == *" $1 "* ]] ||
          refuse_test "there is no layer '$1'; the layers are: $all_layers"
        [[ $what == core || $what == chosen ]] || refuse_test "--$what and $1 exclude each other"
        what=chosen chosen+=("$1")
        ;;
    esac
    shift
  done
  [[ $what != slowest || $repeat$load == 1 ]] || refuse_test "--slowest runs no test"
}

refuse_test() {
  printf './dev test: %s. See ./dev test --help\n' "$*" >&2
  exit 2
}

# targets_of <suites>
# The programs of a layer are one target. The tests of the packages need all targets.
targets_of() {
  local layer targets=()
  for layer in $(sed -E 's/@[a-z-]+//g; s/[+]/ /g' <<< "$1"); do
    case $layer in
      package) targets+=(all) ;;
      tidy) targets+=(holdfast) ;;
      docs) targets+=(holdfast_cli) ;;
      threads) targets+=(threaded_tests) ;;
      *) targets+=("layer_$layer") ;;
    esac
  done
  printf '%s ' "${targets[@]}"
}

# run_suites <folder of results> <preset> <suites> [<rounds>]
run_suites() {
  local folder=$1 preset=$2 suites=$3 rounds=${4:-1} round suite
  for ((round = 1; round <= rounds; round++)); do
    for suite in $suites; do
      attempt "$(title_of "$suite" "$preset" "$round" "$rounds")" \
        run_suite "$results/$folder$( ((round == 1)) || printf -- '-%s' "$round")/$suite" \
        "$preset" "$suite"
    done
  done
}

# title_of <suite> <preset> <round> <rounds>
title_of() {
  local counted=''
  (($4 == 1)) || counted=" ($3 of $4)"
  printf 'Testing %s (%s)%s\n' "${1/@/ on }" "$2" "$counted"
}

# titles_of <suites> <preset> [<rounds>]: prints one line for each stage of run_suites.
titles_of() {
  local rounds=${3:-1} round suite
  for ((round = 1; round <= rounds; round++)); do
    for suite in $1; do
      title_of "$suite" "$2" "$round" "$rounds"
    done
  done
}

# run_suite <folder> <preset> <suite>
run_suite() {
  local folder=$1 preset=$2 layers=${3%@*}
  case $3 in
    *@one-server) on_one_server run_layers "$folder" "$preset" "$layers" ;;
    *@other-servers)
      GTEST_FILTER="*/*valkey*:$topologies:*Galera*" run_layers "$folder" "$preset" "$layers"
      ;;
    *@readme) run_layers "$folder" "$preset" "$layers" -L '^readme$' ;;
    *@others) run_layers "$folder" "$preset" "$layers" -LE '^readme$' ;;
    differential) run_layers "$folder" "$preset" "$layers" -C long ;;
    *) run_layers "$folder" "$preset" "$layers" ;;
  esac
}

# run_layers <folder> <preset> <layers> [<ctest option>...]
# Every case of a GoogleTest program is counted, so these programs write reports into the folder.
run_layers() {
  local folder=$1 preset=$2 layers=$3 at_once=$cores layer
  shift 3
  mkdir -p "$folder"
  for layer in ${layers//+/ }; do
    [[ " $waiting_layers " != *" $layer "* ]] || at_once=$((cores * 3))
  done
  GTEST_OUTPUT=xml:$folder/ HOLDFAST_RESULTS=$folder ctest --preset "$preset" \
    -L "^(${layers//+/|})\$" --parallel "$at_once" --no-label-summary --no-tests=error "$@" \
    --output-junit "$folder/ctest.junit"
}

# Runs a command on one server of each store, without the tests that need several. `left_out` names
# more cases to leave out.
on_one_server() {
  HOLDFAST_SERVERS=${HOLDFAST_SERVERS%%;*} HOLDFAST_NEWER_SERVERS='' HOLDFAST_NEWER_MYSQL='' \
    HOLDFAST_NEWER_ZOOKEEPERS='' \
    GTEST_FILTER="-$topologies:*Galera*${left_out:+:$left_out}" "$@"
}

# Starts processes that use all CPU until this script has ended.
keep_busy() {
  python3 -B tools/dev/load.py $((cores * 2)) &
}

tell_left_out() {
  cat << 'END'

Not run, with the command for it:
  ./dev test conformance redis         Valkey, TLS, a user with few rights, Cluster and Sentinel
  ./dev test mysql zookeeper           what only these stores have
  ./dev test sentinel cluster chaos    failovers, moving slots, outages
  ./dev test process                   fork, threads and signals
  ./dev test differential              10,000 random sequences, on each store and in memory
  ./dev test mutants                   faults that the tests must find
  ./dev test examples package          all examples; whether other projects can use the library
  ./dev test --rest                    all of these
  ./dev sanitize                       the tests under AddressSanitizer and ThreadSanitizer
  ./dev sim --seeds 20000              more simulated worlds
  ./dev lint                           linters and layout
  ./dev fuzz                           fuzzers
  ./dev interop                        real clients of Redisson, Curator and others

END
}
