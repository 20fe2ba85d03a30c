#!/usr/bin/env bash
# other_boost.sh <prefix> <compiler>: a program that is compiled with another Boost than the library
# must not link, and the linker must say why. Asio's types are part of the interface: with such a
# program the one side would read the other's objects wrong.
set -euo pipefail
prefix=$1 compiler=$2

pc_file=$(find "$prefix" -name holdfast.pc)
export PKG_CONFIG_PATH="${pc_file%/*}"
read -r -a flags <<< "$(pkg-config --cflags --libs 'holdfast-testing >= 0.1')"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/boost"
cat > "$folder/boost/version.hpp" <<'END'
#include_next <boost/version.hpp>
#undef BOOST_VERSION
#define BOOST_VERSION 999900
END

# Each way to a client, and a program that uses only a part of the interface.
cat > "$folder/url.cpp" <<'END'
#include <holdfast/client.hpp>
int main() { holdfast::client c{"memory:other_boost"}; }
END
cat > "$folder/executor.cpp" <<'END'
#include <holdfast/client.hpp>
#include <boost/asio/io_context.hpp>
int main() {
    boost::asio::io_context io;
    holdfast::client c{io.get_executor(), {.url = "memory:other_boost"}};
}
END
cat > "$folder/server.cpp" <<'END'
#include <holdfast/memory/server.hpp>
int main() { holdfast::memory::server server; }
END

for program in url executor server; do
  build=("$compiler" -std=c++20 "$folder/$program.cpp" -o "$folder/$program")
  "${build[@]}" "${flags[@]}" || {
    printf '%s does not link with the Boost that the library was built with\n' "$program"
    exit 1
  }
  if words=$("${build[@]}" -I "$folder" "${flags[@]}" 2>&1); then
    printf '%s links with another Boost than the library was built with\n' "$program"
    exit 1
  fi
  grep -q 'built_with_boost<999900>' <<< "$words" || {
    printf '%s: the linker does not say what is wrong:\n%s\n' "$program" "$words"
    exit 1
  }
done
