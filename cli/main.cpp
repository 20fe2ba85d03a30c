// SPDX-License-Identifier: Apache-2.0
// The holdfast program: finds the verb (subcommand), runs it, and converts exceptions to exit
// statuses. The code of each verb is in a file of its own.
#include "cli/command_line.hpp"
#include "cli/run/child_process.hpp"
#include "cli/server/server_access.hpp"
#include "cli/terminal/output.hpp"
#include "cli/text/text.hpp"

#include <holdfast/version.hpp>

#include <algorithm>
#include <array>
#include <iostream>
#include <system_error>
#include <utility>

namespace {

struct verb {
    std::string_view name;
    std::string_view summary; ///< empty for a verb that is not for users
    int (*run)(const cli::inheritance&, cli::arguments);
};

constexpr std::array verbs{
    verb{"run", "run a command while holding a lock", cli::run},
    verb{"ls", "list the held locks and their holders", cli::ls},
    verb{"inspect", "print all information about one lock", cli::inspect},
    verb{"top", "show the locks that are held or waited for, once a second", cli::top},
    verb{"wait", "wait until a lock is free, without taking it", cli::wait},
    verb{"ask", "ask the holder of a lock to release it soon", cli::ask},
    verb{"latch", "wait until other processes have reached a point", cli::latch},
    verb{"take", "take a lock, print a ticket and end", cli::take},
    verb{"renew", "renew the lock of a ticket", cli::renew},
    verb{"give", "release the lock of a ticket", cli::give},
    verb{"unlock", "remove a lock from its holder", cli::unlock},
    verb{"bench", "measure locks on your own server", cli::bench},
    verb{"demo", "see what a lock prevents, and what happens if its holder is killed", cli::demo},
    verb{"doctor", "check whether a server is fit for locks, and say what to change", cli::doctor},
    verb{"server", "show or stop this machine's private server", cli::server},
    verb{"demo-worker", "", cli::demo_worker},
    verb{"demo-holder", "", cli::demo_holder},
    verb{"private-server", "", cli::private_server},
};

std::vector<std::string> known_words() {
    std::vector<std::string> words{"help", "--help", "--version"};
    for (const verb& each : verbs)
        if (!each.summary.empty())
            words.emplace_back(each.name);
    return words;
}

void print_help(std::ostream& out) {
    out << "Takes, shows and removes locks that processes on several machines share. The\n"
           "locks are kept in Redis or Valkey, in MySQL or MariaDB, or in ZooKeeper.\n\n"
           "Usage: holdfast VERB [OPTIONS] ...\n\n";
    std::size_t width = 0;
    for (const verb& each : verbs)
        if (!each.summary.empty())
            width = std::max(width, each.name.size() + 2);
    for (const verb& each : verbs)
        if (!each.summary.empty())
            out << "  " << each.name << std::string(width - each.name.size(), ' ') << each.summary
                << '\n';
    out << "\n  -h, --help   print this text; 'holdfast VERB --help' explains a verb\n"
           "  --version    print the version\n\n"
           "Example:\n"
           "  holdfast run nightly-report ./report.sh\n\n"
           "Name the server with --url or with the variable HOLDFAST_URL, for example\n"
           "redis://HOST:PORT, mysql://HOST/SCHEMA or zk://HOST; see 'holdfast run --help'.\n"
           "If you name no server, a private redis-server or valkey-server keeps the locks.\n"
           "They then exclude only commands of this user on this machine. To forbid the\n"
           "private server, set HOLDFAST_REQUIRE_SERVER=1.\n";
}

/// Translates a verb of other programs to the verb (subcommand) of holdfast, for example `lock` to
/// `run`. Without this function, the advice on `lock` would be `unlock`.
std::string in_our_words(const std::string& word) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 6> names{{
        {"lock", "run"},
        {"exec", "run"},
        {"list", "ls"},
        {"show", "inspect"},
        {"release", "unlock"},
        {"check", "doctor"},
    }};
    const auto found =
        std::ranges::find(names, word, &std::pair<std::string_view, std::string_view>::first);
    return found == names.end() ? word : std::string{found->second};
}

[[noreturn]] void reject(const std::string& word) {
    throw cli::usage_error{(word.starts_with('-') ? "unknown option " : "unknown verb ") +
                           cli::printable(word) +
                           cli::advice_on(in_our_words(word), known_words(), "")};
}

bool asks_for_help(const std::string& word) {
    return word == "--help" || word == "-h" || word == "help";
}

int dispatch(const cli::inheritance& inherited, cli::arguments given) {
    if (given.empty()) {
        print_help(std::cerr);
        return cli::usage;
    }
    std::string first = std::move(given.front());
    given.erase(given.begin());
    if (asks_for_help(first)) {
        if (given.empty() || asks_for_help(given.front())) {
            print_help(std::cout);
            return cli::success;
        }
        first = std::exchange(given, {"--help"}).front();
    }
    if (first == "--version" || first == "-V") {
        std::cout << "holdfast " HOLDFAST_VERSION_STRING "\n";
        return cli::success;
    }
    const auto meant = std::ranges::find(verbs, first, &verb::name);
    if (meant == verbs.end())
        reject(first.substr(0, first.find('=')));
    return meant->run(inherited, std::move(given));
}

} // namespace

int main(int count, char** values) {
    const cli::inheritance inherited = cli::inheritance::take();
    try {
        cli::add_schemes();
        return cli::after_output(dispatch(inherited, {values + 1, values + std::max(count, 1)}));
    } catch (const cli::usage_error& mistake) {
        cli::say(mistake.what());
        return cli::usage;
    } catch (const cli::no_server& reason) {
        cli::say(reason.what());
        return cli::unavailable;
        // A system call has failed. (Errors of a store are boost::system::system_error.)
    } catch (const std::system_error& refused) {
        cli::say(refused.what());
        return cli::system_error;
    } catch (const std::exception& bug) {
        cli::say(std::string{"internal error: "} + bug.what());
        return cli::internal_error;
    }
}
