// SPDX-License-Identifier: Apache-2.0
// Clients, locks and leases that live as long as the program, and are destroyed in any order.
#include "process/belongings.hpp"
#include "support/recorder.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>

namespace holdfast::process {
namespace {

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

using ear = std::shared_ptr<support::recorder>;

const std::map<std::string, void (*)()>& makers() {
    static const std::map<std::string, void (*)()> all{
        {"client", [] { (void)only<client>(); }},
        {"locks", [] { (void)only<locks>(); }},
        {"lease", [] { (void)only<lease>(); }},
        {"observer", [] { (void)only<ear>(); }},
    };
    return all;
}

const named_story keeps_all_for_ever{
    "keeps all for ever", [](const auto& arguments) {
        for (std::size_t i = 1; i < arguments.size(); ++i)
            makers().at(arguments[i])();
        options how = quick(arguments[0]);
        how.observer = only<ear>().emplace(std::make_shared<support::recorder>());
        how.close_patience = 100ms;
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

} // namespace
} // namespace holdfast::process
