// SPDX-License-Identifier: Apache-2.0
// The store with a fake server that has a small tree of nodes. The test decides when a reply is
// sent.
#include "session_fixture.hpp"
#include "store/zookeeper/nodes.hpp"
#include "store/zookeeper/zookeeper_store.hpp"
#include "support/recorder.hpp"

#include <holdfast/counters.hpp>
#include <holdfast/error.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using zookeeper::jute_reader;
using zookeeper::jute_writer;
using zookeeper::node_mode;

class ScriptedStore : public on_fake_zookeeper {
protected:
    static constexpr std::int32_t no_node = -101;

    ScriptedStore() {
        how_.chroot = "/team";
        how_.session_timeout = 60s;
        how_.command_timeout = 3s;
        nodes_["/team"];
        server_.improvises = [this](const fake_zookeeper::asked& one) { return reply(one); };
    }
    ~ScriptedStore() override {
        if (store_)
            store_->close();
        store_.reset();
        server_.improvises = {}; // it refers to this object
    }

    zookeeper::zookeeper_store& store() {
        if (!store_) {
            store_context home = context();
            home.poll_bound = 10s;
            home.announce = false;
            auto session = zookeeper::make_session(how_, home);
            store_.emplace(std::move(session), std::move(home), how_);
        }
        return *store_;
    }

    ask wish(const std::string& name, lock_kind kind = lock_kind::plain) {
        ask want{name, next_owner(), kind};
        want.lease_time = 30s;
        want.give_up_at = time_point::max();
        return want;
    }
    ask upgrade_of(const ask& read) {
        ask want = wish(read.name.text, lock_kind::write);
        want.under = read.owner.number;
        return want;
    }
    owner_id next_owner() { return {client_, ++last_number_}; }
    std::unique_ptr<place> line_up(ask want) {
        return store().locks().line_up(std::move(want), *wake_);
    }
    /// Takes a free lock.
    ask take(const std::string& name, lock_kind kind = lock_kind::plain) {
        ask want = wish(name, kind);
        const auto spot = line_up(want);
        const auto looked = begin(spot->look());
        EXPECT_TRUE(looked->answer && looked->answer->granted) << looked->text;
        return want;
    }
    void set_permits(const std::string& name, std::int64_t number) {
        const auto set = begin(store().counters()->change(
            {name, next_owner(), counter_kind::permits, counter_verb::set_new, number}));
        EXPECT_TRUE(set->answer && set->answer->done) << set->text;
    }

    std::vector<std::string> children(const std::string& path) const {
        return children_in(nodes_, path);
    }
    static std::vector<std::string> children_in(const std::map<std::string, std::string>& nodes,
                                                const std::string& path) {
        std::vector<std::string> names;
        for (const auto& [each, data] : nodes)
            if (each != "/" && zookeeper::parent_of(each) == path)
                names.emplace_back(zookeeper::last_part(each));
        return names;
    }

    /// Appends the next number below the node's parent.
    std::string numbered(const std::string& path) {
        std::array<char, 16> text{};
        const int number = numbers_[std::string{zookeeper::parent_of(path)}]++;
        std::snprintf(text.data(), text.size(), "%010d", number);
        return path + text.data();
    }

    /// Sends the oldest answer that was held back.
    void send_next_answer() {
        server_.last().send(held_back_.front());
        held_back_.pop_front();
        settle();
    }

    std::map<std::string, std::string> nodes_; ///< data of each node, by its path
    /// Nodes that a lagging server knows. A sync ends the lag.
    std::optional<std::map<std::string, std::string>> lagging_;
    /// Returns whether the answer, and all later answers, are held back.
    std::function<bool(const fake_zookeeper::asked&)> is_held_back_;
    std::deque<std::string> held_back_;

private:
    std::optional<std::string> reply(const fake_zookeeper::asked& one) {
        if (one.what == opcode::ping)
            return std::nullopt;
        std::string said = reply_at_once(one);
        if (held_back_.empty() && !(is_held_back_ && is_held_back_(one)))
            return said;
        held_back_.push_back(std::move(said));
        return std::string{};
    }

