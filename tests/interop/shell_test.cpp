// SPDX-License-Identifier: Apache-2.0
// `holdfast inspect` and `holdfast unlock --force` with locks that JVMs hold and wait for: the
// output is correct, and a forced release wakes the waiter whose turn it is.
#include "cli/program.hpp"
#include "interop/lock_meeting.hpp"

namespace holdfast::interop {
namespace {

using testing::StartsWith;

/// The program as somebody starts it who looks after this server.
class shell {
public:
    explicit shell(std::string url)
        : url_{std::move(url)} {}

    json::value inspect() const {
        return json::parse(cli_test::run({"inspect", "--json", "L"}, url_).out);
    }
    std::string read() const { return cli_test::run({"inspect", "L"}, url_).out; }
    void force() const {
        const cli_test::ended told = cli_test::run({"unlock", "--force", "--yes", "L"}, url_);
        EXPECT_EQ(told.status, 0) << told.err;
    }

private:
    std::string url_;
};

std::vector<std::string> owners_in(const json::value& told, const char* list) {
    std::vector<std::string> all;
    for (const json::value& each : told.at(list).as_array()) {
        all.push_back(json::value_to<std::string>(each.at("owner")));
        EXPECT_FALSE(each.at("is_holdfast").as_bool()) << all.back();
    }
    return all;
}

constexpr duration for_long = 1h; // no end of a lease wakes anybody

class ShellFair : public fair_meeting {};
INSTANTIATE_TEST_SUITE_P(Redisson, ShellFair, testing::ValuesIn(one_way_at({"getFairLock"})),
                         name_of);

TEST_P(ShellFair, TellsAJvmsQueueAndWakesItsFirst) {
    const shell user{server().url()};
    const std::unique_ptr<remote_client> other = another(true);
    remote_lock held = lock_of(jvm(), "alice"), wanted = lock_of(*other, "bob"),
                wanted_too = lock_of(jvm(), "carol");
    held.lock(for_long);
    ongoing waiting = queued(wanted), waiting_too = queued(wanted_too);

    const json::value told = user.inspect();
    EXPECT_THAT(user.read(), testing::HasSubstr("kind       fair lock\n"));
    EXPECT_THAT(owners_in(told, "owners"), testing::ElementsAre(jvm().thread("alice").owner()));
    EXPECT_EQ(owners_in(told, "waiters"), queue());
    EXPECT_THAT(owners_in(told, "waiters"),
                testing::ElementsAre(other->thread("bob").owner(), jvm().thread("carol").owner()));
    for (const json::value& each : told.at("waiters").as_array())
        EXPECT_TRUE(each.at("listens").as_bool());

    user.force();
    (void)soon(std::move(waiting.answer));
    EXPECT_TRUE(wanted.is_held());
    EXPECT_FALSE(support::is_ready(waiting_too.answer));
    EXPECT_FALSE(held.unlock());
    EXPECT_TRUE(wanted.unlock());
    (void)soon(std::move(waiting_too.answer));
    EXPECT_TRUE(wanted_too.unlock());
    EXPECT_TRUE(state_of(server()).empty());
}

class ShellShared : public shared_meeting {};
INSTANTIATE_TEST_SUITE_P(Redisson, ShellShared, testing::ValuesIn(one_way_at({"getReadWriteLock"})),
                         name_of);

TEST_P(ShellShared, TellsJvmsReadersAndLetsAWriterIn) {
    const shell user{server().url()};
    const std::unique_ptr<remote_client> other = another(true);
    remote_lock reads = reader(jvm(), "alice"), reads_too = reader(*other, "bob"),
                writes = writer(*other, "carol");
    reads.lock(for_long);
    reads_too.lock(for_long);
    ongoing waiting = parked(*other, writes);

    const json::value told = user.inspect();
    EXPECT_EQ(told.at("kind").as_string(), "read-write lock");
    EXPECT_THAT(
        owners_in(told, "owners"),
        testing::UnorderedElementsAre(jvm().thread("alice").owner(), other->thread("bob").owner()));
    for (const json::value& each : told.at("owners").as_array()) {
        EXPECT_FALSE(each.at("writes").as_bool());
        EXPECT_GT(each.at("lease_left_ms").as_int64(), 0);
    }
    EXPECT_EQ(told.at("listeners").as_int64(), 1);

    user.force();
    (void)soon(std::move(waiting.answer));
    const json::value now = user.inspect();
    EXPECT_THAT(owners_in(now, "owners"),
                testing::ElementsAre(StartsWith(other->thread("carol").owner())));
    EXPECT_TRUE(now.at("owners").at(0).at("writes").as_bool());
    EXPECT_TRUE(writes.unlock());
    // What timed the readers' leases stays as long as they would, as after Redisson's own force.
    EXPECT_FALSE(state_of(server()).contains("L"));
}

class ShellFenced : public meeting {};
INSTANTIATE_TEST_SUITE_P(Redisson, ShellFenced, testing::ValuesIn(one_way_at({"getFencedLock"})),
                         name_of);

TEST_P(ShellFenced, TellsAJvmsTokenAndTheNextHoldHasAHigherOne) {
    const shell user{server().url()};
    const std::unique_ptr<remote_client> other = another(true);
    remote_lock held = jvm().thread("alice").lock("L", GetParam().getter),
                wanted = other->thread("bob").lock("L", GetParam().getter);
    const std::int64_t token = held.lock_and_get_token();
    transcript seen{server().socket_path()};
    ongoing waiting = wanted.begin_lock_and_get_token();
    // Once at first, and once when it listens: it may have missed a release before.
    ASSERT_TRUE(eventually([&] {
        return std::ranges::count_if(seen.all(), [&](const entry& each) {
                   return each.is_script() && each.mentions(other->id());
               }) >= 2;
    }));

    const json::value told = user.inspect();
    EXPECT_EQ(told.at("last_token").as_int64(), token);
    EXPECT_THAT(owners_in(told, "owners"), testing::ElementsAre(jvm().thread("alice").owner()));

    user.force();
    EXPECT_EQ(soon(std::move(waiting.answer)).as_int64(), token + 1);
    EXPECT_EQ(user.inspect().at("last_token").as_int64(), token + 1);
    EXPECT_FALSE(held.unlock());
    EXPECT_TRUE(wanted.unlock());
}

} // namespace
} // namespace holdfast::interop
