// SPDX-License-Identifier: Apache-2.0
// One name has one kind: what each script answers where another kind, or another program's value,
// has the key.
#include "scripts_fixture.hpp"

#include <functional>
#include <utility>

namespace holdfast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class KindScripts : public on_scripts {
protected:
    using on_scripts::on_scripts;

    struct request {
        std::string wanted; ///< what the error says was asked for
        redis::script script;
        std::vector<std::string> keys;
        std::vector<std::string> arguments;
    };

    /// One request of each kind, and force.
    std::vector<request> requests() {
        using namespace redis::scripts;
        const std::string pair = "a read-write lock", permits = "a leased semaphore";
        std::vector<request> all{
            {"a mutex", lock_mutex, {name_}, {"30000", alice, "0"}},
            {"a mutex", lock_fenced, {name_, tokens_}, {"30000", alice, "0", "1", "0"}},
            {"a mutex",
             lock_fair,
             {name_, "queue", "deadlines"},
             {"30000", alice, "0", channel_, "PUBLISH", "1", "20000", "300000"}},
            {pair, lock_read, {name_, "timer", "marks"}, {"30000", alice, "0", ""}},
            {pair, lock_write, {name_, "marks"}, {"30000", alice, "0", "", "{L}", "5000", "100"}},
            {"a token lock", lock_token, {name_}, {"30000", alice, "0"}},
            {"a semaphore", take_semaphore, {name_, "memory"}, {"1", "s", "1", "0", "1000"}},
            {"a semaphore",
             change_semaphore,
             {name_, "memory"},
             {"erase", "1", "0", "0", "s", "1", "0", "1000", channel_, "PUBLISH"}},
            {"a latch", look_latch, {name_}, {}},
            {"a latch",
             change_latch,
             {name_, "memory"},
             {"erase", "1", "s", "1", "0", "1000", channel_, "PUBLISH"}},
            {permits,
             take_permits,
             {name_, "{L}:timeout"},
             {"30000", "1", "1", "00112233445566778899", "0", channel_, "PUBLISH"}},
            {permits, inspect_permits, {name_, "{L}:timeout"}, {channel_}},
            {"a rate limiter",
             take_rate,
             {name_, "value", "value2", "draws", "draws2"},
             {"1", std::string(20, 'm'), "0"}},
            {"a rate limiter", inspect_rate, {name_, "value", "value2", "draws", "draws2"}, {}}};
        for (const auto& [mode, wanted] :
             {std::pair{"mutex", "a mutex"}, std::pair{"read", "a read-write lock"},
              std::pair{"write", "a read-write lock"}, std::pair{"token", "a token lock"}})
            all.push_back(
                {wanted,
                 force_lock,
                 {name_},
                 {"0", "", "PUBLISH", channel_, "shared", "queue", "deadlines", mode, "token"}});
        return all;
    }

    /// Each request but those for one of `but` is refused, names both kinds and changes nothing.
    void expect_refused(const std::string& there, const std::vector<std::string>& but) {
        const std::string before = server().command({"DUMP", name_}).text;
        const std::int64_t keys = ask({"DBSIZE"});
        for (const request& each : requests()) {
            if (std::ranges::find(but, each.wanted) != but.end())
                continue;
            const redis::reply said = run(each.script, each.keys, each.arguments);
            EXPECT_TRUE(is_error(said, "WRONGTYPE")) << there << ": " << each.script.name;
            EXPECT_THAT(said.text,
                        AllOf(HasSubstr(there), HasSubstr(each.wanted + " was asked for")))
                << each.script.name;
            EXPECT_EQ(server().command({"DUMP", name_}).text, before) << each.script.name;
            EXPECT_EQ(ask({"DBSIZE"}), keys) << each.script.name;
        }
        server().command({"FLUSHALL"});
    }
};

TEST_P(KindScripts, AnotherKindIsNamedAndNeverTouched) {
    server().command({"HSET", name_, bob, "1"});
    expect_refused("a mutex", {"a mutex"});
    server().command({"HSET", name_, "mode", "read", bob, "1"});
    expect_refused("a read-write lock", {"a read-write lock"});
    server().command({"HSET", name_, "rate", "5", "interval", "1000", "type", "0"});
    expect_refused("a rate limiter", {"a rate limiter"});
    server().command({"SET", name_, "some token of another", "PX", "30000"});
    expect_refused("a token lock", {"a token lock"});
    server().command({"SET", name_, "3"});
    expect_refused("a semaphore or a latch", {"a semaphore", "a latch", "a leased semaphore"});
    server().command({"SET", name_, "3"});
    server().command({"ZADD", "{L}:timeout", "9e14", "0123456789abcdef"});
    expect_refused("a leased semaphore", {"a leased semaphore"});
}

TEST_P(KindScripts, ValuesOfOtherProgramsAreNamedAndNeverTouched) {
    const std::vector<std::vector<std::string>> hashes{
        {"HSET", name_, "colour", "red"},
        {"HSET", name_, alice, "1", bob, "1"},
        {"HSET", name_, "mode", "read", "colour", "red"},
        {"HSET", name_, "mode", "fast", bob, "1"},
        {"HSET", name_, "rate", "5"}};
    for (const std::vector<std::string>& each : hashes) {
        server().command(each);
        expect_refused("a hash (no lock)", {});
    }
    server().command({"RPUSH", name_, "x"});
    expect_refused("neither a hash nor a string", {});
}

/// `SET name 1 NX PX 30000` is how many programs lock.
TEST_P(KindScripts, ANumberWithAnEndMayBeAToken) {
    server().command({"SET", name_, "1", "PX", "30000"});
    EXPECT_EQ(
        support::integers_of(run(redis::scripts::lock_token, {name_}, {"30000", alice, "0"}))[0],
        0);
    server().command({"PERSIST", name_});
    EXPECT_TRUE(
        is_error(run(redis::scripts::lock_token, {name_}, {"30000", alice, "0"}), "WRONGTYPE"));
}

HOLDFAST_ON_EACH_SERVER(KindScripts);

} // namespace
} // namespace holdfast