    std::string reply_at_once(const fake_zookeeper::asked& one) {
        jute_reader from{one.body};
        if (one.what == opcode::multi)
            return server_.answer(one.number, 0, checks(from));
        const std::string path{from.text()};
        if (one.what == opcode::create2 || one.what == opcode::create_container)
            return create(one.number, path, from);
        if (one.what == opcode::sync)
            lagging_.reset();
        if (one.what == opcode::sync)
            return server_.answer(one.number, 0, fake_zookeeper::text(path));
        const bool writes = one.what == opcode::set_data || one.what == opcode::remove;
        const std::map<std::string, std::string>& known = lagging_ && !writes ? *lagging_ : nodes_;
        if (!known.contains(path))
            return server_.answer(one.number, no_node);
        switch (one.what) {
        case opcode::get_children:
            return server_.answer(one.number, 0, fake_zookeeper::texts(children_in(known, path)));
        case opcode::get_data:
            return server_.answer(one.number, 0, fake_zookeeper::text(known.at(path)) + stat());
        case opcode::set_data:
            nodes_[path] = from.text(); // whatever version was asked for
            return server_.answer(one.number, 0, stat());
        case opcode::remove:
            nodes_.erase(path);
            return server_.answer(one.number);
        default:
            return server_.answer(one.number, 0, stat());
        }
    }

    /// Returns the state of a node. Each node belongs to the newest session.
    std::string stat() const { return fake_zookeeper::stat(server_.zxid, server_.sessions.back()); }

    std::string create(std::int32_t number, std::string path, jute_reader& from) {
        const std::string data{from.text()};
        for (std::int32_t left = from.number(); left > 0; --left) {
            (void)from.number();
            (void)from.text();
            (void)from.text();
        }
        const auto mode = static_cast<node_mode>(from.number());
        const std::string parent{zookeeper::parent_of(path)};
        if (!nodes_.contains(parent))
            return server_.answer(number, no_node);
        if (mode == node_mode::ephemeral_sequential)
            path = numbered(path);
        if (!nodes_.emplace(path, data).second)
            return server_.answer(number, -110);
        return server_.answer(number, 0, fake_zookeeper::text(path) + stat());
    }

    std::string checks(jute_reader& from) const {
        std::vector<bool> there;
        while (from.number() != -1) {
            (void)from.flag();
            (void)from.number();
            there.push_back(nodes_.contains(std::string{from.text()}));
            (void)from.number();
        }
        const auto missing = std::ranges::find(there, false);
        std::string out;
        jute_writer to{out};
        for (auto each = there.begin(); each != there.end(); ++each) {
            const std::int32_t error = each < missing ? 0 : each == missing ? no_node : -2;
            if (missing == there.end())
                to.number(13).flag(false).number(0);
            else
                to.number(-1).flag(false).number(error).number(error);
        }
        to.number(-1).flag(true).number(-1);
        return out;
    }

    std::array<std::uint8_t, 16> client_{1};
    std::uint64_t last_number_ = 0;
    std::map<std::string, int> numbers_;
    std::unique_ptr<alarm> wake_ = clock_.make_alarm();
    std::optional<zookeeper::zookeeper_store> store_;
};

// A chroot that somebody deletes while clients use it.

class DeletedChroot : public ScriptedStore {
protected:
    void delete_chroot() { nodes_.clear(); }

    template <typename T>
    static void expect_missing(const call<T>& failed) {
        EXPECT_EQ(failed->code, store_errc::not_set_up) << failed->text;
        EXPECT_THAT(failed->text, HasSubstr("the chroot '/team' does not exist at "));
    }
};

TEST_F(DeletedChroot, EachAttemptFails) {
    take("lock");
    set_permits("seats", 1);
    delete_chroot();
    for (const lock_kind kind :
         {lock_kind::plain, lock_kind::fenced, lock_kind::fair, lock_kind::read, lock_kind::write})
        for (const bool waits : {true, false}) {
            ask want = wish("another", kind);
            want.waits = waits;
            const auto spot = line_up(want);
            expect_missing(begin(spot->look()));
            EXPECT_FALSE(spot->must_leave());
        }
    for (const char* name : {"seats", "others"})
        for (const bool waits : {true, false}) {
            ask want = wish(name, lock_kind::permit);
            want.waits = waits;
            const auto spot = line_up(want);
            expect_missing(begin(spot->look()));
            EXPECT_FALSE(spot->must_leave());
        }
    EXPECT_THAT(nodes_, IsEmpty());
}

TEST_F(DeletedChroot, EachRequestOfAnOperatorFails) {
    take("lock");
    set_permits("seats", 1);
    delete_chroot();
    inspector& view = store().operators_view();
    expect_missing(begin(view.describe({"lock"})));
    expect_missing(begin(view.inspect({"lock"})));
    expect_missing(begin(view.list("*", 10)));
    expect_missing(begin(view.last_token({"lock"})));
    expect_missing(begin(view.force_release({"lock"}, "")));
    expect_missing(begin(view.force_kind({"lock"}, lock_kind::plain)));
    const auto wake = clock_.make_alarm();
    expect_missing(begin(view.listen({"lock"}, *wake)));
    counter_store& counters = *store().counters();
    expect_missing(begin(counters.inspect({"seats"}, counter_kind::permits)));
    expect_missing(begin(counters.list(counter_kind::permits, "*", 10)));
    for (const counter_verb verb : {counter_verb::set_new, counter_verb::set, counter_verb::add,
                                    counter_verb::give_back, counter_verb::erase})
        expect_missing(
            begin(counters.change({"seats", next_owner(), counter_kind::permits, verb, 1})));
}

