// SPDX-License-Identifier: Apache-2.0
// `holdfast wait`: until a lock is free.
#include "cli/exit_status.hpp"
#include "cli/look/lock_json.hpp"
#include "cli/look/looking.hpp"
#include "cli/verbs.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace cli {
namespace {

constexpr std::string_view wait_help =
    R"(Waits until a lock is free, and takes nothing: it is woken by the release, as
who waits for the lock is, and keeps nobody out. Somebody else may have taken
the lock when it returns; to do something while nobody holds it, use 'holdfast
run'.

Usage: holdfast wait [OPTIONS] NAME

  -w, --wait SECONDS   wait no longer than that (0.5, 30, 2m; 0: only look);
                       without it: for ever
      --json           for programs: {"name", "free", "waited_ms"}
      --url URL        the server, as for 'holdfast run'
  -h, --help           this text

Exit status:
    0   the lock is free
    1   it was not, within -w
   64   the command line is wrong
   69   the server cannot be reached, or refuses

Examples:
  holdfast wait nightly-report && mail -s 'the report is there' boss < report
  holdfast wait -w 0 deploy || echo 'somebody deploys'
)";

} // namespace

int wait(const inheritance& inherited, arguments all) {
    look_options given;
    std::optional<std::string> patience;
    CLI::App expected{"", "wait"};
    expected.add_option("-w,--wait", patience);
    if (!parse_look(expected, given, lock_word::required, std::move(all), wait_help))
        return success;
    const auto most = patience ? parse_time("-w", *patience) : std::chrono::duration<double>::max();

    return ask_server(inherited, given, [&](holdfast::client& home) {
        const holdfast::time_point start = holdfast::boot_clock::now();
        const bool free = home.wait_free(given.name, most);
        if (given.json) {
            boost::json::object told = named(given.name);
            told["free"] = free;
            told["waited_ms"] = (holdfast::boot_clock::now() - start).count();
            write_json(told);
        }
        return free ? success : busy;
    });
}

} // namespace cli
