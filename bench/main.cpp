// SPDX-License-Identifier: Apache-2.0
// holdfast_bench: compares the library with Redisson and with the limits that the server and the
// kernel set. README.md in this folder explains the output.
#include "bench/contenders/other_programs.hpp"
#include "bench/runner.hpp"
#include "bench/user_interface.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <vector>

namespace holdfast::bench {
namespace {

/// Returns the contests of one kind that the user asked for.
template <typename Event>
std::vector<Event> wanted(std::vector<Event> all, const wishes& how, bool only_when_named = false) {
    std::erase_if(all, [&](const Event& each) {
        bool named = only_when_named;
        if constexpr (requires { each.only_when_named; })
            named = each.only_when_named;
        return !how.wants(each.name, named);
    });
    return all;
}

void run(const wishes& how) {
    const auto all = std::tuple{wanted(contests(), how),        wanted(rivalries(), how, true),
                                wanted(failovers(), how, true), wanted(vigils(), how),
                                wanted(shared_vigils(), how),   wanted(standstills(), how)};
    if (std::apply([](const auto&... each) { return (each.empty() && ...); }, all))
        throw std::runtime_error{"there is no " + how.only + "; see --help"};

    listen_to_signals();
    if (how.apart)
        run_on(cores::the_last);
    const server home;
    if (how.apart)
        run_on(cores::all_others);
    meeting here{how, home};
    const auto hold_each = [&](const auto& events) {
        for (const auto& each : events)
            here.hold(each);
    };
    std::apply([&](const auto&... each) { (hold_each(each), ...); }, all);
    here.close();
}

} // namespace
} // namespace holdfast::bench

int main(int argc, char** argv) try {
    if (argc == 3 && std::string_view{argv[1]} == "--neighbour")
        holdfast::bench::be_a_neighbour(argv[2]);
    else
        holdfast::bench::run(holdfast::bench::read_wishes(argc, argv));
} catch (const std::exception& trouble) {
    holdfast::bench::erase_progress();
    // Ctrl-C also ends the JVM, and this is not a failure of the JVM.
    const char* const why = holdfast::bench::is_interrupted() ? "interrupted" : trouble.what();
    std::fprintf(stderr, "holdfast_bench: %s\n", why);
    return EXIT_FAILURE;
}