TEST_F(DeletedChroot, WaiterForALockFailsAndLeaves) {
    take("lock");
    const auto spot = line_up(wish("lock"));
    EXPECT_FALSE(begin(spot->look())->answer.value().granted);
    EXPECT_THAT(children("/team/holdfast/lock"), SizeIs(2));
    delete_chroot();
    expect_missing(begin(spot->look()));
    const auto left = begin(spot->leave());
    EXPECT_TRUE(left->answer) << left->text;
    EXPECT_FALSE(spot->must_leave());
}

TEST_F(DeletedChroot, WaiterForAPermitFailsAndLeaves) {
    set_permits("seats", 1);
    take("seats", lock_kind::permit);
    const auto spot = line_up(wish("seats", lock_kind::permit));
    EXPECT_FALSE(begin(spot->look())->answer.value().granted);
    delete_chroot();
    expect_missing(begin(spot->look()));
    const auto left = begin(spot->leave());
    EXPECT_TRUE(left->answer) << left->text;
    EXPECT_FALSE(spot->must_leave());
}

TEST_F(DeletedChroot, WaiterForTheTotalOfPermitsFails) {
    const auto spot = line_up(wish("seats", lock_kind::permit));
    EXPECT_FALSE(begin(spot->look())->answer.value().granted);
    delete_chroot();
    expect_missing(begin(spot->look()));
}

TEST_F(DeletedChroot, HoldIsLostAndItsReleaseSaysSo) {
    const ask held = take("lock");
    delete_chroot();
    const hold* const all[] = {&held};
    const renewal_options how{.lease_time = 30s};
    single_renewal said;
    EXPECT_TRUE(begin(store().locks().renew(all, how, said))->answer);
    EXPECT_FALSE(said.said().granted);
    const auto released = begin(store().locks().release(held));
    ASSERT_TRUE(released->answer) << released->text;
    EXPECT_FALSE(released->answer->was_ours);
}

TEST_F(DeletedChroot, ReleaseBeforeTheNextRenewalReportsTheLoss) {
    const ask held = take("lock");
    delete_chroot();
    const auto released = begin(store().locks().release(held));
    ASSERT_TRUE(released->answer) << released->text;
    EXPECT_FALSE(released->answer->was_ours);
}

TEST_F(DeletedChroot, AttemptWithALostAnswerLeavesAtOnce) {
    take("lock");
    auto spot = line_up(wish("lock"));
    is_held_back_ = [](const auto& one) { return one.what == opcode::create2; };
    const auto looked = begin(spot->look());
    EXPECT_FALSE(looked->done);
    lose_connection();
    EXPECT_EQ(looked->code, errc::outcome_unknown);
    EXPECT_TRUE(spot->uncertain());
    held_back_.clear();
    is_held_back_ = {};
    delete_chroot();
    pass(how_.backoff_max);
    const auto left = begin(spot->leave());
    EXPECT_TRUE(left->answer) << left->text;
    EXPECT_FALSE(spot->must_leave());
}

TEST_F(DeletedChroot, LockIsFreeAgainBelowANewChroot) {
    take("lock");
    delete_chroot();
    auto spot = line_up(wish("lock"));
    expect_missing(begin(spot->look()));
    nodes_["/team"];
    EXPECT_TRUE(begin(spot->look())->answer.value().granted);
}

// A server that answers slowly.

class SlowServer : public ScriptedStore {};

