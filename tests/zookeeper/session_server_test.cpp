// SPDX-License-Identifier: Apache-2.0
// Sessions at real servers: their replies are as the client expects.
#include "session_fixture.hpp"
#include "support/recorder.hpp"

#include <holdfast/error.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <cctype>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::zookeeper_server;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using zookeeper::node_mode;
using zookeeper::session_news;
using refusal = zookeeper::session::refusal;
using removal = zookeeper::session::removal;

class SessionOnServer : public ::testing::TestWithParam<support::server_binary> {
protected:
    void SetUp() override {
        support::make_or_skip([this] { start({}); });
    }
    void start(zookeeper_server::options how) {
        server_.reset();
        server_ = std::make_unique<zookeeper_server>(GetParam(), how);
    }

    /// A JVM may take long to start again, and its sessions shall last for longer.
    void start_for_long_sessions() { start({.lines = {"maxSessionTimeout=30000"}}); }

    zookeeper::options how(duration timeout = 4s) const {
        return session_options({server_->port()}, timeout);
    }

    std::unique_ptr<zookeeper_server> server_;
};

INSTANTIATE_TEST_SUITE_P(All, SessionOnServer, ::testing::ValuesIn(support::zookeepers()),
                         [](const auto& which) {
                             std::string name = which.param.label;
                             std::erase_if(name, [](char c) { return !std::isalnum(c); });
                             return name;
                         });

TEST_P(SessionOnServer, CreatesListsAndRemoves) {
    running_session mine{how()};
    EXPECT_EQ(mine.make("/p/n", node_mode::persistent).why, refusal::no_parent);
    EXPECT_EQ(mine.make("/p", node_mode::container).why, refusal::none);
    EXPECT_EQ(mine.make("/p", node_mode::container).why, refusal::exists);
    const auto first = mine.make("/p/a-", node_mode::ephemeral_sequential);
    EXPECT_EQ(first.node.path, "/p/a-0000000000");
    EXPECT_EQ(first.node.stat.ephemeral_owner, mine->state().id);
    zookeeper::new_node node{"/p/b-", "me", node_mode::ephemeral_sequential};
    const auto both = mine.run(mine->create_and_list(node, "/p"));
    EXPECT_GT(both.made.node.stat.czxid, first.node.stat.czxid);
    EXPECT_THAT(*both.children, ::testing::UnorderedElementsAre("a-0000000000", "b-0000000001"));
    EXPECT_EQ(mine.run(mine->list("/none")), std::nullopt);
    EXPECT_EQ(mine.run(mine->get(first.node.path)).value().data, "me");
    EXPECT_TRUE(mine.run(mine->set(first.node.path, "new")));
    EXPECT_EQ(mine.run(mine->get(first.node.path)).value().stat.version, 1);
    EXPECT_FALSE(mine.run(mine->set("/none", "new")));
    mine.run(mine->sync("/p"));
    EXPECT_EQ(mine.run(mine->remove("/p")), removal::has_children);
    EXPECT_EQ(mine.run(mine->remove(first.node.path)), removal::removed);
    EXPECT_EQ(mine.run(mine->remove(first.node.path)), removal::absent);
}

// What a term rests on: see src/zookeeper/session_expiry.hpp.
TEST_P(SessionOnServer, ChecksAreATransactionAlsoWhereANodeIsMissingAndASyncIsNone) {
    running_session mine{how()};
    const auto number = [&] {
        return mine.make("/n-", node_mode::ephemeral_sequential).node.stat.czxid;
    };
    const std::string there = mine.create("/there", node_mode::persistent);
    std::int64_t last = number();
    const auto transactions = [&] {
        const std::int64_t before = std::exchange(last, number());
        return last - before - 1;
    };
    const std::vector<std::string> none, both{there, there}, some{there, "/none", there};
    EXPECT_EQ(transactions(), 0);
    mine.run(mine->confirm(none, time_point::max()));
    EXPECT_EQ(transactions(), 1);
    EXPECT_THAT(mine.run(mine->confirm(both, time_point::max())), ElementsAre(true, true));
    EXPECT_EQ(transactions(), 1);
    EXPECT_THAT(mine.run(mine->confirm(some, time_point::max())), ElementsAre(true, false, true));
    EXPECT_EQ(transactions(), 1);
    mine.run(mine->remove("/none"));
    EXPECT_EQ(transactions(), 1) << "an error that is agreed upon";
    mine.run(mine->sync("/"));
    mine.run(mine->list("/"));
    EXPECT_EQ(transactions(), 0);
}

