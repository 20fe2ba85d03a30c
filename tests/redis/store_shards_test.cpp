// SPDX-License-Identifier: Apache-2.0
// Renewals of locks on several servers: one request for each server, or one for each slot where
// this is not possible.
#include "redis/topology/slot_map.hpp"
#include "store/redis/redis_store.hpp"
#include "support/clocks.hpp"
#include "support/holds.hpp"

#include <holdfast/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/system/system_error.hpp>

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

using texts = std::vector<std::string>;

/// Three servers that share the slots, each a third; what they answer the test says.
class three_servers final : public redis::node {
public:
    struct request {
        std::optional<redis::shard> at; ///< none: by its keys
        texts names;
    };
    /// 1 held, 0 not, 2 not here.
    std::function<std::vector<std::int64_t>(const request&)> says = [](const request& made) {
        return std::vector<std::int64_t>(made.names.size(), 1);
    };

    asio::awaitable<redis::reply> call(const redis::script&, std::span<const std::string_view> keys,
                                       std::span<const redis::argument>,
                                       redis::call_options options) override {
        EXPECT_TRUE(options.divisible);
        co_return answer({std::nullopt, {keys.begin(), keys.end()}});
    }
    asio::awaitable<redis::reply> call_at(redis::shard where, const redis::script&,
                                          std::span<const redis::argument> arguments,
                                          redis::call_options) override {
        request made{where, {}};
        const std::size_t names = (arguments.size() - 2) / 2; // behind as many numbers
        for (const redis::argument& each : arguments.last(names))
            made.names.emplace_back(std::get<std::string_view>(each));
        co_return answer(std::move(made));
    }
    bool is_sharded() const noexcept override { return true; }
    asio::awaitable<std::vector<redis::shard>> shards(bool anew) override {
        maps += anew;
        co_return std::vector<redis::shard>{0, 1, 2};
    }
    redis::shard shard_of(std::string_view key) const override {
        return maps > 0 && moved.contains(std::string{key})
                   ? redis::shard{2}
                   : static_cast<redis::shard>(slot_of(key) * 3 / redis::slot_count);
    }
    std::uint16_t slot_of(std::string_view key) const override { return redis::key_slot(key); }
    void distrust(const redis::reply&) noexcept override {}
    std::unique_ptr<redis::hearing> hear(redis::channel_name, alarm&, redis::linger) override {
        return nullptr;
    }
    bool hears(const redis::channel_name&) const override { return false; }
    duration command_timeout() const noexcept override { return duration{3'000}; }
    void close() noexcept override {}

    std::vector<request> asked;
    std::set<std::string> moved; ///< to the last server, as the newest map says
    int maps = 0;                ///< so often it was asked for anew

private:
    redis::reply answer(request made) {
        asked.push_back(made);
        redis::reply said;
        said.type = redis::reply::kind::array;
        for (const std::int64_t each : says(made)) {
            redis::reply one;
            one.type = redis::reply::kind::integer;
            one.integer = each;
            said.items.push_back(std::move(one));
        }
        return said;
    }
};

class StoreShards : public ::testing::Test {
protected:
    std::vector<answer> renew(const texts& names) {
        std::deque<hold> all;
        std::vector<const hold*> listed;
        for (const std::string& each : names) {
            all.emplace_back(lock_name{each}, owner_id{{}, all.size()}, lock_kind::plain);
            listed.push_back(&all.back());
        }
        std::vector<answer> said;
        std::exception_ptr failed;
        asio::co_spawn(io_, support::renewed(store_, listed, duration{30'000}),
                       [&](std::exception_ptr why, std::vector<answer> got) {
                           failed = why;
                           said = std::move(got);
                       });
        clock_.run_until_idle();
        if (failed)
            std::rethrow_exception(failed);
        return said;
    }
    static texts many(std::size_t count) {
        texts all;
        for (std::size_t i = 0; i < count; ++i)
            all.push_back("L" + std::to_string(i));
        return all;
    }
    static testing::Matcher<const std::vector<answer>&> all_held() {
        return Each(testing::Field(&answer::granted, true));
    }

    asio::io_context io_;
    sim::sim_clock clock_{io_};
    three_servers node_;
    store_context context_{io_.get_executor(), clock_, [] { return 0; }, {}, {}, {}, {}};
    redis::redis_locks store_{node_, context_};
};

TEST_F(StoreShards, OneScriptForAHundredNamesAndEachServer) {
    EXPECT_THAT(renew(many(10'000)), all_held());
    EXPECT_LE(node_.asked.size(), 103u);
    for (const three_servers::request& each : node_.asked) {
        ASSERT_TRUE(each.at);
        for (const std::string& name : each.names)
            EXPECT_EQ(node_.shard_of(name), *each.at);
    }
    EXPECT_EQ(node_.maps, 0);
}

TEST_F(StoreShards, WhatAServerHasNotIsAskedAtTheOneThatTheNewMapNames) {
    texts moved; // in the order of the list
    for (const std::string& each : many(20))
        if (node_.shard_of(each) == 0)
            moved.push_back(each);
    ASSERT_GT(moved.size(), 1u);
    node_.moved = {moved.begin(), moved.end()};
    node_.says = [&](const three_servers::request& made) {
        std::vector<std::int64_t> all;
        for (const std::string& each : made.names)
            all.push_back(node_.moved.contains(each) && made.at != 2 ? 2 : 1);
        return all;
    };
    EXPECT_THAT(renew(many(20)), all_held());
    EXPECT_EQ(node_.maps, 1);
    EXPECT_THAT(node_.asked.back().names, ElementsAreArray(moved));
    EXPECT_EQ(node_.asked.back().at, redis::shard{2});
}

TEST_F(StoreShards, WhatIsNowhereIsAskedForBySlot) {
    node_.says = [](const three_servers::request& made) {
        return std::vector<std::int64_t>(made.names.size(), made.at ? 2 : 1);
    };
    EXPECT_THAT(renew({"{a}1", "b", "{a}2"}), all_held());
    EXPECT_EQ(node_.maps, 1);
    std::vector<texts> by_slot;
    for (const three_servers::request& each : node_.asked)
        if (!each.at)
            by_slot.push_back(each.names);
    EXPECT_THAT(by_slot,
                testing::UnorderedElementsAre(ElementsAre("{a}1", "{a}2"), ElementsAre("b")));
}

TEST_F(StoreShards, AServerThatWantsItsKeysDeclaredIsAskedBySlot) {
    node_.says = [](const three_servers::request& made) {
        if (made.at)
            throw boost::system::system_error{store_errc::other};
        return std::vector<std::int64_t>(made.names.size(), 1);
    };
    EXPECT_THAT(renew(many(300)), all_held());
}

TEST_F(StoreShards, NamesOfOneSlotThatAreApartAreAskedForOneByOne) {
    node_.says = [](const three_servers::request& made) {
        if (!made.at && made.names.size() > 1)
            throw boost::system::system_error{store_errc::try_again};
        return std::vector<std::int64_t>(made.names.size(), made.at ? 2 : 1);
    };
    EXPECT_THAT(renew({"{a}1", "{a}2", "{a}3"}), all_held());
}

TEST_F(StoreShards, ALostHoldIsToldInWhicheverRound) {
    node_.says = [](const three_servers::request& made) {
        std::vector<std::int64_t> all;
        for (const std::string& each : made.names)
            all.push_back(each == "gone" ? 0 : made.at ? 2 : each == "late" ? 0 : 1);
        return all;
    };
    const std::vector<answer> said = renew({"held", "gone", "late"});
    ASSERT_EQ(said.size(), 3u);
    EXPECT_TRUE(said[0].granted);
    EXPECT_FALSE(said[1].granted);
    EXPECT_FALSE(said[2].granted);
}

TEST_F(StoreShards, AServerThatFailsFailsOnlyWhatItHas) {
    class noting final : public renewal_sink {
    public:
        void renewed(std::size_t which, const answer&) override { well.insert(which); }
        void failed(std::size_t which, const boost::system::system_error&) override {
            ill.insert(which);
        }
        std::set<std::size_t> well, ill;
    } noted;
    node_.says = [](const three_servers::request& made) {
        if (made.at == 0)
            throw boost::system::system_error{make_error_code(errc::outcome_unknown)};
        return std::vector<std::int64_t>(made.names.size(), 1);
    };
    std::deque<hold> all;
    std::vector<const hold*> listed;
    std::size_t at_first = 0;
    for (const std::string& each : many(30)) {
        at_first += node_.shard_of(each) == 0;
        all.emplace_back(lock_name{each}, owner_id{{}, all.size()}, lock_kind::plain);
        listed.push_back(&all.back());
    }
    const renewal_options how{.lease_time = duration{30'000}};
    asio::co_spawn(io_, store_.renew(listed, how, noted), [](std::exception_ptr) {});
    clock_.run_until_idle();
    EXPECT_EQ(noted.ill.size(), at_first);
    EXPECT_EQ(noted.well.size(), 30 - at_first);
}

} // namespace
} // namespace holdfast
