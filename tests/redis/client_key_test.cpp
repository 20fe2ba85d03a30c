// SPDX-License-Identifier: Apache-2.0
// One key tells who a client is: written beside its locks, renewed by what it does, gone with it.
#include "runtime/self.hpp"
#include "support/eventually.hpp"
#include "support/loop_thread.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"
#include "support/shifted_clock.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/json.hpp>

#include <memory>
#include <mutex>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::eventually;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ClientKey : public support::on_each_server {
protected:
    options reaching(const std::string& user = {}) {
        redis::options where;
        where.unix_socket = server().socket_path();
        if (!user.empty()) {
            where.user = user;
            where.password = "its";
        }
        return {.store = redis::make_store(where), .label = "till \"3\"", .observer = told_};
    }

    static std::string key_of(const client& c) { return "holdfast_client:" + c.id(); }
    bool exists(const std::string& key) { return server().command({"EXISTS", key}).integer == 1; }
    duration left(const std::string& key) {
        return duration{server().command({"PTTL", key}).integer};
    }
    std::int64_t writes() {
        const std::string all = server().command({"INFO", "commandstats"}).text;
        const std::size_t at = all.find("cmdstat_set:calls=");
        return at == all.npos ? 0 : std::stoll(all.substr(at + 18));
    }

    std::shared_ptr<support::recorder> told_ = std::make_shared<support::recorder>();
};
HOLDFAST_ON_EACH_SERVER(ClientKey);

TEST_P(ClientKey, IsWrittenOnceForManyLocksAndTakenAwayAtTheEnd) {
    client home{reaching()};
    (void)home.inspect("L");
    (void)home.list();
    EXPECT_FALSE(exists(key_of(home))) << "who only looks is nobody's holder";

    mutex lock{home, "L"};
    for (int i = 0; i < 100; ++i)
        const std::scoped_lock held{lock};
    ASSERT_TRUE(eventually([&] { return exists(key_of(home)); }));
    EXPECT_EQ(writes(), 1);
    EXPECT_GT(left(key_of(home)), 50s);
    EXPECT_LE(left(key_of(home)), 1min);
    home.close();
    EXPECT_FALSE(exists(key_of(home)));
    EXPECT_THAT(told_->of(event_kind::impaired), IsEmpty());
}

TEST_P(ClientKey, IsWrittenByWhoHasAPlaceToo) {
    client holder{reaching()}, in_queue{reaching()}, writer{reaching()}, listener{reaching()};
    fair_mutex fair{holder, "F"}, next{in_queue, "F"};
    shared_mutex shared{holder, "S"}, writes{writer, "S"};
    mutex plain{holder, "P"}, waits{listener, "P"};
    const std::scoped_lock held{fair, shared.shared(), plain};
    EXPECT_FALSE(next.try_lock_for(50ms));
    EXPECT_FALSE(writes.try_lock_for(50ms));
    EXPECT_FALSE(waits.try_lock_for(50ms));
    EXPECT_TRUE(eventually([&] { return exists(key_of(in_queue)) && exists(key_of(writer)); }));
    EXPECT_FALSE(exists(key_of(listener))) << "nobody could ask who that is";
}

TEST_P(ClientKey, SaysWhoTheClientIs) {
    client home{reaching()};
    mutex lock{home, "L"};
    lock.lock();
    ASSERT_TRUE(eventually([&] { return exists(key_of(home)); }));
    const auto card = boost::json::parse(server().command({"GET", key_of(home)}).text).as_object();
    const runtime::self here = runtime::this_process();
    EXPECT_EQ(card.at("host").as_string(), here.host);
    EXPECT_EQ(card.at("pid").as_int64(), here.pid);
    EXPECT_EQ(card.at("program").as_string(), "redis_test");
    EXPECT_EQ(card.at("label").as_string(), "till \"3\"");

    const std::optional<lock_state> seen = client{reaching()}.inspect("L");
    ASSERT_TRUE(seen && seen->owners.size() == 1 && seen->owners[0].client);
    EXPECT_EQ(seen->owners[0].client->host, here.host);
    EXPECT_EQ(seen->owners[0].client->pid, here.pid);
    EXPECT_EQ(seen->owners[0].client->label, "till \"3\"");
    EXPECT_NEAR(static_cast<double>(seen->owners[0].client->since.count()),
                std::stod(server().command({"TIME"}).items.at(0).text), 60);
    lock.unlock();
}