TEST_P(SessionOnServer, FiveHundredNodesAreConfirmedAtOnce) {
    running_session mine{how()};
    std::vector<std::string> paths;
    for (int i = 0; i < 500; ++i)
        paths.push_back(
            mine.create("/" + std::string(900, 'x') + "-", node_mode::ephemeral_sequential));
    EXPECT_THAT(mine.run(mine->confirm(paths, time_point::max())), ::testing::Each(true));
    mine.run(mine->remove(paths.front()));
    const auto there = mine.run(mine->confirm(paths, time_point::max()));
    EXPECT_EQ(std::count(there.begin(), there.end(), false), 1);
    EXPECT_FALSE(there.front());
}

TEST_P(SessionOnServer, WatchesAreToldOfChangesDeletionAndChildren) {
    running_session mine{how()}, other{how()};
    mine.create("/p", node_mode::persistent);
    const std::string path = mine.create("/p/n", node_mode::persistent);
    int told = 0;
    const auto watch_it = [&] {
        std::function<void()> tell = [&] { ++told; };
        return mine.run(mine->watch_node(path, tell));
    };
    auto watching = watch_it();
    EXPECT_EQ(mine.run(mine->watch_node("/none", [] {})), nullptr);
    other.run(other->set(path, "new"));
    mine.run_until([&] { return told == 1; });
    watching = watch_it();
    other.run(other->remove(path));
    mine.run_until([&] { return told == 2; });
}

TEST_P(SessionOnServer, NodesGoWithTheirSessionAtOnceWhenItDeparts) {
    running_session mine{how()}, other{how()};
    const std::string path = mine.create("/n", node_mode::ephemeral);
    EXPECT_TRUE(other.has(path));
    mine.run(mine->depart());
    EXPECT_FALSE(other.has(path));
    EXPECT_THAT(mine.news, ElementsAre(session_news::opened, session_news::ended));
}

TEST_P(SessionOnServer, OutlivesTheServer) {
    start_for_long_sessions();
    running_session mine{how(30s)};
    mine.use();
    const std::string path = mine.create("/n", node_mode::ephemeral);
    const std::int64_t before = mine->state().id;
    server_->restart();
    mine.run_until([&] { return mine.news.back() == session_news::resumed; });
    EXPECT_EQ(mine->state().id, before);
    EXPECT_TRUE(mine.has(path));
    EXPECT_THAT(mine.news,
                ElementsAre(session_news::opened, session_news::suspended, session_news::resumed));
}

TEST_P(SessionOnServer, ThatTheServerHasForgottenEndsAndAnotherIsOpened) {
    running_session mine{how(1s)};
    mine.use();
    mine.create("/n", node_mode::ephemeral);
    const std::int64_t before = mine->state().id;
    server_->restart_empty(); // it would refuse the number that we saw last, and for ever
    mine.run_until([&] { return mine->state().connected && mine->state().id != before; });
    EXPECT_FALSE(mine.has("/n"));
    EXPECT_THAT(mine.news, ElementsAre(session_news::opened, session_news::suspended,
                                       session_news::ended, session_news::opened));
}

// The client says nothing any more, at any moment of its heartbeats.
TEST_P(SessionOnServer, TheTermNeverOutlivesTheNode) {
    running_session other{how()};
    for (const duration busy : {0ms, 90ms, 333ms, 700ms, 1100ms}) {
        const auto is_silent_in_time = [&] {
            running_session mine{how(1s)};
            mine.use();
            const std::string path = mine.create("/n", node_mode::ephemeral);
            mine.run_for(busy);
            const time_point believed = mine->state().alive_until;
            const bool is_believed = believed > runtime::machine_time();
            while (other.has(path))
                ;
            EXPECT_GE(runtime::machine_time(), believed) << busy.count();
            return is_believed; // or a pause of a busy machine has ended the session before
        };
        EXPECT_TRUE(support::eventually(is_silent_in_time));
    }
}

