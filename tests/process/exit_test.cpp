// SPDX-License-Identifier: Apache-2.0
// A process or a thread ends while it holds a lock.
#include "process/belongings.hpp"
#include "support/eventually.hpp"
#include "support/recorder.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>

#include <unistd.h>

namespace holdfast::process {
namespace {

// A process ends while it holds. However it does so, and wherever its client is kept: it ends at
// once and well, and the lock is free when the lease is over.

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

/// Returns whether a thread of this process is asleep.
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

// A program that is started by one that holds locks inherits nothing of ours: else a connection
// would stay open, and the server would think us alive, as long as that program runs.

namespace fs = std::filesystem;

/// What this process has open, each with its kind; but for standard input, output and error.
const named_story tells_what_it_has{
    "tells what it has", [](const auto&) {
        for (const fs::directory_entry& each : fs::directory_iterator{"/proc/self/fd"})
            if (std::stoi(each.path().filename()) > 2 && fs::is_symlink(each)) {
                const std::string kind = fs::read_symlink(each);
                if (!kind.starts_with("/proc/")) // the folder that is being read
                    std::cout << each.path().filename().string() + " " + kind + "\n";
            }
        std::cout << "that is all" << std::endl;
        return 0;
    }};

class Exec : public with_server, public testing::WithParamInterface<child::start> {
protected:
    Exec()
        : with_server{{.tcp = true}} {}

    static std::vector<std::string> inherited() {
        child started{"tells what it has", {.how = GetParam()}};
        std::vector<std::string> all;
        for (std::string line = started.next_line(); line != "that is all";
             line = started.next_line())
            all.push_back(line);
        EXPECT_EQ(started.wait(), 0);
        return all;
    }

