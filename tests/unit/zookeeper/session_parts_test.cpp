// SPDX-License-Identifier: Apache-2.0
#include "support/recorder.hpp"
#include "zookeeper/requests.hpp"
#include "zookeeper/server_list.hpp"
#include "zookeeper/session.hpp"
#include "zookeeper/session_expiry.hpp"

#include <holdfast/error.hpp>

#include <functional>
#include <limits>
#include <ostream>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct fault {
    const char* words; ///< of the refusal
    std::function<void(options&)> make;
};
void PrintTo(const fault& one, std::ostream* out) {
    *out << one.words;
}

class WrongOption : public ::testing::TestWithParam<fault> {};

TEST_P(WrongOption, IsNamed) {
    options how;
    GetParam().make(how);
    const auto told = support::thrown_by([&] { checked(how); });
    EXPECT_EQ(told.code, errc::invalid_argument);
    EXPECT_THAT(told.text, HasSubstr(GetParam().words));
    EXPECT_THAT(told.text, HasSubstr("zookeeper::options: "));
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongOption,
    ::testing::Values(
        fault{"servers has 0 entries", [](options& o) { o.servers.clear(); }},
        fault{"servers has 65 entries",
              [](options& o) {
                  o.servers.resize(65, {"a", 1});
              }},
        fault{"a host is empty",
              [](options& o) {
                  o.servers = {{"", 1}};
              }},
        fault{"NUL byte",
              [](options& o) {
                  o.servers = {{std::string{"a\0b", 3}, 1}};
              }},
        fault{"servers has a:2181 twice",
              [](options& o) {
                  o.servers = {{"a", 0}, {"a", 2181}};
              }},
        fault{"chroot is not a path", [](options& o) { o.chroot = "a"; }},
        fault{"chroot is not a path", [](options& o) { o.chroot = "/"; }},
        fault{"chroot is not a path", [](options& o) { o.chroot = "/a/"; }},
        fault{"root is not a path", [](options& o) { o.root = ""; }},
        fault{"root is not a path", [](options& o) { o.root = "/a//b"; }},
        fault{"root is not a path", [](options& o) { o.root = "/a/../b"; }},
        fault{"root is not a path", [](options& o) { o.root = "/a\n"; }},
        fault{"root is longer", [](options& o) { o.root = "/" + std::string(1000, 'a'); }},
        fault{"form must be", [](options& o) { o.form = static_cast<node_form>(2); }},
        fault{"acl must be", [](options& o) { o.acl = static_cast<node_acl>(2); }},
        fault{"acl is creator", [](options& o) { o.acl = node_acl::creator; }},
        fault{"user contains a colon", [](options& o) { o.user = "a:b", o.password = "x"; }},
        fault{"neither password nor credentials", [](options& o) { o.user = "a"; }},
        fault{"neither user nor credentials", [](options& o) { o.password = "a"; }},
        fault{"tls.key_file belong together",
              [](options& o) { o.tls = tls_options{.certificate_file = "/none"}; }},
        fault{"/none/such", [](options& o) { o.tls = tls_options{.ca_file = "/none/such"}; }},
        fault{"session_timeout is 99 ms", [](options& o) { o.session_timeout = 99ms; }},
        fault{"session_timeout is -1 ms", [](options& o) { o.session_timeout = -1ms; }},
        fault{"connect_timeout is 0 ms", [](options& o) { o.connect_timeout = 0ms; }},
        fault{"command_timeout is 86400001 ms", [](options& o) { o.command_timeout = 24h + 1ms; }},
        fault{"backoff_min is 0 ms", [](options& o) { o.backoff_min = 0ms; }},
        fault{"backoff_min is longer", [](options& o) { o.backoff_min = 2s; }},
        fault{"requests_max is 0", [](options& o) { o.requests_max = 0; }},
        fault{"reply_bytes_max is 0", [](options& o) { o.reply_bytes_max = 0; }}));