TEST_P(SessionOnServer, AClientThatWasStoppedForLongFindsItsSessionEnded) {
    running_session mine{how(1s)}, other{how()};
    mine.use();
    const std::string path = mine.create("/n", node_mode::ephemeral);
    while (other.has(path))
        ;
    mine.run_until(
        [&] { return mine.news.back() == session_news::opened && mine.news.size() > 1; });
    EXPECT_EQ(std::count(mine.news.begin(), mine.news.end(), session_news::ended), 1);
    EXPECT_EQ(std::count(mine.news.begin(), mine.news.end(), session_news::resumed), 0);
}

TEST_P(SessionOnServer, AServerThatIsStoppedAndGoesOnIsGoneOnWith) {
    running_session mine{how()};
    mine.use();
    const std::string path = mine.create("/n", node_mode::ephemeral);
    server_->pause();
    zookeeper::options quick = how();
    mine.run_for(500ms);
    server_->resume();
    EXPECT_TRUE(mine.has(path));
}

TEST_P(SessionOnServer, NodesOfTheirCreatorAreClosedToOthersAlsoAfterAReconnection) {
    start_for_long_sessions();
    zookeeper::options own = how(30s);
    own.user = "app";
    own.password = "secret";
    own.acl = zookeeper::node_acl::creator;
    running_session mine{own}, other{how()};
    mine.use();
    const std::string path = mine.create("/n", node_mode::persistent);
    const auto refused = support::thrown_by([&] { other.has(path); });
    EXPECT_EQ(refused.code, store_errc::no_permission);
    EXPECT_THAT(refused.text, HasSubstr("NoAuth (-102) for the data of /n"));
    server_->restart();
    mine.run_until([&] { return mine.news.back() == session_news::resumed; });
    EXPECT_TRUE(mine.has(path));
}

TEST_P(SessionOnServer, WhoHasNotLoggedInCanOwnNothing) {
    zookeeper::options own = how();
    own.acl = zookeeper::node_acl::creator;
    running_session mine{own};
    EXPECT_EQ(support::code_of([&] { mine.create("/n", node_mode::persistent); }),
              store_errc::not_authenticated);
}

TEST_P(SessionOnServer, BelowAChrootThatIsThere) {
    running_session run_outside{how()};
    run_outside.create("/team", node_mode::persistent);
    zookeeper::options own = how();
    own.chroot = "/team";
    running_session mine{own};
    mine.use();
    EXPECT_EQ(mine.create("/n", node_mode::ephemeral), "/n");
    EXPECT_THAT(mine.run(mine->list("/")).value(), ElementsAre("n"));
    EXPECT_TRUE(run_outside.has("/team/n"));
    mine.run(mine->confirm({}, time_point::max()));
    EXPECT_GT(mine->state().alive_until, runtime::machine_time());
}

TEST_P(SessionOnServer, AServerSaysWhatItIsToAVisitor) {
    running_session mine{session_options({server_->port(), 1}, 4s)};
    const zookeeper::survey seen = mine.run(mine->look_around());
    EXPECT_FALSE(seen.over_tls);
    ASSERT_EQ(seen.servers.size(), 2u);
    const bool first = seen.servers[0].address == server_->address();
    const zookeeper::server_seen &up = seen.servers[first ? 0 : 1],
                                 &down = seen.servers[first ? 1 : 0];
    EXPECT_EQ(up.address, server_->address());
    EXPECT_EQ(up.trouble, "");
    EXPECT_EQ(up.role, "standalone");
    EXPECT_THAT(up.version, ::testing::MatchesRegex("3[.][0-9]+[.][0-9]+"));
    EXPECT_EQ(down.address, "127.0.0.1:1");
    EXPECT_THAT(down.trouble, HasSubstr("refused"));
}

// They allow that word always, since their own scripts ask for it.
TEST_P(SessionOnServer, AServerSaysWhatItIsWhateverItsListOfWordsAllows) {
    start({.lines = {"4lw.commands.whitelist=ruok,mntr"}});
    running_session mine{how()};
    const zookeeper::survey seen = mine.run(mine->look_around());
    EXPECT_EQ(seen.servers.front().role, "standalone");
    EXPECT_THAT(server_->say("conf"), HasSubstr("not in the whitelist"));
}

