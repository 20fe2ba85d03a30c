# ./dev demo: runs the program on a private server that it starts itself. The program is built
# without optimisation and without MySQL, which takes half of the time.
# shellcheck shell=bash

explain_demo() {
  cat <<'END'
usage: ./dev demo [--url URL]

Builds the program and starts 'holdfast demo': four processes that change one file, without and with
a lock, and a process that waits for a lock whose holder is killed. It starts a server of its own,
unless --url names another one: of Redis or ZooKeeper, since this program is built without MySQL.
END
}

verb_demo() {
  if [[ " $* " == *" -h "* || " $* " == *" --help "* ]]; then
    explain_demo # needs no build
    return
  fi
  need build server
  stage "Building (demo)" build demo --target holdfast_cli
  env -u HOLDFAST_URL build/demo/cli/holdfast demo "$@"
}
