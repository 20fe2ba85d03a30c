# ./dev bench [--json]: measures holdfast and the yardsticks in turn, in one run. With --json,
# standard output has only the results. --report measures everything, and writes the page
# docs/performance.md with its plots. --redraw writes the page again from the last results.
# --instructions counts the instructions of a pair on one server, and compares with a version of the
# library that had no topologies yet.
# shellcheck shell=bash

driver_redisson=4.7.0
driver_source=bench/redisson/holdfast/bench
driver_classes=build/bench/redisson/$driver_redisson
bench_record=docs/performance/measured.jsonl
before_topologies=31e967c

verb_bench() {
  case ${1:-} in
    --report)
      shift
      measure_for_report "$@"
      draw_report
      ;;
    --redraw) draw_report ;;
    --instructions) count_instructions ;;
    *)
      need build server stores >&2
      measure "$@"
      ;;
  esac
}

# Runs everything at once and over TCP, so that all results can be compared.
measure_for_report() {
  local record=$bench_record.new
  need build server stores interop
  command -v go > /dev/null || need go
  command -v npm > /dev/null || need node
  mkdir -p "$(dirname "$record")"
  measure --all --tcp --record "$record" "$@"
  count_instructions "$record"
  printf '{"conditions": {"command": "./dev bench --report%s", "revision": "%s"}}\n' \
    "${*:+ $*}" "$(git describe --always --dirty)" >> "$record"
  mv "$record" "$bench_record"
}

draw_report() {
  need report
  # Uses the distribution's Python, which finds its packages. Another Python may come first on the
  # PATH.
  stage "Drawing docs/performance.md" /usr/bin/python3 -B bench/report/performance.py \
    "$bench_record" bench/report/performance.template.md docs/performance.md
}

measure() {
  export_servers
  stage "Building (release)" build release --target holdfast_bench >&2
  prepare_driver >&2
  prepare_other_quorums >&2
  trap - EXIT # no summary of the stages, because standard output is for the results
  build/release/bench/holdfast_bench "$@"
}

# count_instructions [<record>]: counts instructions, and adds the results to the record.
count_instructions() {
  local out=build/bench/instructions before=$PWD/build/bench/$before_topologies
  need build server instructions
  export_servers
  if ! git cat-file -e "$before_topologies^{commit}" 2> /dev/null; then
    warn "this clone has not $before_topologies, so no instructions are compared"
    return
  fi
  mkdir -p "$before"
  git archive "$before_topologies" | tar -x -C "$before"
  stage "Building pairs" build_pairs "$PWD" "$out/now"
  stage "Building pairs ($before_topologies)" build_pairs "$before" "$out/before"
  stage "Counting instructions" python3 -B bench/instructions/compare.py \
    "$HOLDFAST_REDIS_SERVER" "$out/now/pairs" "$out/before/pairs" "$@"
}

build_pairs() {
  cmake -S bench/instructions -B "$2" -G Ninja -D HOLDFAST_CHECKOUT="$1" \
    -D CMAKE_BUILD_TYPE=Release -D CMAKE_CXX_COMPILER_LAUNCHER=ccache
  cmake --build "$2" --target pairs
}

# A JVM and Maven are used if they are installed, and are not installed for this. Without them, the
# comparisons with Redisson are skipped, and the output says so.
prepare_driver() {
  local tool lib=$PWD/$peers_folder/$driver_redisson/lib
  for tool in java javac mvn; do
    if ! command -v "$tool" > /dev/null; then
      warn "no $tool, so nothing is measured against Redisson; ./dev bench --report installs it"
      return
    fi
  done
  if ! peer_is_built "$driver_redisson"; then
    attempt "Fetching Redisson $driver_redisson" build_peer "$driver_redisson"
    last_stage_ok || return 0
  fi
  mkdir -p "$driver_classes"
  javac -Xlint:all,-processing -Werror -d "$driver_classes" -cp "$lib/*" "$driver_source"/*.java
  export HOLDFAST_BENCH_REDISSON="$driver_redisson=$PWD/$driver_classes:$lib/*"
}

# The same for redsync, node-redlock and Curator, whose peers are those of ./dev interop.
prepare_other_quorums() {
  HOLDFAST_NEIGHBOURS=
  prepare_other_quorum go go redsync
  prepare_other_quorum node npm node-redlock
  prepare_other_quorum curator mvn curator
  export HOLDFAST_NEIGHBOURS
}

prepare_other_quorum() {
  if command -v "$2" > /dev/null || neighbour_is_built "$1"; then
    prepare_neighbour "$@"
  else
    warn "no $2, so nothing is measured against $3; ./dev bench --report installs it"
  fi
}