TEST_P(SessionOnServer, AThousandRequestsAreUnderWayAtOnce) {
    running_session mine{how()};
    mine.create("/p", node_mode::persistent);
    const auto make_all = [](zookeeper::session& at) -> asio::awaitable<int> {
        int made = 0, ended = 0;
        const auto wake = asio::any_io_executor{co_await asio::this_coro::executor};
        for (int i = 0; i < 1000; ++i) {
            zookeeper::new_node node{"/p/n-", "", node_mode::ephemeral_sequential};
            auto note = [&](const std::exception_ptr& failed, const auto&) {
                made += !failed;
                ++ended;
            };
            asio::co_spawn(wake, at.create(node), note);
        }
        while (ended < 1000)
            co_await asio::post(wake, asio::use_awaitable);
        co_return made;
    };
    EXPECT_EQ(mine.run(make_all(*mine.operator->())), 1000);
    EXPECT_EQ(mine.run(mine->list("/p")).value().size(), 1000u);
}

class SessionOverTls : public SessionOnServer {
protected:
    void SetUp() override {
        support::make_or_skip([this] { start({.tls = true}); });
    }
    zookeeper::options secured() const {
        zookeeper::options how = session_options({server_->tls_port()}, 4s);
        how.tls = tls_options{.ca_file = server_->certificates().file()};
        return how;
    }
};

INSTANTIATE_TEST_SUITE_P(All, SessionOverTls, ::testing::Values(support::zookeepers().front()),
                         [](const auto&) { return "Zookeeper"; });

TEST_P(SessionOverTls, CreatesAndWatches) {
    running_session mine{secured()}, other{secured()};
    mine.use();
    mine.run_until([&] { return mine->state().connected; });
    const std::string path = mine.create("/n", node_mode::ephemeral);
    bool told = false;
    std::function<void()> tell = [&] { told = true; };
    const auto watching = mine.run(mine->watch_node(path, tell));
    other.run(other->remove(path));
    mine.run_until([&] { return told; });
    mine.run(mine->depart());
}

TEST_P(SessionOverTls, AServerSaysWhatItIsToAVisitor) {
    running_session mine{secured()};
    mine.use();
    mine.run_until([&] { return mine->state().connected; }); // this port opens behind the other one
    const zookeeper::survey seen = mine.run(mine->look_around());
    EXPECT_TRUE(seen.over_tls);
    EXPECT_EQ(seen.servers.front().trouble, "");
    EXPECT_EQ(seen.servers.front().role, "standalone");
}

TEST_P(SessionOverTls, AServerThatIsNotTrustedIsRefused) {
    zookeeper::options wrong = secured();
    const support::authority another;
    wrong.tls->ca_file = another.file();
    running_session mine{wrong};
    const auto is_refused = [&] { // its second port opens after the first one
        return support::code_of([&] { mine.has("/"); }) == store_errc::untrusted;
    };
    EXPECT_TRUE(support::eventually(is_refused));
}

TEST_P(SessionOverTls, APortWithoutTlsIsToldApart) {
    zookeeper::options wrong = secured();
    wrong.servers.front().port = server_->port();
    wrong.connect_timeout = 1s;
    running_session mine{wrong};
    EXPECT_EQ(support::code_of([&] { mine.has("/"); }), errc::unreachable);
}

TEST_P(SessionOverTls, ACertificateIsAWayToBeKnown) {
    start({.tls = true, .client_certificates = "need"});
    zookeeper::options how = secured();
    const support::identity me = server_->certificates().issue("client");
    how.tls->certificate_file = me.certificate_file;
    how.tls->key_file = me.key_file;
    how.acl = zookeeper::node_acl::creator;
    running_session mine{how}, other{session_options({server_->port()}, 4s)};
    mine.use();
    mine.run_until([&] { return mine->state().connected; });
    const std::string path = mine.create("/n", node_mode::persistent);
    EXPECT_TRUE(mine.has(path));
    EXPECT_EQ(support::code_of([&] { other.has(path); }), store_errc::no_permission);
}

// A session at one of several servers, and at the next one.

class SessionEnsemble : public on_fake_zookeeper {
protected:
    SessionEnsemble() {
        how_.servers.clear();
        for (const fake_zookeeper* one : {&server_, &second_, &third_})
            how_.servers.push_back({one->path(), 1});
    }
    void stop_servers() override {
        for (fake_zookeeper* one : all())
            one->stop();
    }
    std::vector<fake_zookeeper*> all() { return {&server_, &second_, &third_}; }

