# The servers that tests run against. Debian 12 has redis-server 7.0; Valkey 8 is in its backports
# and is unpacked into a folder of ours, so that the machine's package sources stay as they are.
# shellcheck shell=bash

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
  if in_ci; then
    export HOLDFAST_REQUIRE_SERVERS=1
  fi
}

# "7.0" of "Redis server v=7.0.15 sha=…".
server_version() { { "$1" --version || true; } | sed -nE 's/.* v=([0-9]+\.[0-9]+).*/\1/p'; }

fetch_servers() {
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

# fetch_server <name> <package>: leaves <servers_folder>/<name>/bin/<package>, ready to run.
# It is made beside and moved into place: a broken or concurrent run leaves nothing half done.
fetch_server() (
  name=$1 package=$2
  work=$(mktemp -d "$servers_folder/.$name.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  private_apt_options "$work"
  apt-get "${apt_options[@]}" -qq update
  # What installing it here would bring: the server, its tools, and libraries this machine lacks.
  mapfile -t packages < <(
    apt-get "${apt_options[@]}" -s --no-install-recommends install "$package" |
      sed -nE 's/^Inst ([^ ]+) .*/\1/p'
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

# An apt of our own: its lists, its choice of sources; the machine's mirror and installed packages.
private_apt_options() {
  local work=$1 release mirror suite
  release=$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")
  apt_options=(-o "Dir::State=$work/state" -o Dir::State::status=/var/lib/dpkg/status
    -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=root -o Acquire::Languages=none)
  mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial"
  if [[ $release != bookworm ]]; then
    return # newer releases have it in the sources that the machine uses anyway
  fi
  mirror=$(machine_mirror "$release")
  if [[ -z $mirror ]]; then # as in a fresh container, which has no package lists
    as_root apt-get -qq update
    mirror=$(machine_mirror "$release")
  fi
  for suite in "$release" "$release-backports"; do
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
make_runnable() {
  local root=$1 server=$2 libraries
  mkdir -p "$root/bin"
  if ! ldd "$root/usr/bin/$server" | grep -q 'not found'; then
    ln -s "../usr/bin/$server" "$root/bin/$server"
    return
  fi
  libraries=$(find "$root" -name '*.so*' -printf "\$root/%P\n" | xargs -d '\n' dirname | sort -u |
    paste -sd:)
  cat > "$root/bin/$server" << END
#!/bin/sh
root=\$(dirname "\$(dirname "\$(readlink -f "\$0")")")
LD_LIBRARY_PATH=$libraries exec "\$root/usr/bin/$server" "\$@"
END
  chmod +x "$root/bin/$server"
}
