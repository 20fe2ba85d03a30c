# ./dev demo: the shipped program, on a private server that it starts for itself.
# shellcheck shell=bash

verb_demo() {
  need build server
  stage "Building (release)" build release --target holdfast_cli
  env -u HOLDFAST_URL build/release/cli/holdfast demo "$@"
}
