# ./dev fuzz [--seconds N] [--keep]: feeds the parsers with data as servers, networks and users may
# send it, each parser for N seconds. With --keep, useful inputs are added to fuzz/corpus/.
# shellcheck shell=bash

verb_fuzz() {
  local seconds=30 keep=
  while (($# > 0)); do
    case $1 in
      --seconds)
        [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || die "--seconds takes a whole number from 1"
        seconds=$2
        shift
        ;;
      --keep) keep=yes ;;
      *) die "./dev fuzz knows --seconds N and --keep, not '$1'" ;;
    esac
    shift
  done
  need build fuzz
  stage "Building (fuzz)" build_fuzzers
  fuzz_all "$seconds" "$keep"
}

build_fuzzers() {
  CC=$(clang_tool clang) CXX=$(clang_tool clang++) build fuzz --target fuzzers
}

fuzz_all() {
  local seconds=$1 keep=${2:-} program name
  for program in build/fuzz/fuzz/fuzz_*; do
    [[ -x $program && -f $program ]] || continue
    name=${program##*/fuzz_}
    attempt "Fuzzing $name for $seconds s" fuzz_one "$program" "$name" "$seconds"
    if [[ -n $keep ]]; then
      "$program" -merge=1 "fuzz/corpus/$name" "build/fuzz/corpus/$name"
    fi
  done
}

# New inputs go to a folder of the build. A failing input stays in build/fuzz/<name>-crash-…
fuzz_one() {
  local program=$1 name=$2 seconds=$3
  mkdir -p "build/fuzz/corpus/$name" "fuzz/corpus/$name"
  "$program" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=1024 -max_len=4096 -verbosity=1 \
    -print_final_stats=1 -artifact_prefix="build/fuzz/$name-" \
    "build/fuzz/corpus/$name" "fuzz/corpus/$name"
}