    /// The one that the client is connected to; null: none, or several.
    fake_zookeeper* present() {
        std::vector<fake_zookeeper*> in_use;
        for (fake_zookeeper* one : all())
            if (std::ranges::any_of(one->visits, [](const auto& v) { return v->open; }))
                in_use.push_back(one);
        return in_use.size() == 1 ? in_use.front() : nullptr;
    }
    /// The server at which the session was opened.
    fake_zookeeper* open_known_to_all() {
        use();
        settle();
        for (fake_zookeeper* one : all())
            one->sessions = {id()};
        return present();
    }

    fake_zookeeper second_{io_}, third_{io_};
};

TEST_F(SessionEnsemble, GoesOnAtTheNextServerAtOnce) {
    fake_zookeeper* const first = open_known_to_all();
    ASSERT_TRUE(first);
    first->stop();
    settle();
    ASSERT_TRUE(present());
    EXPECT_NE(present(), first);
    EXPECT_THAT(news_,
                ElementsAre(session_news::opened, session_news::suspended, session_news::resumed));
}

TEST_F(SessionEnsemble, ASilentServerCostsASixthOfTheTimeoutAndNoHold) {
    fake_zookeeper* const first = open_known_to_all();
    pass(10s);
    first->answers = false;
    for (int i = 0; i < 100; ++i) {
        pass(100ms);
        EXPECT_GT(left(), 0ms);
    }
    EXPECT_NE(present(), first);
    EXPECT_THAT(news_,
                ElementsAre(session_news::opened, session_news::suspended, session_news::resumed));
}

TEST_F(SessionEnsemble, ARenewalThatNobodyAnsweredGoesOverAnotherServerInTime) {
    fake_zookeeper* const first = open_known_to_all();
    pass(10s);
    first->answers = false;
    const duration renewed_each = 300ms;
    bool renewed = false;
    for (time_point began = clock_.now(); !renewed && clock_.now() < began + 6s;) {
        const auto asked = confirm({"/a"}, clock_.now() + renewed_each);
        pass(renewed_each);
        ASSERT_TRUE(asked->done);
        renewed = !asked->code;
    }
    EXPECT_TRUE(renewed);
    EXPECT_NE(present(), first);
    EXPECT_GT(left(), session().state().timeout / 4);
}

TEST_F(SessionEnsemble, AVisitIsNoFailureAndShutsNobodyOut) {
    second_.stop();
    third_.greets = false;
    const auto seen = begin(session().look_around());
    pass(3 * how_.connect_timeout);
    ASSERT_TRUE(seen->answer) << seen->text;
    ASSERT_EQ(seen->answer->servers.size(), 3u);
    for (const zookeeper::server_seen& each : seen->answer->servers)
        EXPECT_NE(each.trouble, "") << each.address;
    EXPECT_EQ(session().state().id, 0) << "it needs no session";
    EXPECT_THAT(news_, ::testing::IsEmpty());
}

TEST_F(SessionEnsemble, AVisitEndsWithTheClient) {
    const auto seen = begin(session().look_around());
    EXPECT_FALSE(seen->done);
    close();
    settle();
    EXPECT_EQ(seen->code, errc::closed);
}

TEST_F(SessionEnsemble, ACallWaitsForAServerWhereThereAreSeveral) {
    for (fake_zookeeper* one : all())
        one->stop();
    const auto listed = list();
    pass(500ms);
    EXPECT_FALSE(listed->done) << "a failover takes as long";
    third_.start();
    pass(how_.backoff_max);
    EXPECT_TRUE(listed->answer) << listed->text;
}

TEST_F(SessionEnsemble, ACallEndsInTimeWhereNoneOfThemServes) {
    for (fake_zookeeper* one : all())
        one->stop();
    const auto listed = list();
    pass(how_.command_timeout);
    EXPECT_EQ(listed->code, errc::unreachable);
    EXPECT_THAT(listed->text, HasSubstr("no connection to"));
}

TEST_F(SessionEnsemble, AServerThatAcceptsAndSaysNothingIsPassed) {
    for (fake_zookeeper* one : all())
        one->greets = one == &third_;
    const auto listed = list();
    pass(2 * how_.connect_timeout / 3);
    EXPECT_TRUE(listed->answer) << listed->text;
}

} // namespace
} // namespace holdfast