TEST_F(SlowServer, UpgradeWithRivalsEndsWithinTwoCommandTimeouts) {
    const ask read = take("lock", lock_kind::read);
    take("lock", lock_kind::read); // another reader, for which all upgrades wait
    std::vector<std::unique_ptr<place>> rivals;
    for (int i = 0; i < 3; ++i) {
        rivals.push_back(line_up(upgrade_of(read)));
        EXPECT_FALSE(begin(rivals.back()->look())->answer.value().granted);
    }
    is_held_back_ = [](const auto& one) { return one.what == opcode::get_data; };
    const auto spot = line_up(upgrade_of(read));
    const time_point began = clock_.now();
    const std::size_t before = server_.count(opcode::get_data);
    const auto looked = begin(spot->look());
    for (int i = 0; i < 10 && !looked->done; ++i) {
        pass(2s);
        ASSERT_THAT(held_back_, SizeIs(1));
        send_next_answer();
    }
    EXPECT_LE(clock_.now() - began, 2 * how_.command_timeout);
    EXPECT_EQ(looked->code, errc::unreachable) << looked->text;
    EXPECT_THAT(looked->text,
                HasSubstr("answers too slowly: the time limit of an attempt is 6000 ms"));
    EXPECT_EQ(server_.count(opcode::get_data), before + 2);
    EXPECT_TRUE(spot->must_leave());
    is_held_back_ = {};
    const auto again = begin(spot->look());
    ASSERT_TRUE(again->answer) << again->text;
    EXPECT_FALSE(again->answer->granted);
    EXPECT_EQ(server_.count(opcode::get_data), before + 5) << "the third rival, and two watches";
}

TEST_F(SlowServer, TryThatFindsTheLockBusyLeavesItsNodeToTheCleanup) {
    take("another");
    ask want = wish("lock");
    want.waits = false;
    is_held_back_ = [](const auto& one) {
        return one.what == opcode::get_children || one.what == opcode::create2;
    };
    const auto spot = line_up(want);
    const time_point began = clock_.now();
    const auto looked = begin(spot->look());
    pass(2s);
    const std::string parent = "/team/holdfast/lock";
    nodes_[parent];
    nodes_[numbered(parent + "/_c_8743c9c0-0795-4907-87fd-6c719a6b4586-lock-")];
    send_next_answer(); // the list from before the stranger came
    pass(2s);
    while (!held_back_.empty())
        send_next_answer();
    EXPECT_LE(clock_.now() - began, 2 * how_.command_timeout);
    ASSERT_TRUE(looked->answer) << looked->text;
    EXPECT_FALSE(looked->answer->granted);
    EXPECT_TRUE(spot->must_leave());
    is_held_back_ = {};
    EXPECT_TRUE(begin(spot->leave())->answer);
    EXPECT_THAT(children(parent), SizeIs(1));
}

// A server that lags behind the others. It lists nodes that were deleted before.

class LaggingServer : public ScriptedStore {
protected:
    static constexpr const char* stranger = "/_c_8743c9c0-0795-4907-87fd-6c719a6b4586";

    /// A stranger's node below `parent` is deleted, and the server does not know it yet.
    void delete_unnoticed(const std::string& parent, const std::string& mark) {
        nodes_.try_emplace(parent);
        const std::string path = numbered(parent + stranger + mark);
        nodes_[path];
        lagging_ = nodes_;
        nodes_.erase(path);
    }
    void expect_grant(ask want) {
        want.waits = false;
        const auto spot = line_up(want);
        const auto looked = begin(spot->look());
        ASSERT_TRUE(looked->answer) << looked->text;
        EXPECT_TRUE(looked->answer->granted);
    }
};

TEST_F(LaggingServer, TryFindsALockThatWasReleasedBefore) {
    take("another");
    delete_unnoticed("/team/holdfast/lock", "-lock-");
    expect_grant(wish("lock"));
}

TEST_F(LaggingServer, TryFindsALockOfAnotherKindThatWasReleasedBefore) {
    take("another");
    delete_unnoticed("/team/holdfast/lock", "-__WRIT__");
    expect_grant(wish("lock"));
}

TEST_F(LaggingServer, TryFindsAPermitThatWasGivenBackBefore) {
    set_permits("seats", 1);
    delete_unnoticed("/team/holdfast/seats/leases", "-lease-");
    expect_grant(wish("seats", lock_kind::permit));
}

TEST_F(LaggingServer, TryFindsATotalThatWasSetBefore) {
    take("another");
    const std::map<std::string, std::string> before = nodes_;
    set_permits("seats", 1);
    lagging_ = before;
    expect_grant(wish("seats", lock_kind::permit));
}

TEST_F(LaggingServer, TotalThatWasSetBeforeIsErased) {
    take("another");
    const std::map<std::string, std::string> before = nodes_;
    set_permits("seats", 1);
    lagging_ = before;
    const auto erased = begin(store().counters()->change(
        {"seats", next_owner(), counter_kind::permits, counter_verb::erase}));
    ASSERT_TRUE(erased->answer) << erased->text;
    EXPECT_TRUE(erased->answer->done);
    EXPECT_FALSE(nodes_.contains("/team/holdfast/seats"));
}

TEST_F(LaggingServer, TotalIsSetWhereALockWasReleasedBefore) {
    take("another");
    delete_unnoticed("/team/holdfast/seats", "-lock-");
    set_permits("seats", 1);
}

