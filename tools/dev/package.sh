# ./dev package: builds the Debian packages of this checkout into build/package, checks them with
# lintian, and tries them in a clean root folder that has only their dependencies.
# shellcheck shell=bash

package_folder=build/package

verb_package() {
  need build package
  stage "Building the packages" build_packages
  attempt "lintian" lint_packages
  attempt "The links of the documents" follow_links
  if ((EUID == 0)); then
    attempt "Trying them in a clean root folder" try_packages
  else
    warn "not root, so the packages are not tried in a clean root folder"
  fi
  stage_summary
  ls "$package_folder"/*.deb
  (($(failed_stages) == 0))
}

# Works in a copy, because Debian expects the recipe in a folder debian/ at the top, and writes
# there.
build_packages() {
  rm -rf "$package_folder"
  mkdir -p "$package_folder/holdfast"
  git ls-files -z -c -o --exclude-standard | tar -c --null -T - |
    tar -x -C "$package_folder/holdfast"
  cp -a packaging/debian "$package_folder/holdfast/"
  write_changelog > "$package_folder/holdfast/debian/changelog"
  (cd "$package_folder/holdfast" && CCACHE_DIR=$(ccache -k cache_dir) CCACHE_BASEDIR=$PWD \
    DEB_BUILD_OPTIONS="parallel=$(nproc) noautodbgsym" dpkg-buildpackage -b -us -uc)
}

# Changes are listed in CHANGELOG.md, which is in the package. Debian only needs a version and a
# date.
write_changelog() {
  local version maintainer
  version=$(sed -nE 's/^project\(holdfast VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
  maintainer=$(sed -n 's/^Maintainer: //p' packaging/debian/control)
  printf 'holdfast (%s-1) unstable; urgency=medium\n\n  * Version %s.\n\n -- %s  %s\n' \
    "$version" "$version" "$maintainer" "$(git log -1 --format=%aD)"
}

# lintian must be told that it runs as root on purpose.
lint_packages() {
  lintian --allow-root --tag-display-limit 0 --fail-on error,warning \
    --suppress-tags-from-file packaging/debian/lintian "$package_folder"/*.changes
}

# Debian has its own places for documents, and compresses some of them.
follow_links() (
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  dpkg-deb -x "$package_folder"/libholdfast-dev_*.deb "$work"
  /usr/bin/python3 -B tests/docs/links.py "$work/usr/share/doc/libholdfast-dev"
)

try_packages() (
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  make_clean_root
  cp -a --reflink=auto "$clean_root" "$work/root"
  mkdir "$work/root/trial"
  cp "$package_folder"/*.deb "$work/root/trial"
  cp -r tests/package/consumer tests/package/clean_root.sh "$work/root/trial"
  # In separate namespaces, so that mounts and processes end with the command.
  unshare --mount --pid --fork --mount-proc="$work/root/proc" \
    chroot "$work/root" bash /trial/clean_root.sh
)

# Makes the smallest Debian or Ubuntu of this machine's release, from the machine's package sources.
# It is made once, in a temporary folder that is then renamed, so that an interrupted run leaves
# nothing half done.
make_clean_root() {
  local release mirror
  release=$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")
  clean_root=${HOLDFAST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/holdfast}/roots/$release
  if [[ -d $clean_root ]]; then
    return
  fi
  mirror=$(machine_mirror "$release")
  mkdir -p "$(dirname "$clean_root")"
  rm -rf "$clean_root.made"
  debootstrap --variant=minbase "$release" "$clean_root.made" "$mirror" > "$clean_root.log" ||
    die "debootstrap could not make a clean root folder; $clean_root.log says why"
  rm -rf "$clean_root.made/etc/apt"
  cp -a /etc/apt "$clean_root.made/etc/apt"
  # Debian starts a service when it is installed, but here nothing can be started.
  printf '#!/bin/sh\nexit 101\n' > "$clean_root.made/usr/sbin/policy-rc.d"
  chmod +x "$clean_root.made/usr/sbin/policy-rc.d"
  mv -T "$clean_root.made" "$clean_root"
}
