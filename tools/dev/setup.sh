# ./dev setup: installs the packages of tools/packages.txt, and servers that Debian 12 does not
# have. If nothing is missing, this takes a fraction of a second. --all also fetches what only CI
# uses.
# shellcheck shell=bash

verb_setup() {
  if (($# > 0)); then
    [[ $* == --all ]] || die "usage: ./dev setup [--all]"
    fetches_all=1
  fi
  need build server stores check
  fetch_servers
  fetch_stores
  say "Everything is there. Next: ./dev demo, or ./dev test"
}

# need <group>...: makes sure that the packages of these groups are installed.
need() {
  if ! command -v dpkg-query apt-get > /dev/null; then
    warn "this is no Debian or Ubuntu: install what tools/packages.txt names by hand"
    return
  fi
  local missing=()
  mapfile -t missing < <(missing_packages "$@")
  if ((${#missing[@]} > 0)); then
    stage "Installing ${missing[*]%% *}" install_packages "${missing[@]}"
  fi
}

# Prints one line per entry of these groups, with its alternatives separated by spaces.
wanted_packages() {
  local group
  for group in "$@"; do
    sed -nE "s/^$group +([^#]*[^# ]) *#.*/\1/p" tools/packages.txt | tr -d '|'
  done
}

missing_packages() {
  local alternatives package installed
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p')
  while read -r -a alternatives; do
    # An alternative is used only if the first choice is not available: Debian 12 has an old Boost.
    package=${alternatives[0]}
    if ! grep -qxF "$package" <<< "$installed"; then
      package=$(first_available "${alternatives[@]}")
    fi
    if [[ -z $package ]] || ! grep -qxF "$package" <<< "$installed"; then
      printf '%s\n' "${alternatives[*]}"
    fi
  done < <(wanted_packages "$@")
}

# install_packages "<package> <alternative>..."...
install_packages() {
  local alternatives package chosen=()
  as_root apt-get -qq update || warn "apt-get update failed; the package lists stay as they are"
  for alternatives in "$@"; do
    # shellcheck disable=SC2086 # several words
    package=$(first_available $alternatives)
    [[ -n $package ]] || die "no package source of this machine has ${alternatives// / or }," \
      "needed for: $(sed -nE "s/^[a-z]+ +${alternatives%% *} .*# *//p" tools/packages.txt)." \
      "Is this Debian 12, 13 or Ubuntu 24.04, with its main (Ubuntu: universe) sources on?"
    chosen+=("$package")
  done
  # --no-remove: never remove packages from the user's machine.
  without_starting_services \
    as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-remove --no-install-recommends "${chosen[@]}" ||
    die "apt-get could not install the packages above; its own words say which and why." \
      "Try 'apt-get install ${chosen[*]}' by hand, then ./dev again."
}

first_available() {
  local package
  for package in "$@"; do
    if [[ $(LC_ALL=C apt-cache policy "$package") == *"Candidate: "[0-9]* ]]; then
      printf '%s\n' "$package"
      return
    fi
  done
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  elif command -v sudo > /dev/null; then
    sudo "$@"
  else
    die "installing packages takes root, and there is no sudo here. As root, run: ./dev setup"
  fi
}

# Debian starts a service when its package is installed, now and at each boot. The tests start their
# own servers. So this disables a service that the set-up has installed, and leaves a service alone
# that was there before.
services_to_keep_still="redis-server mariadb zookeeper"

without_starting_services() {
  local policy=/usr/sbin/policy-rc.d status=0 service new=()
  for service in $services_to_keep_still; do
    is_a_service "$service" || new+=("$service")
  done
  if ((${#new[@]} == 0)) || [[ -e $policy ]]; then
    "$@"
    return
  fi
  printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" > /dev/null
  as_root chmod +x "$policy"
  "$@" || status=$?
  as_root rm -f "$policy"
  for service in "${new[@]}"; do
    if [[ -d /run/systemd/system ]] && is_a_service "$service"; then
      as_root systemctl --quiet disable "$service" || true
    fi
  done
  return "$status"
}

is_a_service() {
  [[ -e /lib/systemd/system/$1.service || -e /etc/init.d/$1 ]]
}