TEST_F(LaggingServer, TryOfATakenLockWritesNothing) {
    take("lock");
    ask want = wish("lock");
    want.waits = false;
    const std::size_t before = server_.count(opcode::create2);
    const auto spot = line_up(want);
    EXPECT_FALSE(begin(spot->look())->answer.value().granted);
    EXPECT_EQ(server_.count(opcode::create2), before);
    EXPECT_EQ(server_.count(opcode::sync), 1u);
}

// A process that stood still for most of the session's timeout, while its session lives on.

class FrozenProcess : public ScriptedStore {
protected:
    FrozenProcess() { how_.session_timeout = session_length; }

    void freeze() {
        pass(10s);
        clock_.stand_still(session_length * 11 / 12);
        settle();
        ASSERT_FALSE(server_.sessions.empty());
    }
    /// Makes an attempt after the process has stood still. It must be granted.
    void expect_grant(const ask& want) {
        const auto spot = line_up(want);
        freeze();
        const auto looked = begin(spot->look());
        pass(100ms);
        ASSERT_TRUE(looked->answer) << looked->text;
        EXPECT_TRUE(looked->answer->granted);
        EXPECT_GT(looked->answer->term, session_length / 2);
        EXPECT_THAT(server_.sessions, SizeIs(1)) << "it is the same session";
    }
    void release(const hold& held) {
        const auto released = begin(store().locks().release(held));
        EXPECT_TRUE(released->answer && released->answer->was_ours) << released->text;
    }

    static constexpr duration session_length = 6s;
};

TEST_F(FrozenProcess, EachKindOfLockIsGranted) {
    take("held");
    for (const bool waits : {true, false})
        for (const lock_kind kind : {lock_kind::plain, lock_kind::fenced, lock_kind::fair,
                                     lock_kind::read, lock_kind::write}) {
            ask want = wish("lock", kind);
            want.waits = waits;
            expect_grant(want);
            release(want);
        }
}

TEST_F(FrozenProcess, PermitsAreGranted) {
    take("held");
    set_permits("seats", 2);
    for (const bool waits : {true, false}) {
        ask want = wish("seats", lock_kind::permit);
        want.waits = waits;
        expect_grant(want);
        release(want);
    }
}

TEST_F(FrozenProcess, UpgradeAndDowngradeAreGranted) {
    for (const bool waits : {true, false}) {
        const ask read = take("read", lock_kind::read);
        ask upgrade = upgrade_of(read);
        upgrade.waits = waits;
        expect_grant(upgrade);
        release(upgrade);
        release(read);
        const ask write = take("written", lock_kind::write);
        ask downgrade = wish("written", lock_kind::read);
        downgrade.under = write.owner.number;
        downgrade.waits = waits;
        expect_grant(downgrade);
        release(write);
        release(downgrade);
    }
}

// The process stood still for longer than its session. The server has ended the session, and
// closes the connection at the next request.
TEST_F(FrozenProcess, AttemptAfterTheEndOfItsSessionIsMadeInANewSession) {
    const ask held = take("held");
    for (const bool waits : {true, false})
        for (const lock_kind kind : {lock_kind::plain, lock_kind::fair, lock_kind::read}) {
            ask want = wish("lock", kind);
            want.waits = waits;
            const auto spot = line_up(want);
            pass(10s);
            clock_.stand_still(session_length * 7 / 6);
            server_.sessions.clear();
            bool is_expired = true;
            const auto usual = server_.improvises;
            server_.improvises = [&](const fake_zookeeper::asked& one) {
                if (!std::exchange(is_expired, false))
                    return usual(one);
                server_.drop_connections();
                return std::optional<std::string>{std::string{}};
            };
            const auto looked = begin(spot->look());
            pass(1s);
            server_.improvises = usual;
            ASSERT_TRUE(looked->answer) << looked->text;
            EXPECT_TRUE(looked->answer->granted);
            EXPECT_FALSE(is_expired);
            EXPECT_THAT(server_.sessions, SizeIs(1)) << "it is a new session";
            release(want);
        }
}

TEST_F(FrozenProcess, WaiterThatWaitedBeforeIsGranted) {
    take("held");
    const ask first = take("lock");
    const ask second = wish("lock");
    const auto spot = line_up(second);
    EXPECT_FALSE(begin(spot->look())->answer.value().granted);
    freeze();
    release(first);
    const auto looked = begin(spot->look());
    pass(100ms);
    ASSERT_TRUE(looked->answer) << looked->text;
    EXPECT_TRUE(looked->answer->granted);
    EXPECT_GT(looked->answer->term, session_length / 2);
}

} // namespace
} // namespace holdfast
