# ./dev package: the Debian packages of this checkout, looked at by lintian and tried in a clean
# root folder, where nothing is but what they ask for. They are left in build/package.
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

# In a copy, since Debian wants its recipe in a folder debian/ at the top, and writes there.
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

# What has changed is in CHANGELOG.md, which goes along; here Debian wants a version and a date.
write_changelog() {
  local version maintainer
  version=$(sed -nE 's/^project\(holdfast VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
  maintainer=$(sed -n 's/^Maintainer: //p' packaging/debian/control)
  printf 'holdfast (%s-1) unstable; urgency=medium\n\n  * Version %s.\n\n -- %s  %s\n' \
    "$version" "$version" "$maintainer" "$(git log -1 --format=%aD)"
}

# For root, lintian wants to be told that root is meant.
lint_packages() {
  lintian --allow-root --tag-display-limit 0 --fail-on error,warning \
    --suppress-tags-from-file packaging/debian/lintian "$package_folder"/*.changes
}

# Debian has its own ideas of where documents lie, and compresses some.
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
  # In namespaces of its own: what is mounted or started there is gone when it ends.
  unshare --mount --pid --fork --mount-proc="$work/root/proc" \
    chroot "$work/root" bash /trial/clean_root.sh
)

# The smallest Debian or Ubuntu of this machine's release, from the sources that the machine uses.
# It is made once, beside its place and moved there: a broken run leaves nothing half done.
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
  # Debian starts a service as soon as it is installed; there is nothing to start it here.
  printf '#!/bin/sh\nexit 101\n' > "$clean_root.made/usr/sbin/policy-rc.d"
  chmod +x "$clean_root.made/usr/sbin/policy-rc.d"
  mv -T "$clean_root.made" "$clean_root"
}