TEST(ZookeeperOptions, ThatAreRightStayAsTheyAre) {
    options how{.servers = {{"a", 1}, {"a", 2}, {"b", 1}}};
    how.chroot = "/teams/ours";
    how.user = "app", how.password = "x", how.acl = node_acl::creator;
    how.session_timeout = 100ms;
    EXPECT_EQ(checked(how).servers.size(), 3u);
    how.names_are_paths = true;
    how.root = "";
    EXPECT_EQ(checked(how).chroot, "/teams/ours") << "the root is not used";
}

using ::testing::UnorderedElementsAre;

ensemble of(std::vector<std::string> hosts, std::uint64_t seed = 1) {
    std::vector<server_address> servers;
    for (std::string& host : hosts)
        servers.push_back({std::move(host), 0});
    std::mt19937_64 random{seed};
    return ensemble{servers, [&] { return random(); }, 20ms, 1000ms};
}

std::string host_of(const ensemble& all) {
    return all.all()[all.present()].host;
}

TEST(Ensemble, TheUsualPortIsZookeepers) {
    EXPECT_EQ(of({"a"}).all().front().port, 2181);
}

TEST(Ensemble, EachServerIsTriedBeforeThereIsAPause) {
    ensemble all = of({"a", "b", "c"});
    std::set<std::string> tried{host_of(all)};
    EXPECT_EQ(all.leave(0), 0ms);
    tried.insert(host_of(all));
    EXPECT_EQ(all.leave(0), 0ms);
    tried.insert(host_of(all));
    EXPECT_THAT(tried, UnorderedElementsAre("a", "b", "c"));
    EXPECT_FALSE(all.all_failed());
    EXPECT_EQ(all.leave(0), 20ms);
    EXPECT_TRUE(all.all_failed());
    all.served();
    EXPECT_FALSE(all.all_failed());
    EXPECT_EQ(all.leave(0), 0ms);
}

TEST(Ensemble, TheOnlyServerIsTriedAgainAfterAPauseThatGrows) {
    ensemble all = of({"a"});
    EXPECT_EQ(all.leave(0), 20ms);
    EXPECT_TRUE(all.all_failed());
    duration longest{};
    std::mt19937_64 random{1};
    for (int i = 0; i < 100; ++i)
        longest = std::max(longest, all.leave(random()));
    EXPECT_GT(longest, 500ms);
    EXPECT_LE(longest, 1000ms);
    all.served();
    EXPECT_EQ(all.leave(0), 20ms);
}

TEST(Ensemble, ClientsBeginAtDifferentServers) {
    std::set<std::string> first;
    for (std::uint64_t seed = 0; seed < 50; ++seed)
        first.insert(host_of(of({"a", "b", "c"}, seed)));
    EXPECT_THAT(first, UnorderedElementsAre("a", "b", "c"));
}

TEST(Ensemble, AnAttemptTakesASixthOfTheSessionAtMostAndLeavesTimeForTheOthers) {
    EXPECT_EQ(of({"a"}).attempt_timeout(2000ms, std::nullopt), 2000ms);
    EXPECT_EQ(of({"a"}).attempt_timeout(2000ms, 6000ms), 1000ms);
    EXPECT_EQ(of({"a", "b"}).attempt_timeout(2000ms, std::nullopt), 1000ms);
    EXPECT_EQ(of({"a", "b"}).attempt_timeout(2000ms, 3000ms), 500ms);
    EXPECT_EQ(of({"a"}).attempt_timeout(2000ms, 12ms), 10ms) << "nothing is done in no time";
    EXPECT_EQ(of({"a"}).attempt_timeout(5ms, 6000ms), 5ms) << "what the user wants is the limit";
}

TEST(Ensemble, WhereTheWayIsSlowAnAttemptTakesLongerEachRound) {
    ensemble all = of({"a", "b"});
    std::vector<duration> taken;
    for (int i = 0; i < 6; ++i) {
        taken.push_back(all.attempt_timeout(2000ms, 3000ms));
        all.leave(0);
    }
    EXPECT_THAT(taken, ::testing::ElementsAre(500ms, 500ms, 1000ms, 1000ms, 2000ms, 2000ms));
    for (int i = 0; i < 1000; ++i)
        all.leave(0);
    EXPECT_EQ(all.attempt_timeout(2000ms, 3000ms), 2000ms);
    all.served();
    EXPECT_EQ(all.attempt_timeout(2000ms, 3000ms), 500ms);
}