    /// With a command connection, an subscriber and a timer at work.
    void expect_nothing_inherited(const std::string& url) {
        const std::vector<std::string> before = inherited();
        belongings my{quick(url)};
        client rival{quick(url)};
        mutex same{rival, "stock"};
        std::future<lease> waiting = same.async_lock(asio::use_future);
        EXPECT_TRUE(eventually([&] { return is_waited_for("stock"); }));
        EXPECT_EQ(inherited(), before);
        my.held.unlock();
        EXPECT_TRUE(soon(std::move(waiting)).owns_lock()) << "starting it did harm";
        my.shelf.unlock();
    }
};

TEST_P(Exec, InheritsNothingOnAUnixSocket) {
    expect_nothing_inherited("unix://" + server().socket_path());
}

TEST_P(Exec, InheritsNothingOnTcp) {
    expect_nothing_inherited(url());
}

TEST_P(Exec, InheritsNothingWhereANameIsLookedUp) {
    expect_nothing_inherited("redis://localhost:" + std::to_string(server().port()));
}

std::string name_of(const testing::TestParamInfo<child::start>& tested) {
    switch (tested.param) {
    case child::start::posix_spawn:
        return "posix_spawn";
    case child::start::fork:
        return "fork";
    case child::start::vfork:
        break;
    }
    return "vfork";
}

INSTANTIATE_TEST_SUITE_P(By, Exec,
                         testing::Values(child::start::posix_spawn, child::start::fork,
                                         child::start::vfork),
                         name_of);

// Clients, locks and leases that live as long as the program, and are destroyed in any order.

/// A static object, made when it is first asked for, and destroyed in the reverse order of that.
template <typename T>
std::optional<T>& only() {
    static std::optional<T> object;
    return object;
}

struct locks {
    explicit locks(client& home)
        : stock{home, "stock"}
        , shelf{home, "shelf"} {}
    mutex stock, shelf;
};

using subscriber = std::shared_ptr<support::recorder>;

const std::map<std::string, void (*)()>& makers() {
    static const std::map<std::string, void (*)()> all{
        {"client", [] { (void)only<client>(); }},
        {"locks", [] { (void)only<locks>(); }},
        {"lease", [] { (void)only<lease>(); }},
        {"observer", [] { (void)only<subscriber>(); }},
    };
    return all;
}

const named_story keeps_all_for_ever{
    "keeps all for ever", [](const auto& arguments) {
        for (std::size_t i = 1; i < arguments.size(); ++i)
            makers().at(arguments[i])();
        options how = quick(arguments[0]);
        how.observer = only<subscriber>().emplace(std::make_shared<support::recorder>());
        how.close_timeout = 100ms;
        locks& both = only<locks>().emplace(only<client>().emplace(std::move(how)));
        only<lease>() = soon(both.stock.async_lock(asio::use_future));
        both.shelf.lock();
        return 0;
    }};

class Static : public with_server {};

TEST_F(Static, ObjectsMayBeDestroyedInAnyOrder) {
    std::vector<std::string> order{"client", "lease", "locks", "observer"};
    do {
        SCOPED_TRACE(testing::PrintToString(order));
        std::vector<std::string> words = order;
        words.insert(words.begin(), url());
        child program{"keeps all for ever", {.arguments = words}};
        EXPECT_EQ(program.wait(), 0);
        const auto made = [&](const char* what) {
            return std::find(order.begin(), order.end(), what);
        };
        EXPECT_EQ(is_free("stock"), made("lease") > made("client")) << "the lease could release";
        EXPECT_FALSE(is_free("shelf"));
        outlive_leases();
    } while (std::next_permutation(order.begin(), order.end()));
}

/// Only one instance of the program shall run: the commonest static lock there is.
const named_story holds_to_its_end{"holds to its end", [](const auto& arguments) {
                                       static client home{quick(arguments[0])};
                                       static mutex stock{home, "stock"};
                                       static const std::unique_lock held{stock};
                                       if (arguments[1] == "exit")
                                           std::exit(0);
                                       return 0;
                                   }};

TEST_F(Static, AGuardReleasesWhenTheProgramEnds) {
    for (const char* const way : {"return", "exit"}) {
        child program{"holds to its end", {.arguments = {url(), way}}};
        EXPECT_EQ(program.wait(), 0);
        EXPECT_TRUE(is_free("stock")) << way;
        outlive_leases();
    }
}

/// What it still has to do when the program ends, it does under the lock.
struct journal {
    explicit journal(client& home)
        : stock{home, "stock"} {}
    ~journal() { const std::scoped_lock held{stock}; }
    mutex stock;
};

const named_story locks_at_its_end{"locks at its end", [](const auto& arguments) {
                                       static client home{quick(arguments[0])};
                                       static journal last{home};
                                       mutex other{home, "other"};
                                       const std::scoped_lock held{
                                           other}; // the library knows this thread
                                       return 0;
                                   }};

TEST_F(Static, ADestructorMayUseALock) {
    child program{"locks at its end", {.arguments = {url()}}};
    EXPECT_EQ(program.wait(), 0);
    EXPECT_TRUE(is_free("stock"));
}

const named_story locks_in_atexit{"locks in atexit", [](const auto& arguments) {
                                      static client home{quick(arguments[0])};
                                      static mutex stock{home, "stock"};
                                      std::atexit([] { const std::scoped_lock held{stock}; });
                                      const std::scoped_lock held{stock};
                                      return 0;
                                  }};

TEST_F(Static, AHandlerOfAtexitMayUseALock) {
    child program{"locks in atexit", {.arguments = {url()}}};
    EXPECT_EQ(program.wait(), 0);
    EXPECT_TRUE(is_free("stock"));
}

// A thread that ends while it holds: nobody is left who could release.

class ThreadEnd : public with_server {
protected:
    std::shared_ptr<support::recorder> subscriber = std::make_shared<support::recorder>();