TEST_P(ClientKey, OutlivesTheLongestHold) {
    client home{reaching()};
    mutex lock{home, "L"};
    lock.lock(lease_time{1h});
    ASSERT_TRUE(eventually([&] { return exists(key_of(home)); }));
    EXPECT_GT(left(key_of(home)), 59min);
    lock.unlock();
    lock.lock(); // a shorter hold does not shorten it
    EXPECT_GT(left(key_of(home)), 59min);
    EXPECT_EQ(writes(), 1);
    lock.unlock();
    lock.lock(lease_time{2h});
    EXPECT_TRUE(eventually([&] { return left(key_of(home)) > 119min; }));
    lock.unlock();
}

TEST_P(ClientKey, StaysWithALockThatIsLeftBehind) {
    options how = reaching();
    how.close_patience = 0ms;
    client home{std::move(how)};
    mutex lock{home, "L"};
    lock.lock();
    ASSERT_TRUE(eventually([&] { return exists(key_of(home)); }));
    home.close();
    EXPECT_TRUE(exists("L"));
    EXPECT_TRUE(exists(key_of(home))) << "somebody may ask whose lock that is";
}

TEST_P(ClientKey, IsNotWrittenWhereTheOptionSaysSo) {
    options how = reaching();
    how.announce = false;
    client home{std::move(how)};
    mutex lock{home, "L"};
    { const std::scoped_lock held{lock}; }
    home.close();
    EXPECT_EQ(writes(), 0);
}

TEST_P(ClientKey, IsWrittenAnewByRenewalsAlone) {
    support::loop_thread loop;
    support::shifted_clock time{loop.io().get_executor()};
    options how = reaching();
    how.executor_is_serial = true;
    client home{loop.io().get_executor(), time, std::move(how)};
    mutex lock{home, "L"};
    lock.lock();
    ASSERT_TRUE(eventually([&] { return writes() == 1; }));
    time.shift(11s); // a renewal, and no beat is due
    ASSERT_TRUE(eventually([&] { return left("L") > 29s; }));
    EXPECT_EQ(writes(), 1);
    time.shift(11s);
    EXPECT_TRUE(eventually([&] { return writes() == 2; }));
    lock.unlock();
    time.shift(10min);
    EXPECT_EQ(writes(), 2) << "who does nothing writes nothing";
    home.close();
}

TEST_P(ClientKey, ThatMayNotBeWrittenIsToldOnceAndFailsNoLock) {
    server().command({"ACL", "SETUSER", "app", "on", ">its", "+@all", "-set", "~*", "&*"});
    client home{reaching("app")};
    mutex lock{home, "L"};
    lock.lock();
    ASSERT_TRUE(eventually([&] { return told_->count(event_kind::impaired) == 1; }));
    lock.unlock();
    lock.lock(lease_time{1h}); // due again, and denied again
    lock.unlock();
    home.close();
    EXPECT_EQ(told_->count(event_kind::impaired), 1u);
    EXPECT_THAT(told_->last(event_kind::impaired)->text,
                HasSubstr("granted: +set +del ~holdfast_client:*"));
}

TEST_P(ClientKey, OfARestartedServerIsWrittenAgain) {
    client home{reaching()};
    mutex lock{home, "L"};
    { const std::scoped_lock held{lock}; }
    ASSERT_TRUE(eventually([&] { return exists(key_of(home)); }));
    server().command({"FLUSHALL"});
    lock.lock(lease_time{2min}); // a longer hold is due at once
    EXPECT_TRUE(eventually([&] { return exists(key_of(home)); }));
    lock.unlock();
}

TEST_P(ClientKey, DoesNotKeepAClientThatClosesFromADeadServer) {
    client home{reaching()};
    mutex lock{home, "L"};
    { const std::scoped_lock held{lock}; }
    ASSERT_TRUE(eventually([&] { return exists(key_of(home)); }));
    server().pause();
    const auto before = std::chrono::steady_clock::now();
    home.close();
    EXPECT_LT(std::chrono::steady_clock::now() - before, 2s);
    server().resume();
}

} // namespace
} // namespace holdfast