constexpr duration timeout{6000};
const duration believed = timeout - drift(timeout);

time_point moment(int ms) {
    return time_point{std::chrono::hours{1} + duration{ms}};
}

class SessionTerm : public ::testing::Test {
protected:
    /// A request that is answered so soon.
    void ask(int ms, int answered_after = 0) {
        term_.answered(moment(ms), moment(ms + answered_after));
    }
    void expect_from(int ms) { EXPECT_EQ(term_.alive_until(), moment(ms) + believed); }

    session_lease term_;
};

TEST_F(SessionTerm, OfNoSessionIsOver) {
    EXPECT_EQ(term_.alive_until(), time_point::min());
    ask(0);
    term_.write_answered(moment(0));
    term_.forget();
    EXPECT_EQ(term_.alive_until(), time_point::min());
}

TEST_F(SessionTerm, BeginsWithTheOpeningAtOnce) {
    term_.opened(moment(10), timeout);
    expect_from(10);
}

TEST_F(SessionTerm, NothingCountsThatOnlyOneServerSaid) {
    term_.opened(moment(0), timeout);
    for (int ms = 100; ms < 20'000; ms += 100)
        ask(ms); // pings, reads and syncs, all answered
    expect_from(0);
}

TEST_F(SessionTerm, ARequestCountsOnceAWriteOfHalfATimeoutLaterIsAnswered) {
    term_.opened(moment(0), timeout);
    ask(1000);
    ask(3999);
    term_.write_answered(moment(3999));
    expect_from(0);
    ask(4000);
    term_.write_answered(moment(4000));
    expect_from(1000);
}

// It may have been on its way for all that time, so that the follower has just heard it.
TEST_F(SessionTerm, HalfATimeoutIsCountedFromTheAnswer) {
    term_.opened(moment(0), timeout);
    ask(1000, 900);
    term_.write_answered(moment(4899));
    expect_from(0);
    term_.write_answered(moment(4900));
    expect_from(1000);
}

TEST_F(SessionTerm, TheNewestOfThoseThatAreOldEnoughCounts) {
    term_.opened(moment(0), timeout);
    for (int ms = 500; ms <= 4500; ms += 500)
        ask(ms);
    term_.write_answered(moment(4500));
    expect_from(1500);
}

TEST_F(SessionTerm, AWriteCountsFromWhenItWasSentHoweverLateItIsAnswered) {
    term_.opened(moment(0), timeout);
    for (int ms = 500; ms <= 6000; ms += 500)
        ask(ms);
    term_.write_answered(moment(4500));
    expect_from(1500);
}

TEST_F(SessionTerm, ToResumeCountsOnceAnyWriteBehindItIsAnswered) {
    term_.opened(moment(0), timeout);
    term_.resumed(moment(5000), timeout);
    expect_from(0); // a leader that is cut off would have said the same
    ask(5001);
    term_.write_answered(moment(5001));
    expect_from(5000);
}

TEST_F(SessionTerm, WhatAnotherServerHeardBeforeTheResumptionCountsNoMore) {
    term_.opened(moment(0), timeout);
    ask(2000); // heard by a follower that died
    term_.resumed(moment(1000), timeout);
    ask(5500);
    term_.write_answered(moment(5500));
    expect_from(1000);
}

TEST_F(SessionTerm, NeverGoesBack) {
    term_.opened(moment(0), timeout);
    for (int ms = 500; ms <= 9000; ms += 500)
        ask(ms);
    term_.write_answered(moment(9000));
    expect_from(6000);
    term_.write_answered(moment(8000));
    expect_from(6000);
}

TEST_F(SessionTerm, ManyRequestsAreRememberedAsFew) {
    term_.opened(moment(0), timeout);
    for (int ms = 0; ms < 3'600'000; ++ms)
        ask(ms);
    term_.write_answered(moment(3'599'999));
    const duration lost = moment(3'596'999) + believed - term_.alive_until();
    EXPECT_GE(lost, 0ms);
    EXPECT_LE(lost, timeout / 64);
}

TEST_F(SessionTerm, ClocksMayDifferByOnePercent) {
    EXPECT_EQ(drift(10'000ms), 102ms);
    EXPECT_EQ(drift(2ms), 1ms) << "something is left of any";
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using stage = request::stage;

time_point at(int ms) {
    return time_point{duration{ms}};
}

std::string frame(std::int32_t number, std::int32_t error = 0, std::string_view body = {},
                  std::int64_t zxid = 1) {
    std::string out;
    jute_writer{out}.number(number).long_number(zxid).number(error);
    out += body;
    return out;
}

class Requests : public ::testing::Test {
protected:
    shared_request ask(message what, int now = 0) {
        auto made = std::make_shared<request>(std::move(what));
        all_.ask(made, at(now));
        return made;
    }
    shared_request ask(int now = 0) { return ask(sync_message("/"), now); }
    shared_request write(int now = 0) { return all_.write_next(out_, at(now)); }
    error_code refusal(const std::string& said) {
        return support::code_of([&] { all_.hear(said); });
    }

    requests all_;
    std::string out_;
};

TEST_F(Requests, AreMatchedInTheOrderOfWriting) {
    const auto a = ask(), b = ask();
    EXPECT_EQ(write(3), a);
    EXPECT_EQ(write(4), b);
    EXPECT_EQ(write(), nullptr);
    EXPECT_EQ(a->number, 1);
    EXPECT_EQ(b->number, 2);
    EXPECT_EQ(all_.hear(frame(1, 0, "body")).answered, a);
    EXPECT_EQ(a->body, "body");
    EXPECT_EQ(a->standing, stage::settled);
    EXPECT_EQ(all_.hear(frame(2, -101)).answered, b);
    EXPECT_EQ(b->error, -101);
    EXPECT_EQ(all_.size(), 0u);
}

TEST_F(Requests, AnAnswerThatNobodyAskedForIsRefused) {
    EXPECT_EQ(refusal(frame(1)), store_errc::protocol);
    ask();
    EXPECT_EQ(refusal(frame(1)), store_errc::protocol) << "it was not even written";
    write();
    for (const std::int32_t number : {2, 0, number_of::ping, number_of::authentication, -8})
        EXPECT_EQ(refusal(frame(number)), store_errc::protocol) << number;
    EXPECT_EQ(refusal(frame(1).substr(0, 15)), store_errc::protocol);
}

TEST_F(Requests, APingIsAnsweredOnce) {
    all_.write_ping(out_, at(5));
    EXPECT_EQ(all_.owed_since(), at(5));
    EXPECT_EQ(all_.hear(frame(number_of::ping)).done, at(5));
    EXPECT_EQ(all_.owed_since(), std::nullopt);
    EXPECT_EQ(refusal(frame(number_of::ping)), store_errc::protocol);
}

TEST_F(Requests, AnEventIsNoAnswer) {
    std::string body;
    jute_writer{body}.number(2).number(3).text("/a");
    const auto said = all_.hear(frame(number_of::event, 0, body, -1));
    ASSERT_TRUE(said.event);
    EXPECT_EQ(said.event->path, "/a");
    EXPECT_EQ(said.done, std::nullopt);
}

TEST_F(Requests, TheNumberGoesOnAtOneAndNotBelowZero) {
    requests all{std::numeric_limits<std::int32_t>::max()};
    for (int i = 0; i < 2; ++i)
        all.ask(std::make_shared<request>(sync_message("/")), at(0));
    EXPECT_EQ(all.write_next(out_, at(0))->number, std::numeric_limits<std::int32_t>::max());
    EXPECT_EQ(all.write_next(out_, at(0))->number, 1);
}

TEST_F(Requests, WhatWasCarriedOutIsTold) {
    for (int i = 0; i < 3; ++i)
        ask(remove_message("/a"));
    ask();
    for (int now = 1; now <= 4; ++now)
        write(now);
    EXPECT_EQ(all_.hear(frame(1)).done, at(1));
    const auto missing = all_.hear(frame(2, answered::no_node));
    EXPECT_EQ(missing.done, at(2));
    EXPECT_TRUE(missing.is_write);
    EXPECT_EQ(all_.hear(frame(3, -127)).done, std::nullopt) << "throttled";
    const auto read = all_.hear(frame(4));
    EXPECT_EQ(read.done, at(4));
    EXPECT_FALSE(read.is_write);
}

TEST_F(Requests, AnAnswerToWhoGaveUpIsNobodysAndShiftsNoOther) {
    const auto a = ask(remove_message("/a")), b = ask();
    write(1);
    write(2);
    all_.give_up(*a);
    EXPECT_EQ(all_.owed_since(), at(1)) << "it is still owed";
    EXPECT_EQ(all_.size(), 2u);
    const auto said = all_.hear(frame(1));
    EXPECT_FALSE(said.answered);
    EXPECT_EQ(said.done, at(1)) << "and proves as much";
    EXPECT_EQ(all_.hear(frame(2)).answered, b);
}

TEST_F(Requests, WhoGivesUpBeforeWritingIsNeverSent) {
    const auto a = ask(), b = ask(), c = ask();
    all_.give_up(*b);
    EXPECT_EQ(write(), a);
    EXPECT_EQ(write(), c);
    EXPECT_EQ(write(), nullptr);
    EXPECT_FALSE(all_.anything_queued());
}

TEST_F(Requests, ThoseThatAreLateAreFoundByTheirAge) {
    const auto a = ask(1), b = ask(2), c = ask(3);
    write();
    EXPECT_EQ(all_.oldest(), at(1));
    EXPECT_THAT(all_.late(at(0)), IsEmpty());
    EXPECT_THAT(all_.late(at(2)), ElementsAre(a, b));
    EXPECT_EQ(all_.oldest(), at(3));
    EXPECT_EQ(write(), c) << "what was given up is not sent";
}

TEST_F(Requests, OfALostConnectionOnlyTheWrittenOnesAreDropped) {
    const auto a = ask(), b = ask(), c = ask();
    write();
    write();
    all_.write_ping(out_, at(0));
    all_.give_up(*b);
    EXPECT_THAT(all_.drop_written(), ElementsAre(a));
    EXPECT_EQ(all_.owed_since(), std::nullopt);
    EXPECT_EQ(all_.oldest(), at(0));
    EXPECT_THAT(all_.drop_queued(), ElementsAre(c));
    EXPECT_EQ(all_.oldest(), std::nullopt);
    EXPECT_EQ(all_.size(), 0u);
}

TEST_F(Requests, ThoseThatWereGivenUpDoNotPileUpWhileThereIsNoConnection) {
    for (int now = 0; now < 100; ++now) {
        ask(now);
        all_.late(at(now));
    }
    EXPECT_EQ(all_.size(), 0u);
}

server_seen read(std::string_view answer) {
    server_seen seen;
    read_facts(answer, seen);
    return seen;
}

TEST(Survey, ReadsWhatAServerSaysOfItself) {
    const server_seen seen =
        read("Zookeeper version: 3.8.0-5a02a05eddb59aee6ac762f7ea82e92a68eb9c0f, built on 2022\n"
             "Latency min/avg/max: 0/0.5/12\nReceived: 7\nSent: 6\nConnections: 1\n"
             "Outstanding: 0\nZxid: 0x300000002\nMode: leader\nNode count: 5\n"
             "Proposal sizes last/min/max: 48/48/36\n");
    EXPECT_EQ(seen.trouble, "");
    EXPECT_EQ(seen.version, "3.8.0");
    EXPECT_EQ(seen.role, "leader");
    EXPECT_EQ(seen.epoch, 3);
}

TEST(Survey, KnowsNothingOfAServerThatMayNotSay) {
    for (const char* answer :
         {"srvr is not executed because it is not in the whitelist.\n", "", "Mode", "\n",
          "no Mode: leader at the beginning", "Zxid: 0x\n", "Zxid: 0xfffffffffffffffff\n"}) {
        const server_seen seen = read(answer);
        EXPECT_EQ(seen.trouble + seen.role + seen.version, "") << answer;
        EXPECT_EQ(seen.epoch, 0) << answer;
    }
}

TEST(Survey, AServerWithoutAMajorityServesNobody) {
    EXPECT_NE(read("This ZooKeeper instance is not currently serving requests\n").trouble, "");
}

using kind = node_event::kind;

class Watches : public ::testing::Test {
protected:
    watches::shared_watcher add(watches::of what, std::string path, int& told) {
        auto made = std::make_shared<watches::watcher>(
            watches::watcher{what, std::move(path), [&told] { ++told; }});
        all_.add(made);
        return made;
    }
    void hear(kind what, std::string path) {
        all_.heard({static_cast<std::int32_t>(what), std::move(path)});
    }

    watches all_;
    int node_ = 0, children_ = 0, other_ = 0;
};

TEST_F(Watches, AreToldOfWhatConcernsThem) {
    add(watches::of::node, "/a", node_);
    add(watches::of::children, "/a", children_);
    add(watches::of::node, "/b", other_);
    hear(kind::children, "/a");
    EXPECT_EQ(node_, 0);
    EXPECT_EQ(children_, 1);
    hear(kind::changed, "/a");
    EXPECT_EQ(node_, 1);
    EXPECT_EQ(other_, 0);
    EXPECT_EQ(all_.size(), 1u);
}

TEST_F(Watches, ADeletedNodeConcernsBoth) {
    add(watches::of::node, "/a", node_);
    add(watches::of::children, "/a", children_);
    hear(kind::deleted, "/a");
    EXPECT_EQ(node_, 1);
    EXPECT_EQ(children_, 1);
}

TEST_F(Watches, AreToldOnce) {
    add(watches::of::node, "/a", node_);
    hear(kind::changed, "/a");
    hear(kind::changed, "/a");
    all_.tell_all();
    EXPECT_EQ(node_, 1);
}

TEST_F(Watches, OfOnePathAreAllTold) {
    add(watches::of::node, "/a", node_);
    add(watches::of::node, "/a", other_);
    hear(kind::changed, "/a");
    EXPECT_EQ(node_, 1);
    EXPECT_EQ(other_, 1);
}

TEST_F(Watches, ThatWereRemovedAreNotTold) {
    const auto gone = add(watches::of::node, "/a", node_);
    add(watches::of::node, "/a", other_);
    all_.remove(gone);
    all_.tell_all();
    EXPECT_EQ(node_, 0);
    EXPECT_EQ(other_, 1);
    EXPECT_EQ(all_.size(), 0u);
}

TEST_F(Watches, WhoIsToldMayRemoveAnotherAndAddMore) {
    watches::shared_watcher second;
    auto first =
        std::make_shared<watches::watcher>(watches::watcher{watches::of::node, "/a", [&] {
                                                                all_.remove(second);
                                                                add(watches::of::node, "/a", node_);
                                                            }});
    all_.add(first);
    second = add(watches::of::node, "/a", other_);
    hear(kind::deleted, "/a");
    EXPECT_EQ(other_, 0);
    EXPECT_EQ(node_, 0) << "that was before";
    hear(kind::deleted, "/a");
    EXPECT_EQ(node_, 1);
}

TEST_F(Watches, WhatNobodyWatchesIsIgnored) {
    add(watches::of::node, "/a", node_);
    hear(kind::created, "/a");
    hear(kind::changed, "/else");
    all_.heard({-1, ""});
    EXPECT_EQ(node_, 0);
}

} // namespace
} // namespace holdfast::zookeeper
