# The servers that tests run against. Debian 12 has redis-server 7.0; Valkey 8 is in its backports
# and is unpacked into a folder of ours, so that the machine's package sources stay as they are.
# shellcheck shell=bash

# <name>:<package>:<release of Debian>
newer_servers=(redis-8:redis-server:trixie valkey-9:valkey-server:forky)
servers_folder=${HOLDFAST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/holdfast}/servers

# Tells the tests which servers to run on. One that is not there is named too: its tests are then
# skipped with that reason, or fail in CI.
export_servers() {
  local redis
  redis=$(command -v redis-server) || redis=/usr/bin/redis-server
  HOLDFAST_REDIS_SERVER=$redis # for who needs just one
  HOLDFAST_SERVERS="redis-$(server_version "$redis")=$redis"
  HOLDFAST_SERVERS+=";valkey-8=$servers_folder/valkey-8/bin/valkey-server"
  export HOLDFAST_REDIS_SERVER HOLDFAST_SERVERS
  export_newer_servers
  if in_ci; then
    export HOLDFAST_REQUIRE_SERVERS=1
  fi
}

# Only those that are there: nobody has to have them.
export_newer_servers() {
  local entry name package
  HOLDFAST_NEWER_SERVERS=
  for entry in "${newer_servers[@]}"; do
    IFS=: read -r name package _ <<< "$entry"
    if [[ -x $servers_folder/$name/bin/$package ]]; then
      HOLDFAST_NEWER_SERVERS+="${HOLDFAST_NEWER_SERVERS:+;}$name=$servers_folder/$name/bin/$package"
    fi
  done
  export HOLDFAST_NEWER_SERVERS
}

# "7.0" of "Redis server v=7.0.15 sha=…".
server_version() { { "$1" --version || true; } | sed -nE 's/.* v=([0-9]+\.[0-9]+).*/\1/p'; }

fetch_servers() {
  fetch_valkey_8
  fetch_newer_servers
}

fetch_valkey_8() {
  if [[ -x $servers_folder/valkey-8/bin/valkey-server ]]; then
    return
  fi
  mkdir -p "$servers_folder"
  if in_ci; then
    stage "Fetching valkey-server 8" fetch_server valkey-8 valkey-server
  else
    attempt "Fetching valkey-server 8" fetch_server valkey-8 valkey-server
    last_stage_ok ||
      warn "no valkey-server 8, so its tests will be skipped. Is bookworm-backports reachable?"
  fi
}

# One that cannot be had is told, in CI too. Once a week it is tried again.
fetch_newer_servers() {
  local entry name package release failed recently status
  for entry in "${newer_servers[@]}"; do
    IFS=: read -r name package release <<< "$entry"
    failed=$servers_folder/.no-$name
    recently=$(find "$failed" -mtime -7 2> /dev/null) || true
    if [[ -x $servers_folder/$name/bin/$package || -n $recently ]]; then
      continue
    fi
    say "Fetching $name"
    mkdir -p "$servers_folder"
    # Not `if fetch_server`: `set -e` would then not act inside it.
    set +e
    (
      set -e
      fetch_server "$name" "$package" "$release"
    ) > "$servers_folder/.$name.log" 2>&1
    status=$?
    set -e
    if ((status == 0)); then
      rm -f "$failed"
    else
      touch "$failed"
      warn "no $name, so a few tests are left out; why: $servers_folder/.$name.log"
    fi
  done
}

# fetch_server <name> <package> [<release>]: leaves <servers_folder>/<name>/bin/<package>, ready to
# run.
# It is made beside and moved into place: a broken or concurrent run leaves nothing half done.
fetch_server() (
  name=$1 package=$2 release=${3:-}
  work=$(mktemp -d "$servers_folder/.$name.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  private_apt_options "$work" "$release"
  apt-get "${apt_options[@]}" -qq update
  # What installing it here would bring: the server, its tools, and libraries this machine lacks; of
  # another release, what it would bring to a machine with nothing.
  mapfile -t packages < <(
    apt-get "${apt_options[@]}" -s --no-install-recommends install "$package" |
      sed -nE 's/^Inst ([^ ]+) .*/\1/p' | grep -E "${release:+^(redis|valkey|lib|zlib)}"
  )
  ((${#packages[@]} > 0)) || packages=("$package")
  mkdir -p "$work/debs" "$work/made"
  (cd "$work/debs" && apt-get "${apt_options[@]}" -qq download "${packages[@]}")
  for deb in "$work"/debs/*.deb; do
    dpkg -x "$deb" "$work/made"
  done
  make_runnable "$work/made" "$package"
  "$work/made/bin/$package" --version
  rm -rf "${servers_folder:?}/$name"
  mv -T "$work/made" "$servers_folder/$name"
)

# private_apt_options <folder> [<other release>]
# An apt of our own: its lists, its choice of sources; the machine's mirror and installed packages,
# or, for another release, none of these.
private_apt_options() {
  local work=$1 other=$2 release mirror suite suites
  release=$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")
  suites=("$release" "$release-backports")
  apt_options=(-o "Dir::State=$work/state" -o Dir::State::status=/var/lib/dpkg/status
    -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=root -o Acquire::Languages=none)
  mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial"
  if [[ -n $other ]]; then
    [[ $(. /etc/os-release && printf '%s' "$ID") == debian ]] || die "this is not Debian"
    touch "$work/state/none"
    apt_options+=(-o "Dir::State::status=$work/state/none")
    suites=("$other")
  elif [[ $release != bookworm ]]; then
    return # newer releases have it in the sources that the machine uses anyway
  fi
  mirror=$(machine_mirror "$release")
  if [[ -z $mirror ]]; then # as in a fresh container, which has no package lists
    as_root apt-get -qq update
    mirror=$(machine_mirror "$release")
  fi
  for suite in "${suites[@]}"; do
    printf 'deb %s %s main\n' "$mirror" "$suite"
  done > "$work/sources.list"
  apt_options+=(-o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=-)
}

# Asked of apt, because the sources folder also holds files that apt does not read.
machine_mirror() {
  # shellcheck disable=SC2016 # $(REPO_URI) is apt's to expand
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $1" | head -n 1
}

# bin/<server> is a link where this machine has all its libraries, else a script that names ours.
# With a libc of its own it also needs that one's loader, which must be told by which name it is
# called: the server is one of several programs in one file.
make_runnable() {
  local root=$1 server=$2 libraries loader start=
  mkdir -p "$root/bin"
  if ! ldd "$root/usr/bin/$server" | grep -q 'not found'; then
    ln -s "../usr/bin/$server" "$root/bin/$server"
    return
  fi
  libraries=$(find "$root" -name '*.so*' -printf "\$root/%P\n" | xargs -d '\n' dirname | sort -u |
    paste -sd:)
  loader=$(find "$root" -name 'ld-linux*.so.*' -printf "\$root/%P\n" | head -n 1)
  if [[ -n $loader ]]; then
    start="\"$loader\" --library-path \"$libraries\" --argv0 $server"
    libraries=
  fi
  cat > "$root/bin/$server" << END
#!/bin/sh
root=\$(dirname "\$(dirname "\$(readlink -f "\$0")")")
${libraries:+LD_LIBRARY_PATH=$libraries }exec $start "\$root/usr/bin/$server" "\$@"
END
  chmod +x "$root/bin/$server"
}
