# Locks of other programs for ./dev interop and ./dev bench: redis-py, redsync and node-redlock, and
# on ZooKeeper Curator and kazoo. Each has a small peer in tests/interop/others/. It is fetched from
# its registry by version and checksum and built into build/interop/others/<its folder>. Installed
# tools are used; missing tools are installed as tools/packages.txt says.
# shellcheck shell=bash

neighbours_source=tests/interop/others
neighbours_folder=build/interop/others

# Tells the tests which programs are available. The tests of a missing program are skipped, or fail
# in CI.
prepare_neighbours() {
  HOLDFAST_NEIGHBOURS=
  prepare_neighbour python /usr/bin/python3 redis-py
  prepare_neighbour go go redsync
  prepare_neighbour node npm node-redlock
  prepare_neighbour curator mvn curator
  prepare_neighbour python /usr/bin/python3 kazoo
  export HOLDFAST_NEIGHBOURS
}

# prepare_neighbour <folder and group of packages> <tool> <name of the tool's program>
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

# Debian's Python comes without the module that makes virtual environments.
has_venv() {
  [[ $1 != python ]] || /usr/bin/python3 -c 'import ensurepip' 2> /dev/null
}

neighbour_is_built() {
  local built=$neighbours_folder/$1/built
  local sources=("$neighbours_source/$1")
  [[ $1 != curator ]] || sources+=("$peers_shared")
  [[ -e $built && -z $(find "${sources[@]}" -newer "$built") ]]
}

# Puts the programs into its folder, and the file `built` last.
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

# go.sum has the checksum of each module. With -mod=readonly, only modules that it names are
# fetched.
build_go() {
  local from=$1 out=$2
  (cd "$from" && go build -mod=readonly -trimpath -o "$out/redsync" .)
}

# package-lock.json has the checksum of each package. No package runs scripts when it is installed.
build_node() {
  local from=$1 out=$2
  cp "$from"/{package.json,package-lock.json,peer.js,bench.js} "$out"
  npm ci --prefix "$out" --ignore-scripts --no-audit --no-fund --loglevel=error
  program "$out/node-redlock" node "$out/peer.js"
}

# Like build_peer for Redisson. These JVMs also use little memory and start quickly.
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
