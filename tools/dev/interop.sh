# ./dev interop and ./dev soak: test our locks against real Redisson clients in separate JVMs, and
# against other programs (neighbours.sh). What only these verbs need (a JDK, Maven, Redisson's jars)
# is fetched here. A version of Redisson is tested if tests/interop/redisson/checksums/ names it. If
# the folder once/ there names it, it is tested with a few tests on one server.
# shellcheck shell=bash

peers_source=tests/interop/redisson
peers_shared=tests/interop/jvm # for the peers in all JVMs
peers_folder=build/interop/redisson

verb_interop() {
  need build server stores interop
  fetch_servers
  fetch_stores
  export_servers
  results=$PWD/build/results
  rm -rf "$results"
  prepare_interop
  prepare_neighbours
  test_interop
  stage_summary
  python3 -B tools/dev/tally.py "$results"
}

# test_interop [in_short]: in_short tests on one server, and without the intermediate versions of
# Redisson.
test_interop() {
  local run=(run_layers "$results/ci/interop" ci interop --verbose --parallel "$((cores + 1))")
  # Some tests print their progress each second, so all output is shown. These tests use much CPU.
  if [[ ${1:-} == in_short ]]; then
    HOLDFAST_SERVERS=${HOLDFAST_SERVERS%%;*} HOLDFAST_REDISSON=$(outer_versions) \
      attempt "Testing interop in short (ci)" "${run[@]}"
  else
    attempt "Testing interop (ci)" "${run[@]}"
    ! last_stage_ok || tell_compatibility
  fi
}

# Prints the first and the last version in HOLDFAST_REDISSON.
outer_versions() { sed -E 's/^([^;]*;)(.*;)?([^;]*;)$/\1\3/' <<< "$HOLDFAST_REDISSON"; }

# Writes the page of the documents. The old page stays if there are no results.
tell_compatibility() {
  local page=docs/compatibility.md made=build/interop/compatibility.md
  python3 tools/dev/compatibility.py "$results/ci/interop" > "$made"
  cp "$made" "$page"
  say "$page:"
  cat "$page"
}

# ./dev soak [--minutes N]: runs the mixed stress test on each server for N minutes.
verb_soak() {
  local minutes=10
  if (($# > 0)); then
    [[ $1 == --minutes && ${2:-} =~ ^[1-9][0-9]*$ ]] || die "usage: ./dev soak [--minutes N]"
    minutes=$2
  fi
  need build server stores interop
  fetch_servers
  fetch_stores
  export_servers
  prepare_interop
  HOLDFAST_STRESS_SECONDS=$((minutes * 60)) \
    build/ci/tests/interop/interop_test --gtest_filter='*MixedStress*'
}

prepare_interop() {
  HOLDFAST_REDISSON=$(peers_of "$peers_source/checksums")
  HOLDFAST_REDISSON_ONCE=$(peers_of "$peers_source/checksums/once")
  export HOLDFAST_REDISSON HOLDFAST_REDISSON_ONCE
  build_peers
  stage "Building (ci)" build ci --target interop
}

# Prints the list "3.13.6=/path/of/build;4.7.0=…".
peers_of() {
  local sums
  for sums in "$1"/*.sha256; do
    printf '%s;' "$(basename "$sums" .sha256)=$PWD/$peers_folder/$(basename "$sums" .sha256)"
  done
}

build_peers() {
  local sums version
  for sums in "$peers_source"/checksums/{,once/}*.sha256; do
    version=$(basename "$sums" .sha256)
    if ! peer_is_built "$version"; then
      stage "Building the peer on Redisson $version" build_peer "$version"
    fi
  done
}

checksums_of() {
  find "$peers_source/checksums" -name "$1.sha256"
}

peer_is_built() {
  local built=$peers_folder/$1/built sources
  sources=("$peers_source"/{pom.xml,src} "$peers_shared" "$(checksums_of "$1")")
  [[ -e $built && -z $(find "${sources[@]}" -newer "$built") ]]
}

# Maven checks its downloads against the registry's checksums (-C). Every file that a JVM will run
# is also checked against our checksums before anything runs it.
build_peer() {
  local out=$PWD/$peers_folder/$1 sources=src/main/java
  [[ $1 != 2.* ]] || sources=src/2/java
  rm -rf "$out"
  mvn -B -q -C -Dstyle.color=never -f "$peers_source/pom.xml" -Dredisson.version="$1" -Dout="$out" \
    -Dsources="$sources" compiler:compile dependency:copy-dependencies
  (cd "$out/lib" && LC_ALL=C sha256sum -- *.jar) |
    diff "$(checksums_of "$1")" - ||
    die "the jars of Redisson $1 (>) are not those of $(checksums_of "$1") (<)"
  touch "$out/built"
}
