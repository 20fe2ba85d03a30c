# ./dev demo: the shipped program, on a private server that it starts for itself.
# shellcheck shell=bash

explain_demo() {
  cat <<'END'
usage: ./dev demo [--url URL]

Builds the program and starts 'holdfast demo': four processes that change one file, without and with
a lock, and a process that waits for a lock whose holder is killed. It starts a server of its own,
unless --url names another one.
END
}

verb_demo() {
  if [[ " $* " == *" -h "* || " $* " == *" --help "* ]]; then
    explain_demo # which needs no build
    return
  fi
  need build server
  stage "Building (release)" build release --target holdfast_cli
  env -u HOLDFAST_URL build/release/cli/holdfast demo "$@"
}
