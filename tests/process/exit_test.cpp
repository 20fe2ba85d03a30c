// SPDX-License-Identifier: Apache-2.0
// A process ends while it holds. However it does so, and wherever its client is kept: it ends at
// once and well, and the lock is free when the lease is over.
#include "process/belongings.hpp"
#include "support/eventually.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <semaphore>
#include <string>
#include <thread>

#include <unistd.h>

namespace holdfast::process {
namespace {

constexpr int exit_status = 7;

struct things {
    explicit things(const std::string& url)
        : home{quick(url)} {}
    client home;
    mutex stock{home, "stock"};
};

/// Where a program may keep them: what exit() destroys differs.
things& kept(const std::string& where, const std::string& url) {
    if (where == "static") {
        static things in_static{url};
        return in_static;
    }
    if (where == "thread_local") {
        thread_local things in_thread{url};
        return in_thread;
    }
    return *new things{url}; // leaked
}

/// Whether that thread of ours waits for something.
bool sleeps(pid_t thread) {
    std::ifstream file{"/proc/self/task/" + std::to_string(thread) + "/stat"};
    std::string all;
    std::getline(file, all);
    const std::size_t state = all.rfind(')') + 2;
    return state < all.size() && all[state] == 'S';
}

void for_ever() {
    std::binary_semaphore{0}.acquire();
}

const std::map<std::string, void (*)(things&)>& ways() {
    static const std::map<std::string, void (*)(things&)> all{
        {"exit",
         [](things& my) {
             my.stock.lock();
             std::exit(exit_status);
         }},
        {"exit on another thread",
         [](things& my) {
             my.stock.lock();
             std::thread{[] { std::exit(exit_status); }}.detach();
             for_ever();
         }},
        {"exit beside a thread that holds",
         [](things& my) {
             std::binary_semaphore locked{0};
             std::thread{[&] {
                 my.stock.lock();
                 locked.release();
                 for_ever();
             }}.detach();
             locked.acquire();
             std::exit(exit_status);
         }},
        {"exit on a thread that holds",
         [](things& my) {
             std::thread{[&] {
                 my.stock.lock();
                 std::exit(exit_status);
             }}.detach();
             for_ever();
         }},
        {"exit in a handler",
         [](things& my) {
             my.stock.async_lock([](error_code, const lease&) { std::exit(exit_status); });
             for_ever();
         }},
        {"exit beside a thread that waits",
         [](things& my) {
             my.stock.lock();
             std::atomic<pid_t> waiter = 0;
             std::thread{[&] {
                 waiter = ::gettid();
                 (void)thrown_by([&] { my.stock.lock(); });
             }}.detach();
             const bool waits = support::eventually([&] { return waiter != 0 && sleeps(waiter); });
             std::exit(waits ? exit_status : EXIT_FAILURE);
         }},
        {"quick_exit",
         [](things& my) {
             my.stock.lock();
             std::quick_exit(exit_status);
         }},
        {"_exit",
         [](things& my) {
             my.stock.lock();
             ::_exit(exit_status);
         }},
        {"return", [](things& my) { my.stock.lock(); }},
    };
    return all;
}

const named_story holds_and_ends{"holds and ends", [](const auto& arguments) {
                                     const auto way = ways().at(arguments.at(2));
                                     if (arguments.at(1) == "automatic") {
                                         things my{arguments.at(0)};
                                         way(my);
                                     } else {
                                         way(kept(arguments.at(1), arguments.at(0)));
                                     }
                                     return exit_status;
                                 }};

class Exit : public with_server,
             public testing::WithParamInterface<std::tuple<const char*, const char*>> {};

TEST_P(Exit, WhileHolding) {
    const auto& [way, where] = GetParam();
    child holder{"holds and ends", {.arguments = {url(), where, way}}};
    EXPECT_EQ(holder.wait(), exit_status);
    EXPECT_TRUE(eventually([&] { return connections().empty(); }));
    EXPECT_FALSE(is_free("stock")) << "what it was in the middle of may be half done";
    outlive_leases();
    client next{quick(url())};
    mutex stock{next, "stock"};
    EXPECT_TRUE(stock.try_lock());
    stock.unlock();
}

std::string case_name(const testing::TestParamInfo<Exit::ParamType>& tested) {
    const auto& [way, where] = tested.param;
    std::string name = std::string{way} + " kept " + where;
    std::replace(name.begin(), name.end(), ' ', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(
    By, Exit,
    testing::Combine(testing::Values("exit", "exit on another thread",
                                     "exit beside a thread that holds",
                                     "exit on a thread that holds", "exit in a handler",
                                     "exit beside a thread that waits", "quick_exit", "_exit",
                                     "return"),
                     testing::Values("automatic", "static", "thread_local", "leaked")),
    case_name);

} // namespace
} // namespace holdfast::process
