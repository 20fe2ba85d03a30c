# ./dev bench [--json]: ratios to bare sockets, measured in one run. With --json, standard output
# carries the results and nothing else.
# shellcheck shell=bash

verb_bench() {
  need build server >&2
  export_servers
  stage "Building (release)" build release --target holdfast_bench >&2
  build/release/bench/holdfast_bench "$@"
}