    options heard() {
        options how = quick(url());
        how.observer = subscriber;
        return how;
    }
    /// Runs the function in a thread, which ends after it.
    template <typename Work>
    static void in_a_thread(Work work) {
        std::thread{work}.join();
    }
};

TEST_F(ThreadEnd, WhileHoldingIsTold) {
    client home{heard()};
    recursive_mutex stock{home, "stock"};
    in_a_thread([&] {
        stock.lock();
        stock.lock();
    });
    EXPECT_TRUE(eventually([&] { return subscriber->count(event_kind::abandoned) == 1; }));
    EXPECT_EQ(subscriber->last(event_kind::abandoned)->name, "stock");
    EXPECT_FALSE(is_free("stock")) << "what it was in the middle of may be half done";
}

TEST_F(ThreadEnd, WhileHoldingEndsTheRenewal) {
    options how = heard();
    how.lease_time = 4500ms;
    client home{std::move(how)};
    mutex stock{home, "stock"};
    in_a_thread([&] {
        stock.lock();
        EXPECT_TRUE(is_renewed("stock"));
    });
    EXPECT_TRUE(eventually([&] { return is_free("stock"); })) << "it is renewed for ever";
    EXPECT_TRUE(eventually([&] { return subscriber->count(event_kind::lost) == 1; }));
    EXPECT_EQ(subscriber->last(event_kind::lost)->cause, event_cause::term_ended);
}

TEST_F(ThreadEnd, WhileHoldingFreesTheLockWhenTheServersClockPassesTheLease) {
    client home{heard()}, other{quick(url())};
    mutex stock{home, "stock"}, of_other{other, "stock"};
    in_a_thread([&] { stock.lock(); });
    std::thread waiter{[&] {
        EXPECT_TRUE(of_other.try_lock_for(support::far_too_long));
        of_other.unlock();
    }};
    EXPECT_TRUE(eventually([&] { return is_waited_for("stock"); }));
    outlive_leases();
    waiter.join();
    EXPECT_TRUE(is_free("stock"));
}

TEST_F(ThreadEnd, WhileHoldingIsNotWaitedForByClose) {
    options patient = heard();
    patient.close_timeout = 1h;
    client home{std::move(patient)};
    mutex stock{home, "stock"};
    in_a_thread([&] { stock.lock(); });
    soon(home.async_close(asio::use_future)); // nobody can release it any more
    EXPECT_FALSE(is_free("stock"));
}

TEST_F(ThreadEnd, LeavesTheHoldsOfOthersAlone) {
    client home{heard()};
    mutex stock{home, "stock"}, shelf{home, "shelf"};
    shelf.lock();
    std::optional<lease> held;
    in_a_thread([&] {
        stock.lock();
        stock.unlock();
        held = soon(stock.async_lock(asio::use_future)); // a lease belongs to no thread
    });
    EXPECT_EQ(subscriber->count(event_kind::abandoned), 0u);
    EXPECT_TRUE(held->owns_lock());
    EXPECT_TRUE(shelf.is_held_by_this_thread());
    shelf.unlock();
    held->unlock();
    EXPECT_TRUE(support::eventually([&] { return subscriber->count(event_kind::released) == 3; }));
}

TEST_F(ThreadEnd, WithHoldsOfSeveralClientsTellsEach) {
    const auto other_subscriber = std::make_shared<support::recorder>();
    options others = quick(url());
    others.observer = other_subscriber;
    client home{heard()}, other{std::move(others)};
    mutex stock{home, "stock"}, shelf{other, "shelf"};
    in_a_thread([&] {
        stock.lock();
        shelf.lock();
    });
    EXPECT_TRUE(eventually([&] { return subscriber->count(event_kind::abandoned) == 1; }));
    EXPECT_TRUE(eventually([&] { return other_subscriber->count(event_kind::abandoned) == 1; }));
    EXPECT_EQ(other_subscriber->last(event_kind::abandoned)->name, "shelf");
}

/// Uses the lock when its thread ends.
struct last_user {
    mutex* of = nullptr;
    ~last_user() {
        if (of == nullptr)
            return;
        of->lock();
        of->unlock();
    }
};
thread_local last_user this_threads_last;

TEST_F(ThreadEnd, ALockMayBeUsedByWhatIsDestroyedWithTheThread) {
    client home{heard()};
    mutex stock{home, "stock"}, first{home, "first"};
    in_a_thread([&] {
        this_threads_last.of = &stock; // before the library knows this thread: destroyed after that
        first.lock();
        first.unlock();
    });
    EXPECT_TRUE(is_free("stock"));
    EXPECT_EQ(subscriber->count(event_kind::released), 2u);
}

TEST_F(ThreadEnd, TakesAClientOfItsOwnAlong) {
    const auto use = [&](bool holding) {
        in_a_thread([&, how = quick(url())] {
            thread_local client own{how};
            mutex stock{own, "stock"};
            stock.lock();
            if (!holding)
                stock.unlock();
        });
    };
    use(false);
    EXPECT_TRUE(eventually([&] { return connections().empty(); }));
    use(true);
    EXPECT_TRUE(eventually([&] { return connections().empty(); }));
    outlive_leases();
    use(false);
    EXPECT_TRUE(is_free("stock"));
}

TEST_F(ThreadEnd, TakesAClientThatIsYoungerThanItsFirstHoldAlong) {
    client home{heard()};
    mutex first{home, "first"};
    in_a_thread([&, how = quick(url())] {
        first.lock();
        first.unlock();
        thread_local client own{how};
        mutex stock{own, "stock"};
        stock.lock();
    });
    home.close();
    EXPECT_TRUE(eventually([&] { return connections().empty(); }));
}

} // namespace
} // namespace holdfast::process
