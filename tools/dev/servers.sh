# Servers for the tests. Debian 12 has redis-server 7.0. Valkey 8 is in its backports and is
# unpacked into our own folder, so that the machine's package sources do not change.
# shellcheck shell=bash

# <name>:<package>:<release of Debian>:<program>
newer_servers=(redis-8:redis-server:trixie:redis-server valkey-9:valkey-server:forky:valkey-server)
servers_folder=${HOLDFAST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/holdfast}/servers

# Tells the tests which servers to run on. A missing server is listed too: its tests are then
# skipped with that reason, or fail in CI.
export_servers() {
  local redis
  redis=$(command -v redis-server) || redis=/usr/bin/redis-server
  HOLDFAST_REDIS_SERVER=$redis # for tests that need only one
  HOLDFAST_SERVERS="redis-$(server_version "$redis")=$redis"
  HOLDFAST_SERVERS+=";valkey-8=$servers_folder/valkey-8/bin/valkey-server"
  export HOLDFAST_REDIS_SERVER HOLDFAST_SERVERS
  export_newer_servers
  export_stores
  if in_ci; then
    export HOLDFAST_REQUIRE_SERVERS=1
  fi
}

# Lists only the available servers, because nobody needs to have all of them.
export_newer_servers() {
  HOLDFAST_NEWER_SERVERS=$(those_there "${newer_servers[@]}")
  export HOLDFAST_NEWER_SERVERS
}

# Prints these entries as "<name>=<program>;…".
those_there() {
  local entry name program all=
  for entry in "$@"; do
    IFS=: read -r name _ _ program <<< "$entry"
    if [[ -x $servers_folder/$name/bin/$program ]]; then
      all+="${all:+;}$name=$servers_folder/$name/bin/$program"
    fi
  done
  printf '%s' "$all"
}

# Prints "7.0" for "Redis server v=7.0.15 sha=…".
server_version() { { "$1" --version || true; } | sed -nE 's/.* v=([0-9]+\.[0-9]+).*/\1/p'; }

fetch_servers() {
  fetch_valkey_8
  fetch_each "${newer_servers[@]}"
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

fetch_each() {
  local entry name package release program
  for entry in "$@"; do
    IFS=: read -r name package release program <<< "$entry"
    if [[ ! -x $servers_folder/$name/bin/$program ]]; then
      fetch_if_it_can_be_had "$name" fetch_server "$name" "$package" "$release" "$program"
    fi
  done
}

# fetch_if_it_can_be_had <name> <command>...: runs the command to fetch a server. A failure is
# printed, in CI too, and the command is tried again after a week.
fetch_if_it_can_be_had() {
  local name=$1 failed=$servers_folder/.no-$1 status
  shift
  [[ -z $(find "$failed" -mtime -7 2> /dev/null) ]] || return 0
  say "Fetching $name"
  mkdir -p "$servers_folder"
  # Not `if "$@"`, because `set -e` has no effect inside such a command.
  set +e
  (
    set -e
    "$@"
  ) > "$servers_folder/.$name.log" 2>&1
  status=$?
  set -e
  if ((status == 0)); then
    rm -f "$failed"
  else
    touch "$failed"
    warn "no $name, so a few tests are left out; why: $servers_folder/.$name.log"
  fi
}

# fetch_server <name> <package> [<release> [<program>]]: makes
# <servers_folder>/<name>/bin/<program>, ready to run. The folder is made under another name and
# then renamed, so that an interrupted or concurrent run leaves nothing half done.
fetch_server() (
  name=$1 package=$2 release=${3:-} program=${4:-$2}
  work=$(mktemp -d "$servers_folder/.$name.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  private_apt_options "$work" "$release"
  apt-get "${apt_options[@]}" -qq update
  # Fetches what an installation on this machine would add: the server, its tools, and missing
  # libraries. For another release, fetches what an installation on an empty machine would add.
  mapfile -t packages < <(
    apt-get "${apt_options[@]}" -s --no-install-recommends install "$package" |
      sed -nE 's/^Inst ([^ ]+) .*/\1/p' | grep -E "${release:+^(redis|valkey|mysql|lib|zlib)}" |
      grep -v ^libperl # only for scripts of the package
  )
  ((${#packages[@]} > 0)) || packages=("$package")
  mkdir -p "$work/debs" "$work/made"
  (cd "$work/debs" && apt-get "${apt_options[@]}" -qq download "${packages[@]}")
  for deb in "$work"/debs/*.deb; do
    dpkg -x "$deb" "$work/made"
  done
  make_runnable "$work/made" "$program"
  "$work/made/bin/$program" --version
  rm -rf "${servers_folder:?}/$name"
  mv -T "$work/made" "$servers_folder/$name"
)

# private_apt_options <folder> [<other release>]: options for a separate apt with its own lists and
# sources. It uses the machine's mirror and knows the installed packages. For another release, it
# uses neither.
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
    return # in newer releases, the machine's own sources have the package
  fi
  mirror=$(machine_mirror "$release")
  if [[ -z $mirror ]]; then # a fresh container has no package lists
    as_root apt-get -qq update
    mirror=$(machine_mirror "$release")
  fi
  for suite in "${suites[@]}"; do
    printf 'deb %s %s main\n' "$mirror" "$suite"
  done > "$work/sources.list"
  apt_options+=(-o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=-)
}

# Asks apt, because the sources folder also has files that apt does not read.
machine_mirror() {
  # shellcheck disable=SC2016 # $(REPO_URI) is apt's to expand
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $1" | head -n 1
}

# Makes bin/<server>. This is a link if the machine has all libraries of the server, else a script
# that names our copies. A server with its own libc also needs the loader of that libc. The loader
# must be told the server's name, because a server may be one of several programs in one file, and
# may look for files in its own folder.
make_runnable() {
  local root=$1 server=$2 place libraries loader start=
  place=usr/bin/$server
  [[ -x $root/$place ]] || place=usr/sbin/$server
  mkdir -p "$root/bin"
  if ! ldd "$root/$place" 2>&1 | grep -q 'not found'; then
    ln -s "../$place" "$root/bin/$server"
    return
  fi
  libraries=$(find "$root" -name '*.so*' -printf "\$root/%P\n" | xargs -d '\n' dirname | sort -u |
    paste -sd:)
  loader=$(find "$root" -name 'ld-linux*.so.*' -printf "\$root/%P\n" | head -n 1)
  if [[ -n $loader ]]; then
    start="\"$loader\" --library-path \"$libraries\" --argv0 \"\$root/$place\""
    libraries=
  fi
  cat > "$root/bin/$server" << END
#!/bin/sh
root=\$(dirname "\$(dirname "\$(readlink -f "\$0")")")
${libraries:+LD_LIBRARY_PATH=$libraries }exec $start "\$root/$place" "\$@"
END
  chmod +x "$root/bin/$server"
}
