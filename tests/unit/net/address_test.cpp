// SPDX-License-Identifier: Apache-2.0
#include "net/byte_stream.hpp"
#include "net/deadlines.hpp"
#include "net/endpoint.hpp"
#include "runtime/clock.hpp"
#include "support/clocks.hpp"
#include "support/recorder.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::net {
namespace {

TEST(Address, IsHostAndPort) {
    EXPECT_EQ(address_of("", "db.internal", 6380), "db.internal:6380");
}

TEST(Address, PutsBracketsAroundIPv6) {
    EXPECT_EQ(address_of("", "::1", 6379), "[::1]:6379");
    EXPECT_EQ(address_of("", "[::1]", 6379), "[::1]:6379");
}

TEST(Address, OfASocketIsItsPath) {
    EXPECT_EQ(address_of("/run/redis.sock", "ignored", 1), "unix:/run/redis.sock");
}

using namespace std::chrono_literals;

TEST(Backoff, StaysWithinItsBounds) {
    backoff pauses{50ms, 2000ms};
    std::mt19937_64 random{1};
    for (int i = 0; i < 1000; ++i) {
        const duration pause = pauses.next(random());
        EXPECT_GE(pause, 50ms);
        EXPECT_LE(pause, 2000ms);
    }
}

TEST(Backoff, TheLongestPausesTripleUntilTheBound) {
    backoff pauses{50ms, 2000ms};
    // A random number that always gives the longest pause: one less than any number of choices.
    const auto longest = [&](duration highest) {
        return pauses.next(static_cast<std::uint64_t>((highest - 50ms).count()));
    };
    EXPECT_EQ(longest(150ms), 150ms);
    EXPECT_EQ(longest(450ms), 450ms);
    EXPECT_EQ(longest(1350ms), 1350ms);
    EXPECT_EQ(longest(2000ms), 2000ms);
    EXPECT_EQ(longest(2000ms), 2000ms);
}

TEST(Backoff, DiffersBetweenClients) {
    std::mt19937_64 random{1};
    std::set<duration> firsts;
    for (int i = 0; i < 100; ++i)
        firsts.insert(backoff{50ms, 2000ms}.next(random()));
    EXPECT_GT(firsts.size(), 30u);
}

TEST(Backoff, BeginsAnewWhenReset) {
    backoff pauses{50ms, 2000ms};
    for (int i = 0; i < 20; ++i)
        pauses.next(1'000'000'007);
    pauses.reset();
    EXPECT_LE(pauses.next(~0ull), 150ms);
}

TEST(Backoff, CopesWithExtremes) {
    EXPECT_EQ((backoff{5ms, 5ms}.next(123)), 5ms);
    EXPECT_EQ((backoff{5ms, 1ms}.next(123)), 5ms);
    EXPECT_EQ((backoff{0ms, 0ms}.next(123)), 1ms);
    backoff longest{duration::max() / 2, duration::max()};
    EXPECT_GE(longest.next(~0ull), duration::max() / 2);
    EXPECT_GE(longest.next(~0ull), duration::max() / 2);
}

using ::testing::HasSubstr;

constexpr option_checks check{"some::options"};

/// The text of the refusal; empty: it passes.
template <typename Call>
std::string refusal_of(Call call) {
    const support::thrown told = support::thrown_by(call);
    EXPECT_TRUE(!told.code || told.code == errc::invalid_argument);
    return told.text;
}

TEST(OptionChecks, SayWhoseOptionsTheyAre) {
    EXPECT_THAT(refusal_of([] { check.require(false, "it is odd"); }),
                HasSubstr("some::options: it is odd"));
    EXPECT_EQ(refusal_of([] { check.require(true, "it is odd"); }), "");
}

TEST(OptionChecks, TimesHaveBounds) {
    EXPECT_EQ(refusal_of([] { check.time(1ms, "x"); }), "");
    EXPECT_EQ(refusal_of([] { check.time(24h, "x"); }), "");
    EXPECT_THAT(refusal_of([] { check.time(0ms, "x"); }),
                HasSubstr("x is 0 ms; allowed are 1 ms to 1 day"));
    EXPECT_THAT(refusal_of([] { check.time(24h + 1ms, "x"); }), HasSubstr("x is 86400001 ms"));
    EXPECT_THAT(refusal_of([] { check.time(99ms, "x", 100ms); }),
                HasSubstr("allowed are 100 ms to 1 day"));
    EXPECT_THAT(refusal_of([] { check.backoff(2ms, 1ms); }),
                HasSubstr("backoff_min is longer than backoff_max"));
}

TEST(OptionChecks, ASocketHasAPathThatTheSystemAllows) {
    EXPECT_EQ(refusal_of([] { check.unix_socket(std::string(107, 'x')); }), "");
    EXPECT_THAT(refusal_of([] { check.unix_socket(std::string(108, 'x')); }),
                HasSubstr("unix_socket is longer than the 107 bytes"));
    EXPECT_THAT(refusal_of([] { check.unix_socket(std::string("a\0b", 3)); }),
                HasSubstr("unix_socket contains a NUL byte"));
}

TEST(OptionChecks, ListsOfServersHaveOneTo64WithAHostEach) {
    const auto refusal = [](std::vector<server_address> all) {
        return refusal_of([&] { (void)check.servers(all, 7, "list"); });
    };
    EXPECT_EQ(refusal({{"a", 0}, {"b", 0}}), "");
    EXPECT_THAT(refusal({}), HasSubstr("list has 0 entries; allowed are 1 to 64"));
    EXPECT_THAT(refusal(std::vector<server_address>(65)), HasSubstr("list has 65 entries"));
    EXPECT_THAT(refusal({{"", 1}}), HasSubstr("list: a host is empty"));
    EXPECT_THAT(refusal({{std::string{"a\0b", 3}, 1}}),
                HasSubstr("list: a host contains a NUL byte"));
}

TEST(OptionChecks, TheFirstServerThatIsThereTwiceIsNamed) {
    const auto twice = check.servers({{"a", 1}, {"b", 0}, {"b", 7}, {"", 0}}, 7, "list");
    ASSERT_TRUE(twice);
    EXPECT_EQ(twice->which, (server_address{"b", 7}));
    EXPECT_EQ(twice->numbers(), "number 2 and 3");
    EXPECT_FALSE(check.servers({{"a", 1}, {"a", 0}}, 7, "list"));
}

TEST(OptionChecks, ACertificateHasAKeyAndFilesCanBeRead) {
    tls_options tls;
    EXPECT_EQ(refusal_of([&] { check.certificate(tls, "tls"); }), "");
    tls.certificate_file = "/nowhere/cert.pem";
    EXPECT_THAT(refusal_of([&] { check.certificate(tls, "own.tls"); }),
                HasSubstr("own.tls.certificate_file and own.tls.key_file belong together"));
    tls.key_file = "/nowhere/key.pem";
    EXPECT_EQ(refusal_of([&] { check.certificate(tls, "tls"); }), "");
    EXPECT_THAT(refusal_of([&] { check.files(tls); }), HasSubstr("/nowhere/"));
}

using ::testing::ElementsAre;

class DeadlineTimer : public ::testing::Test {
protected:
    /// What has a limit keeps the deadline timer as long as there is one.
    void add(duration in) {
        const time_point limit = clock_.now() + in;
        limits_.insert(limit);
        deadline_timer_.watch_for(limit, life_);
    }

    asio::io_context io_;
    sim::sim_clock clock_{io_};
    const store_context home_{
        .executor = io_.get_executor(), .time = clock_, .random = {}, .label = {}, .tell = {}};
    const time_point start_ = clock_.now();
    std::multiset<time_point> limits_;
    std::vector<duration> told_;
    bool stays_ = false; // what was told of stays a limit
    std::shared_ptr<void> life_ = std::make_shared<int>(1);
    deadline_timer deadline_timer_{
        home_, [this] { return limits_.empty() ? time_point::max() : *limits_.begin(); },
        [this](time_point now) {
            if (!limits_.empty() && *limits_.begin() <= now)
                told_.push_back(now - start_);
            if (!stays_)
                limits_.erase(limits_.begin(), limits_.upper_bound(now));
        }};
};

TEST_F(DeadlineTimer, TellsEachLimitWhenItComes) {
    add(20ms);
    add(10ms);
    clock_.run_for(1s);
    EXPECT_THAT(told_, ElementsAre(10ms, 20ms));
}

TEST_F(DeadlineTimer, WakesForAnEarlierLimitThatComesWhileItSleeps) {
    add(500ms);
    clock_.run_for(100ms);
    add(50ms);
    clock_.run_for(100ms);
    EXPECT_THAT(told_, ElementsAre(150ms));
}

TEST_F(DeadlineTimer, TellsNothingOfWhatWasDoneInTime) {
    add(10ms);
    clock_.run_for(5ms);
    limits_.clear();
    clock_.run_for(1s);
    add(10ms);
    limits_.clear();
    add(20ms);
    clock_.run_for(1s);
    EXPECT_THAT(told_, ElementsAre(1025ms));
}

TEST_F(DeadlineTimer, DoesNotSpinAtALimitThatStays) {
    stays_ = true;
    add(10ms);
    clock_.run_for(13ms);
    EXPECT_THAT(told_, ElementsAre(10ms, 11ms, 12ms, 13ms));
    deadline_timer_.close();
    clock_.run_for(1ms);
}

TEST_F(DeadlineTimer, KeepsWhatHasALimitUntilThereIsNone) {
    const std::weak_ptr<void> seen = life_;
    add(10ms);
    life_.reset();
    clock_.run_for(5ms);
    EXPECT_FALSE(seen.expired());
    clock_.run_for(1s);
    EXPECT_TRUE(seen.expired());
}

TEST_F(DeadlineTimer, TellsNothingOnceItIsClosed) {
    add(10ms);
    clock_.run_for(5ms);
    deadline_timer_.close();
    add(1ms);
    clock_.run_for(1s);
    EXPECT_THAT(told_, ElementsAre());
}

using asio::local::stream_protocol;

/// A protocol without a meaning.
class plain_stream : public byte_stream {
public:
    explicit plain_stream(const store_context& home)
        : byte_stream{home, 1s, "say it louder"} {}

    std::string taken;

private:
    void take(std::string_view received) override { taken += received; }
};

/// As one whose server tells why it hangs up.
class patient_stream final : public plain_stream {
public:
    using plain_stream::plain_stream;
    bool deaf = false;

private:
    void went_deaf(error_code) override { deaf = true; }
};

class ByteStream : public ::testing::Test {
protected:
    ByteStream() {
        acceptor_.open();
        acceptor_.bind({where_.unix_socket});
        acceptor_.listen();
    }
    ~ByteStream() override { std::filesystem::remove_all(folder_); }

    static std::string made_folder() {
        std::string name = "/tmp/holdfast-stream-XXXXXX";
        return ::mkdtemp(name.data());
    }

    /// What it ends with; empty: well.
    std::string run(asio::awaitable<void> call) {
        std::string outcome = "it goes on";
        asio::co_spawn(io_, std::move(call), [&](const std::exception_ptr& failed) {
            try {
                outcome.clear();
                if (failed)
                    std::rethrow_exception(failed);
            } catch (const failure& why) {
                outcome = why.text();
            }
        });
        io_.restart();
        io_.run_for(30s);
        return outcome;
    }
    void dial(byte_stream& line) {
        const auto to =
            std::make_shared<const destination>(server_address{where_.host, 0}, std::nullopt);
        ASSERT_EQ(run(line.dial(to, clock_.now() + 5s)), "");
        acceptor_.accept(peer_);
    }
    void say(std::string_view words) { asio::write(peer_, asio::buffer(words)); }

    asio::io_context io_;
    runtime::real_clock clock_{io_.get_executor()};
    const store_context home_{
        .executor = io_.get_executor(), .time = clock_, .random = {}, .label = {}, .tell = {}};
    const std::string folder_ = made_folder();
    const destination where_{server_address{folder_ + "/socket", 0}, std::nullopt};
    stream_protocol::acceptor acceptor_{io_};
    stream_protocol::socket peer_{io_};
};

TEST_F(ByteStream, MovesBytesBothWays) {
    plain_stream line{home_};
    dial(line);
    EXPECT_EQ(line.to()->address, "unix:" + where_.host);
    line.outbox() = "hello";
    EXPECT_TRUE(line.send());
    EXPECT_TRUE(line.can_send());
    std::string heard(5, ' ');
    asio::read(peer_, asio::buffer(heard));
    EXPECT_EQ(heard, "hello");
    say("good day");
    EXPECT_EQ(run(line.receive()), "");
    EXPECT_EQ(line.taken, "good day");
}

TEST_F(ByteStream, AnOrderlyEndIsTold) {
    plain_stream line{home_};
    dial(line);
    peer_.close();
    EXPECT_EQ(run(line.receive()), "closed by the server");
    EXPECT_TRUE(line.is_cut());
    EXPECT_FALSE(line.can_send());
}

TEST_F(ByteStream, OneThatCannotWriteIsCut) {
    plain_stream line{home_};
    dial(line);
    peer_.close();
    line.outbox() = "hello";
    EXPECT_TRUE(line.send()) << "there is no rest";
    EXPECT_TRUE(line.is_cut());
    EXPECT_EQ(run(line.receive()), "Broken pipe");
}

TEST_F(ByteStream, OrHearsWhatTheServerStillHasToSay) {
    patient_stream line{home_};
    dial(line);
    say("no");
    peer_.close();
    line.outbox() = "hello";
    EXPECT_TRUE(line.send());
    EXPECT_TRUE(line.deaf);
    EXPECT_FALSE(line.is_cut());
    EXPECT_EQ(run(line.receive()), "");
    EXPECT_EQ(line.taken, "no");
}

TEST_F(ByteStream, AServerThatWantsTlsIsNamed) {
    plain_stream line{home_};
    dial(line);
    say(std::string_view{"\x15\x03\x01\x00\x02\x02\x16", 7}); // an alert
    EXPECT_EQ(run(line.receive()), "the server there uses TLS; say it louder");
}

TEST_F(ByteStream, TheFirstReasonCounts) {
    plain_stream line{home_};
    dial(line);
    line.occupied_with("thinking");
    give_up(line, 7ms)();
    line.cut({errc::closed, "enough"});
    EXPECT_EQ(run(line.receive()), "not done within 7 ms (thinking)");
}

/// What an attempt that ended with that is said to have ended with.
template <typename Thrown>
failure trouble_with(const Thrown& what) {
    try {
        throw what;
    } catch (...) {
        return trouble_of_attempt();
    }
}

TEST(Attempt, LeavesNothingUnknownWhateverEndsIt) {
    EXPECT_EQ(trouble_with(failure{errc::outcome_unknown, "cut"}).code(), errc::unreachable);
    EXPECT_EQ(trouble_with(failure{errc::refused, "no"}).code(), errc::refused);
    EXPECT_EQ(trouble_with(std::runtime_error{"odd"}).text(), "odd");
    EXPECT_EQ(trouble_with(std::runtime_error{"odd"}).code(), errc::unreachable);
    EXPECT_EQ(trouble_with(7).text(), "an exception that is not a std::exception");
}

} // namespace
} // namespace holdfast::net
