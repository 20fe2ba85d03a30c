#!/usr/bin/env bash
# symbols.sh <shared library>: what it defines for others is holdfast's, or it would get in the way
# of other libraries in the same program. Weak symbols are templates and inline functions of Boost
# and std: Asio means them to be shared, since an executor of the user's is used on both sides.
set -euo pipefail

exported=$(nm --dynamic --demangle --defined-only "$1")
strangers=$(grep -v ' [VWu] ' <<< "$exported" | grep -v holdfast || true)
if [[ -n $strangers ]]; then
  printf '%s exports what is not holdfast:\n%s\n' "$1" "$strangers"
  exit 1
fi
grep -q ' T holdfast::' <<< "$exported" || {
  printf '%s exports no function of holdfast\n' "$1"
  exit 1
}
