# Other programs' locks for ./dev interop and ./dev bench: redis-py, redsync and node-redlock, and
# at ZooKeeper Curator and kazoo, each with a small peer in tests/interop/others/, fetched from its
# registry by version and checksum and built into build/interop/others/<its folder>. Tools that
# this machine has serve as they are; what it lacks is installed as tools/packages.txt says.
# shellcheck shell=bash

neighbours_source=tests/interop/others
neighbours_folder=build/interop/others

# Tells the tests which are there. One that is not skips its tests, or fails them in CI.
prepare_neighbours() {
  HOLDFAST_NEIGHBOURS=
  prepare_neighbour python /usr/bin/python3 redis-py
  prepare_neighbour go go redsync
  prepare_neighbour node npm node-redlock
  prepare_neighbour curator mvn curator
  prepare_neighbour python /usr/bin/python3 kazoo
  export HOLDFAST_NEIGHBOURS
}

# prepare_neighbour <folder and group of packages> <tool> <name, and that of its program there>
prepare_neighbour() {
  local what=$1 tool=$2 name=$3
  if ! neighbour_is_built "$what"; then
    if ! command -v "$tool" > /dev/null || ! has_venv "$what"; then
      attempt_unless_ci "Installing what $name needs" need "$what"
    fi
    attempt_unless_ci "Building the peer of $name" build_neighbour "$what"
  fi
  if neighbour_is_built "$what"; then
    HOLDFAST_NEIGHBOURS+="$name=$PWD/$neighbours_folder/$what/$name;"
  else
    warn "no $name, so what meets it will be skipped"
  fi
}

attempt_unless_ci() {
  if in_ci; then stage "$@"; else attempt "$@"; fi
}

# Debian's Python comes without what makes a place of its own.
has_venv() {
  [[ $1 != python ]] || /usr/bin/python3 -c 'import ensurepip' 2> /dev/null
}

neighbour_is_built() {
  local built=$neighbours_folder/$1/built
  local sources=("$neighbours_source/$1")
  [[ $1 != curator ]] || sources+=("$peers_shared")
  [[ -e $built && -z $(find "${sources[@]}" -newer "$built") ]]
}

# Leaves its programs in its folder, and last of all `built`.
build_neighbour() {
  local what=$1 from=$PWD/$neighbours_source/$1 out=$PWD/$neighbours_folder/$1
  rm -rf "$out"
  mkdir -p "$out"
  "build_$what" "$from" "$out"
  touch "$out/built"
}

build_python() {
  local from=$1 out=$2
  /usr/bin/python3 -m venv "$out/place"
  "$out/place/bin/pip" -q --disable-pip-version-check install --require-hashes --only-binary :all: \
    -r "$from/requirements.txt"
  program "$out/redis-py" "$out/place/bin/python3" -B "$from/peer.py"
  program "$out/kazoo" "$out/place/bin/python3" -B "$from/kazoo_peer.py"
}

# go.sum has the checksum of each module; -mod=readonly: nothing that it does not name is fetched.
build_go() {
  local from=$1 out=$2
  (cd "$from" && go build -mod=readonly -trimpath -o "$out/redsync" .)
}

# package-lock.json has the checksum of each package. None of them runs anything when installed.
build_node() {
  local from=$1 out=$2
  cp "$from"/{package.json,package-lock.json,peer.js,bench.js} "$out"
  npm ci --prefix "$out" --ignore-scripts --no-audit --no-fund --loglevel=error
  program "$out/node-redlock" node "$out/peer.js"
}

# As build_peer does for Redisson. Small and quick to start, as are the JVMs with Redisson.
build_curator() {
  local from=$1 out=$2
  mvn -B -q -C -Dstyle.color=never -f "$from/pom.xml" -Dout="$out" \
    compiler:compile dependency:copy-dependencies
  (cd "$out/lib" && LC_ALL=C sha256sum -- *.jar) | diff "$from/checksums.sha256" - ||
    die "the jars of Curator (>) are not those of $from/checksums.sha256 (<)"
  program "$out/curator" java -XX:+UseSerialGC -Xmx256m -XX:-UsePerfData \
    -cp "$out/classes:$out/lib/*" holdfast.interop.Peer
}

# program <file> <command>...
program() {
  local file=$1
  shift
  printf '#!/bin/sh\nexec%s "$@"\n' "$(printf ' "%s"' "$@")" > "$file"
  chmod +x "$file"
}
