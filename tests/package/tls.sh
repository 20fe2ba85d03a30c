#!/usr/bin/env bash
# tls.sh <prefix> <folder of libraries>: the installed program finds the module that does TLS, and
# has nothing of OpenSSL before that.
set -euo pipefail

program=$1/bin/holdfast
export LD_LIBRARY_PATH=$2
if ldd "$program" | grep libssl; then
  printf '%s links OpenSSL, which is to be loaded when a URL wants it\n' "$program"
  exit 1
fi
# Nobody listens on port 1. It gets that far only with TLS at hand.
said=$("$program" ls --url rediss://127.0.0.1:1 2>&1 || true)
[[ $said == *"no connection to 127.0.0.1:1"* ]] || {
  printf 'it said: %s\n' "$said"
  exit 1
}
