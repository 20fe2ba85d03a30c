# Servers of MySQL, MariaDB and ZooKeeper for the tests. MariaDB and one ZooKeeper come from the
# distribution. CI and ./dev setup --all fetch the others; elsewhere the few tests that need them
# are left out.
# shellcheck shell=bash

# <name>:<package>:<release of Debian>:<program>
newer_mysql=(mysql-9:mysql-server-core:sid:mysqld)
zookeeper_source=tests/support/zookeeper
fetches_all=

fetch_stores() {
  in_ci || [[ -n $fetches_all ]] || return 0
  need galera interop # for Maven, which fetches them
  fetch_each "${newer_mysql[@]}"
  local sums version
  for sums in "$zookeeper_source"/*.sha256; do
    version=$(basename "$sums" .sha256)
    if ! diff -q "$sums" "$(zookeeper_folder "$version")/sums" > /dev/null 2>&1; then
      stage "Fetching ZooKeeper $version" fetch_zookeeper "$version"
    fi
  done
}

export_stores() {
  local sums version
  HOLDFAST_MARIADB_SERVER=$(command -v mariadbd) || HOLDFAST_MARIADB_SERVER=/usr/sbin/mariadbd
  HOLDFAST_NEWER_MYSQL=$(those_there "${newer_mysql[@]}")
  HOLDFAST_NEWER_ZOOKEEPERS=
  for sums in "$zookeeper_source"/*.sha256; do
    version=$(basename "$sums" .sha256)
    if [[ -e $(zookeeper_folder "$version")/sums ]]; then
      HOLDFAST_NEWER_ZOOKEEPERS+="${HOLDFAST_NEWER_ZOOKEEPERS:+;}zookeeper-$version="
      HOLDFAST_NEWER_ZOOKEEPERS+=$(printf '%s\n' "$(zookeeper_folder "$version")"/lib/*.jar |
        paste -sd:)
    fi
  done
  export HOLDFAST_MARIADB_SERVER HOLDFAST_NEWER_MYSQL HOLDFAST_NEWER_ZOOKEEPERS
}

zookeeper_folder() { printf '%s' "$servers_folder/zookeeper-$1"; }

# As for the peers in JVMs (interop.sh), Maven checks its downloads against the registry's
# checksums. Every file is also checked against our checksums before anything runs it.
fetch_zookeeper() (
  version=$1 sums=$PWD/$zookeeper_source/$1.sha256
  mkdir -p "$servers_folder"
  work=$(mktemp -d "$servers_folder/.zookeeper.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  mvn -B -q -C -Dstyle.color=never -f "$zookeeper_source/pom.xml" -Dzookeeper.version="$version" \
    -Dout="$work" dependency:copy-dependencies
  (cd "$work/lib" && LC_ALL=C sha256sum -- *.jar) | diff "$sums" - ||
    die "the jars of ZooKeeper $version (>) are not those of $sums (<)"
  cp "$sums" "$work/sums"
  rm -rf "$(zookeeper_folder "$version")"
  mv -T "$work" "$(zookeeper_folder "$version")"
)
