#!/usr/bin/env bash
# on_demand.sh <prefix> <folder of libraries> <ON|OFF: with MySQL> <ON|OFF: with metrics>: the
# installed program finds what does TLS, what speaks to MySQL and what counts for Prometheus. It has
# nothing of them before a URL or an option wants it.
set -euo pipefail

program=$1/bin/holdfast
with_mysql=$3
with_metrics=$4
export LD_LIBRARY_PATH=$2
if ldd "$program" | grep -E 'libssl|libmariadb|libprometheus'; then
  printf '%s links what is to be loaded when a URL wants it\n' "$program"
  exit 1
fi

# expect <words> <URL>: nobody listens on port 1. It gets that far only with all at hand.
expect() {
  local said
  said=$("$program" ls --url "$2" 2>&1 || true)
  [[ $said == *"$1"* ]] || {
    printf '%s: it said: %s\n' "$2" "$said"
    exit 1
  }
}

expect 'no connection to 127.0.0.1:1' 'rediss://127.0.0.1:1'
expect 'no connection to 127.0.0.1:1' 'zk://127.0.0.1:1?tls=yes'
if [[ $with_mysql == ON ]]; then
  expect 'cannot reach mysql://127.0.0.1:1' 'mysql://127.0.0.1:1/shop'
else
  expect 'built without libmariadb' 'mysql://127.0.0.1:1/shop'
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
run=(run -n --url redis://127.0.0.1:1 --metrics-textfile "$folder/a.prom")
said=$("$program" "${run[@]}" a true 2>&1 || true)
if [[ $with_metrics == ON ]]; then
  grep -q '^holdfast_run_exit_status{name="a"} 69$' "$folder/a.prom" || {
    printf 'there are no metrics of the run, and it said: %s\n' "$said"
    exit 1
  }
elif [[ $said != *'built without prometheus-cpp'* ]]; then
  printf 'built without prometheus-cpp, it said: %s\n' "$said"
  exit 1
fi
