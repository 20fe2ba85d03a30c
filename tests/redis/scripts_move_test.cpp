// SPDX-License-Identifier: Apache-2.0
// move_hold.lua and move_token.lua, which give a hold to a new owner.
#include "scripts_fixture.hpp"

namespace holdfast {
namespace {

using support::integers_of;
using ::testing::AllOf;
using ::testing::Gt;
using ::testing::Le;

class MoveScripts : public on_limited_scripts {
protected:
    using on_limited_scripts::on_limited_scripts;

    std::int64_t move(const std::string& from, const std::string& to, std::int64_t lease = 30'000,
                      std::int64_t deadline = 0) {
        return integers_of(moved_by(redis::scripts::move_hold, from, to, lease, deadline))[0];
    }
    std::int64_t move_token(const std::string& from, const std::string& to,
                            std::int64_t lease = 30'000, std::int64_t deadline = 0) {
        return integers_of(moved_by(redis::scripts::move_token, from, to, lease, deadline))[0];
    }
    redis::reply moved_by(const redis::script& what, const std::string& from, const std::string& to,
                          std::int64_t lease, std::int64_t deadline) {
        return run(what, {name_}, {std::to_string(lease), from, to, std::to_string(deadline)});
    }
    std::string value() { return server().command({"GET", name_}).text; }
};
HOLDFAST_ON_EACH_SERVER(MoveScripts);

TEST_P(MoveScripts, NewOwnerHasTheLockAndTheOldOwnerHasNot) {
    lock(alice, 30'000);
    EXPECT_EQ(move(alice, bob, 60'000), 1);
    EXPECT_EQ(count_of(bob), "1");
    EXPECT_EQ(ask({"HLEN", name_}), 1);
    EXPECT_THAT(time_left(), AllOf(Gt(50'000), Le(60'000)));
    EXPECT_EQ(move(alice, bob, 1'000), 1) << "a repeated request";
    EXPECT_GT(time_left(), 50'000) << "the lease was shortened";
    EXPECT_EQ(integers_of(release(alice))[0], 0);
    EXPECT_EQ(integers_of(release(bob))[0], 1);
    EXPECT_EQ(move(alice, bob), 0);
    EXPECT_FALSE(exists());
}

TEST_P(MoveScripts, LateRequestMovesNothing) {
    lock(alice, 30'000);
    EXPECT_EQ(move(alice, bob, 30'000, server_micros() - 1), 2);
    EXPECT_EQ(count_of(alice), "1");
    name_ = "T";
    server().command({"SET", name_, alice, "PX", "30000"});
    EXPECT_EQ(move_token(alice, bob, 30'000, server_micros() - 1), 2);
    EXPECT_EQ(value(), alice);
}

TEST_P(MoveScripts, HoldWithoutAnEndStaysWithoutAnEnd) {
    lock(alice, 30'000);
    server().command({"PERSIST", name_});
    EXPECT_EQ(move(alice, bob), 1);
    EXPECT_EQ(time_left(), -1);
    name_ = "T";
    server().command({"SET", name_, alice});
    EXPECT_EQ(move_token(alice, bob), 1);
    EXPECT_EQ(time_left(), -1);
    EXPECT_EQ(value(), bob);
}

TEST_P(MoveScripts, KeyOfAnotherTypeIsNotHeld) {
    server().command({"SET", name_, alice});
    EXPECT_EQ(move(alice, bob), 0);
    EXPECT_EQ(value(), alice);
    name_ = "H";
    lock(alice, 30'000);
    EXPECT_EQ(move_token(alice, bob), 0);
    EXPECT_EQ(count_of(alice), "1");
}

TEST_P(MoveScripts, TokenGoesToTheNewOwner) {
    server().command({"SET", name_, alice, "PX", "30000"});
    EXPECT_EQ(move_token(alice, bob, 60'000), 1);
    EXPECT_EQ(value(), bob);
    EXPECT_GT(time_left(), 50'000);
    EXPECT_EQ(move_token(alice, bob, 1'000), 1) << "a repeated request";
    EXPECT_GT(time_left(), 50'000);
    server().command({"DEL", name_});
    EXPECT_EQ(move_token(alice, bob), 0);
    EXPECT_FALSE(exists());
}

TEST_P(MoveScripts, NewOwnerHasItsOwnLease) {
    lock(alice, 3'600'000);
    EXPECT_EQ(move(alice, bob, 60'000), 1);
    EXPECT_THAT(time_left(), AllOf(Gt(50'000), Le(60'000)));
    name_ = "T";
    server().command({"SET", name_, alice, "PX", "3600000"});
    EXPECT_EQ(move_token(alice, bob, 60'000), 1);
    EXPECT_THAT(time_left(), AllOf(Gt(50'000), Le(60'000)));
}

TEST_P(MoveScripts, FullServerMovesTheHold) {
    lock(alice, 30'000);
    server().command({"SET", "T", alice, "PX", "30000"});
    server().command({"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_EQ(move(alice, bob), 1);
    EXPECT_EQ(count_of(bob), "1");
    name_ = "T";
    EXPECT_EQ(move_token(alice, bob), 1);
    server().command({"CONFIG", "SET", "maxmemory", "0"});
    EXPECT_EQ(value(), bob);
}

} // namespace
} // namespace holdfast
