# ./dev interop and ./dev soak: our locks against those of real Redisson clients, in JVMs of their
# own. What this needs beyond the other verbs (a JDK, Maven, Redisson's jars) is fetched here and by
# nobody else. A version of Redisson is tested if tests/interop/redisson/checksums/ names it.
# shellcheck shell=bash

peers_source=tests/interop/redisson
peers_folder=build/interop/redisson

verb_interop() {
  prepare_interop
  results=$PWD/build/results
  # In CI the closing line counts what ./dev test ran too.
  if in_ci; then rm -rf "$results/ci/interop"; else rm -rf "$results"; fi
  # What a crowd does is told each second, so all is shown.
  attempt "Testing interop (ci)" run_layer ci interop --verbose
  ! last_stage_ok || tell_compatibility
  stage_summary
  python3 tools/dev/tally.py "$results" "$(failed_stages)"
}

# In CI it is shown; elsewhere it is the page of the documents.
tell_compatibility() {
  local page=docs/compatibility.md
  in_ci && page=build/interop/compatibility.md
  python3 tools/dev/compatibility.py "$results/ci/interop" > "$page"
  say "$page:"
  cat "$page"
}

# ./dev soak [--minutes N]: the mixed stress on each server, for so long.
verb_soak() {
  local minutes=10
  if (($# > 0)); then
    [[ $1 == --minutes && ${2:-} =~ ^[1-9][0-9]*$ ]] || die "usage: ./dev soak [--minutes N]"
    minutes=$2
  fi
  prepare_interop
  HOLDFAST_STRESS_SECONDS=$((minutes * 60)) \
    build/ci/tests/interop/interop_test --gtest_filter='*MixedStress*'
}

prepare_interop() {
  need build server interop
  fetch_servers
  export_servers
  HOLDFAST_REDISSON=
  local sums version
  for sums in "$peers_source"/checksums/*.sha256; do
    version=$(basename "$sums" .sha256)
    if ! peer_is_built "$version"; then
      stage "Building the peer on Redisson $version" build_peer "$version"
    fi
    HOLDFAST_REDISSON+="$version=$PWD/$peers_folder/$version;"
  done
  export HOLDFAST_REDISSON
  stage "Building (ci)" build ci --target interop
}

peer_is_built() {
  local built=$peers_folder/$1/built
  [[ -e $built && -z $(find "$peers_source"/{pom.xml,src,"checksums/$1.sha256"} -newer "$built") ]]
}

# Maven checks what it fetches against the registry's own checksums (-C). What a JVM will run is
# checked against ours too, every file of it, before anything runs it.
build_peer() {
  local out=$PWD/$peers_folder/$1
  rm -rf "$out"
  mvn -B -q -C -Dstyle.color=never -f "$peers_source/pom.xml" -Dredisson.version="$1" -Dout="$out" \
    compiler:compile dependency:copy-dependencies
  (cd "$out/lib" && LC_ALL=C sha256sum -- *.jar) |
    diff "$peers_source/checksums/$1.sha256" - ||
    die "the jars of Redisson $1 (>) are not those of $peers_source/checksums/$1.sha256 (<)"
  touch "$out/built"
}
