#!/usr/bin/env bash
# clean_root.sh: run by ./dev package in a root folder with nothing but the system's base and, in
# /trial, the packages and the consumer. Do they bring all that they need, and leave no trace?
set -euo pipefail
cd /trial
export DEBIAN_FRONTEND=noninteractive HOLDFAST_URL=unix:///trial/redis.sock

say() { printf '\n-- %s\n' "$*"; }
fail() {
  printf 'clean_root: %s\n' "$*" >&2
  exit 1
}
install() {
  apt-get -qq install -y --no-install-recommends "$@" > install.log 2>&1 || fail "$(< install.log)"
}

# expect <status> <command>...
expect() {
  local wanted=$1 status=0
  shift
  timeout 30 "$@" || status=$?
  ((status == wanted)) || fail "'$*' ended with $status, and not $wanted"
}

say "The program alone"
apt-get -qq update
install ./holdfast_*.deb ./libholdfast0*.deb redis-server
expect 0 holdfast --version
expect 69 holdfast run --lease 1s -w 1 trial -- true
redis-server --port 0 --unixsocket /trial/redis.sock --save '' --daemonize yes > /dev/null
expect 0 holdfast doctor
expect 7 holdfast run trial -- sh -c 'exit 7'
words=$(holdfast run --metrics-textfile /trial/a.prom trial -- true 2>&1) ||
  fail "without its module, --metrics-textfile changed the status"
[[ $words == *"writes no metrics"* ]] || fail "without libholdfast-metrics it said: $words"
expect 0 holdfast run trial -- holdfast run -n -E 0 trial -- touch not-alone
[[ ! -e not-alone ]] || fail "a lock that was held was given to another"
words=$(holdfast ls --url mysql://127.0.0.1:1/shop 2>&1 || true)
[[ $words == *"the package libmariadb3"* ]] || fail "without libmariadb it said: $words"
install libmariadb3
expect 69 holdfast ls --url mysql://127.0.0.1:1/shop

say "The library: with pkg-config"
install ./libholdfast-dev_*.deb ./libholdfast-testing0*.deb ./libholdfast-testing-dev_*.deb \
  g++ cmake make pkg-config
words=$(pkg-config --cflags --libs 'holdfast-testing >= 0.1')
read -r -a flags <<< "$words"
g++ -std=c++20 consumer/main.cpp -o by-pkg-config "${flags[@]}"
expect 0 ./by-pkg-config

say "The library: with CMake"
cmake -S consumer -B by-cmake > /dev/null
cmake --build by-cmake
expect 0 by-cmake/consumer

say "The component"
install ./libholdfast-mysql0*.deb ./libholdfast-mysql-dev_*.deb
words=$(pkg-config --cflags --libs 'holdfast-mysql >= 0.1')
read -r -a flags <<< "$words"
g++ -std=c++20 consumer/mysql.cpp -o mysql-by-pkg-config "${flags[@]}"
expect 0 ./mysql-by-pkg-config
cmake -S consumer -B mysql-by-cmake -DCONSUMER_MYSQL=ON > /dev/null
cmake --build mysql-by-cmake
expect 0 mysql-by-cmake/consumer_mysql

say "The metrics"
install ./libholdfast-metrics0*.deb ./libholdfast-metrics-dev_*.deb
expect 0 holdfast run --metrics-textfile /trial/a.prom trial -- true
grep -q '^holdfast_run_exit_status{name="trial"} 0$' a.prom || fail "there are no metrics"
cmake -S consumer -B metrics-by-cmake -DCONSUMER_METRICS=ON > /dev/null
cmake --build metrics-by-cmake
expect 0 metrics-by-cmake/consumer_metrics > metrics.log

say "The documents"
for path in README.md docs/guarantees.md examples/01_first_lock.cpp; do
  [[ -e /usr/share/doc/libholdfast-dev/$path ]] || fail "there is no $path"
done

say "Away with them"
apt-get -qq purge -y holdfast libholdfast-dev libholdfast-mysql-dev libholdfast-metrics-dev \
  libholdfast-testing-dev 'libholdfast0*' 'libholdfast-mysql0*' 'libholdfast-metrics0*' \
  'libholdfast-testing0*' \
  > install.log
left=$(find / -xdev -name '*holdfast*' -not -path '/trial/*' -not -path '/var/*')
[[ -z $left ]] || fail "purged, but there is still: $left"
