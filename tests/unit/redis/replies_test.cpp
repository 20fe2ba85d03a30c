// SPDX-License-Identifier: Apache-2.0
#include "net/failure.hpp"
#include "redis/client/connection.hpp"
#include "redis/client/error_replies.hpp"
#include "redis/client/resp.hpp"
#include "support/clocks.hpp"
#include "support/made_reply.hpp"

#include <boost/asio/io_context.hpp>

#include <optional>
#include <ostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using namespace std::literals;
using kind = reply::kind;

reply read(std::string_view bytes) {
    answer_reader reader{1024};
    reader.feed(bytes);
    reply* const come = reader.next();
    if (!come)
        throw std::logic_error{"not a whole answer"};
    return std::move(*come);
}

/// Returns the reader's error for these bytes; empty if there is none.
std::string objection_to(std::string_view bytes, std::size_t bytes_max = 1024) {
    answer_reader reader{bytes_max};
    try {
        reader.feed(bytes);
        while (reader.next())
            ;
    } catch (const net::failure& wrong) {
        EXPECT_EQ(wrong.code(), make_error_code(store_errc::protocol));
        return wrong.text();
    }
    return {};
}

TEST(AnswerReader, ReadsEveryTypeOfRESP2) {
    EXPECT_EQ(read("+OK\r\n").type, kind::status);
    EXPECT_EQ(read("+OK\r\n").text, "OK");
    EXPECT_EQ(read("-ERR no\r\n").type, kind::error);
    EXPECT_EQ(read("-ERR no\r\n").text, "ERR no");
    EXPECT_EQ(read(":-42\r\n").type, kind::integer);
    EXPECT_EQ(read(":-42\r\n").integer, -42);
    EXPECT_EQ(read("$4\r\na\r\n\0\r\n"sv).text, "a\r\n\0"sv);
    EXPECT_EQ(read("$4\r\na\r\n\0\r\n"sv).type, kind::text);
    EXPECT_EQ(read("$0\r\n\r\n").type, kind::text);
    EXPECT_EQ(read("$-1\r\n").type, kind::nil);
    EXPECT_EQ(read("*-1\r\n").type, kind::nil);
    EXPECT_EQ(read("*0\r\n").type, kind::array);
}

TEST(AnswerReader, ReadsNestedArraysInOrder) {
    const reply all = read("*4\r\n:1\r\n*2\r\n$1\r\na\r\n*1\r\n+x\r\n-E\r\n$-1\r\n");
    ASSERT_EQ(all.items.size(), 4u);
    EXPECT_EQ(all.items[0].integer, 1);
    ASSERT_EQ(all.items[1].items.size(), 2u);
    EXPECT_EQ(all.items[1].items[0].text, "a");
    EXPECT_EQ(all.items[1].items[1].items.at(0).text, "x");
    EXPECT_EQ(all.items[2].type, kind::error);
    EXPECT_EQ(all.items[3].type, kind::nil);
}

TEST(AnswerReader, PutsAnswersTogetherFromSingleBytes) {
    answer_reader reader{1024};
    const std::string_view bytes = "*2\r\n$2\r\nab\r\n*2\r\n:7\r\n+s\r\n:8\r\n";
    std::vector<reply> all;
    for (const char byte : bytes) {
        reader.feed({&byte, 1});
        while (reply* const come = reader.next())
            all.push_back(std::move(*come));
    }
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].items.at(0).text, "ab");
    EXPECT_EQ(all[0].items.at(1).items.at(1).text, "s");
    EXPECT_EQ(all[1].integer, 8);
}

TEST(AnswerReader, HandsOutSeveralOfOneReadingOneByOne) {
    answer_reader reader{1024};
    reader.feed(":1\r\n*1\r\n:2\r\n:3\r\n:");
    EXPECT_EQ(reader.next()->integer, 1);
    EXPECT_EQ(reader.next()->items.at(0).integer, 2);
    reply* const third = reader.next();
    EXPECT_EQ(third->integer, 3);
    EXPECT_TRUE(third->items.empty());
    EXPECT_EQ(reader.next(), nullptr);
    reader.feed("4\r\n");
    EXPECT_EQ(reader.next()->integer, 4);
}

TEST(AnswerReader, RefusesWhatIsNotTheProtocol) {
    EXPECT_NE(objection_to("HTTP/1.1 400 Bad Request\r\n"), "");
    EXPECT_NE(objection_to(":12x\r\n"), "");
    EXPECT_NE(objection_to("$-2\r\n"), "");
    EXPECT_NE(objection_to("*-2\r\n"), "");
    EXPECT_NE(objection_to("\0\0\0\0"sv), "");
    EXPECT_NE(objection_to("\x15\x03\x01\x00\x02\x02"sv), ""); // a TLS alert
}

TEST(AnswerReader, RefusesTheTypesOfRESP3) {
    EXPECT_NE(objection_to("_\r\n"), "");
    EXPECT_NE(objection_to("#t\r\n"), "");
    EXPECT_NE(objection_to(",1.5\r\n"), "");
    EXPECT_NE(objection_to("%1\r\n+a\r\n:1\r\n"), "");
    EXPECT_NE(objection_to("~1\r\n+a\r\n"), "");
    EXPECT_NE(objection_to(">1\r\n+a\r\n"), "");
    EXPECT_NE(objection_to("(123\r\n"), "");
    EXPECT_NE(objection_to("=6\r\ntxt:ab\r\n"), "");
}

TEST(AnswerReader, AClaimOfMuchCostsNothingUntilItComes) {
    answer_reader reader{1024};
    reader.feed("*1000000000\r\n:1\r\n");
    EXPECT_EQ(reader.next(), nullptr);
    answer_reader another{1024};
    another.feed("$2000000000\r\nab");
    EXPECT_EQ(another.next(), nullptr);
}

TEST(AnswerReader, RefusesMoreBytesThanItMay) {
    EXPECT_EQ(objection_to("$1000\r\n" + std::string(1000, 'x'), 1100), ""); // not whole yet
    EXPECT_NE(objection_to("$2000\r\n" + std::string(1500, 'x'), 1100), "");
    EXPECT_NE(objection_to("*100000\r\n" + std::string(1500, '\n'), 1100), "");
    std::string endless = "*1000000\r\n";
    for (int i = 0; i < 1000; ++i)
        endless += "$1\r\nx\r\n";
    EXPECT_NE(objection_to(endless, 1100), "");
}

TEST(AnswerReader, TheBoundIsForOneAnswerAndNotForAll) {
    answer_reader reader{100};
    for (int i = 0; i < 100; ++i) {
        reader.feed("$50\r\n" + std::string(50, 'x') + "\r\n$50\r\n");
        ASSERT_NE(reader.next(), nullptr);
        ASSERT_EQ(reader.next(), nullptr);
        reader.feed(std::string(50, 'x') + "\r\n");
        ASSERT_NE(reader.next(), nullptr);
    }
}

TEST(AnswerReader, CountsWhatIsThereOfTheNextAnswer) {
    EXPECT_NE(objection_to(":1\r\n$1000\r\n" + std::string(150, 'x'), 100), "");
}

TEST(AnswerReader, RefusesMoreItemsThanItMay) {
    std::string many = "*2\r\n:1\r\n*" + std::to_string(answer_reader::items_max) + "\r\n";
    for (std::size_t i = 0; i < answer_reader::items_max; ++i)
        many += ":1\r\n";
    EXPECT_NE(objection_to(many, 16 * 1024 * 1024), "");
}

TEST(AnswerReader, TakesMoreItemsWhereItMay) {
    std::string many = "*" + std::to_string(answer_reader::items_max + 1) + "\r\n";
    for (std::size_t i = 0; i <= answer_reader::items_max; ++i)
        many += ":1\r\n";
    answer_reader reader{16 * 1024 * 1024, answer_reader::items_max_in_cluster};
    reader.feed(many);
    ASSERT_NE(reader.next(), nullptr);
}

TEST(AnswerReader, RefusesArraysTooDeepWithinEachOther) {
    const auto nested = [](std::size_t depth) {
        std::string all;
        for (std::size_t i = 0; i < depth; ++i)
            all += "*1\r\n";
        return all + ":1\r\n";
    };
    EXPECT_EQ(objection_to(nested(4), 1024 * 1024), "");
    for (const std::size_t depth : {20U, 1'000U, 1'000'000U})
        EXPECT_NE(objection_to(nested(depth), 16 * 1024 * 1024), "") << depth;
    EXPECT_NE(objection_to("*2\r\n*1\r\n:1\r\n" + nested(1000), 1024 * 1024), "");
}

TEST(AnswerReader, RefusesALineThatDoesNotEnd) {
    const std::string longest(answer_reader::line_bytes_max - 10, 'x');
    EXPECT_EQ(objection_to("-" + longest + "\r\n", 1024 * 1024), "");
    EXPECT_EQ(objection_to("$100000\r\n" + std::string(100'000, 'x') + "\r\n+OK\r\n", 1024 * 1024),
              "")
        << "a bulk string is not a line";
    const std::string endless(2 * answer_reader::line_bytes_max, 'x');
    for (const char* begins : {"+", "-", ":1\r\n+", "*2\r\n$3\r\nabc\r\n-", "$", "*", ""})
        EXPECT_NE(objection_to(begins + endless, 16 * 1024 * 1024), "") << begins;
}

// hiredis would search such a line again from its beginning at each call.
TEST(AnswerReader, RefusesALineWithoutACarriageReturn) {
    for (const char* const said : {"+aaa\n", "\n", "*1\n$1\r\na\r\n", "+a\r\n+b\n", "$1\na\r\n"})
        EXPECT_THAT(objection_to(said, 1024), ::testing::HasSubstr("carriage return")) << said;
}

TEST(AnswerReader, ReturnsTheRepliesBeforeABadLineInTheSameBytes) {
    const std::string endless(2 * answer_reader::line_bytes_max, 'x');
    for (const std::string& bad : {std::string{"+b\n"}, "-" + endless, "*1\r\n+" + endless}) {
        answer_reader reader{16 * 1024 * 1024};
        reader.feed("+a\r\n$3\r\na\nb\r\n" + bad);
        for (const char* const expected : {"a", "a\nb"}) {
            const reply* const next = reader.next();
            ASSERT_NE(next, nullptr) << bad.substr(0, 5);
            EXPECT_EQ(next->text, expected);
        }
        EXPECT_THROW((void)reader.next(), net::failure) << bad.substr(0, 5);
    }
}

TEST(AnswerReader, FindsAnEndlessLineInPieces) {
    answer_reader reader{16 * 1024 * 1024};
    reader.feed("*2\r\n$2\r\n\n\n\r\n+");
    std::size_t fed = 0;
    try {
        for (; fed < 1024 * 1024; ++fed) {
            reader.feed("x");
            ASSERT_EQ(reader.next(), nullptr);
        }
    } catch (const net::failure& why) {
        EXPECT_EQ(why.code(), make_error_code(store_errc::protocol));
    }
    EXPECT_LE(fed, answer_reader::line_bytes_max);
}

TEST(AnswerReader, ForgetsAHalfReadAnswerWithItself) {
    answer_reader reader{1024};
    reader.feed("*3\r\n$3\r\nabc\r\n*2\r\n:1\r\n");
    EXPECT_EQ(reader.next(), nullptr);
}

struct said {
    std::string text;
    store_errc meant;
};
void PrintTo(const said& s, std::ostream* out) {
    *out << s.text;
}

class Classify : public ::testing::TestWithParam<said> {};

TEST_P(Classify, TellsByTheServersWords) {
    EXPECT_EQ(classify(GetParam().text), GetParam().meant);
}

// Error texts of real servers: redis 7.0, valkey 8.0, redis 8.0.
INSTANTIATE_TEST_SUITE_P(
    AtTopLevel, Classify,
    ::testing::Values(
        said{"LOADING Redis is loading the dataset in memory", store_errc::loading},
        said{"LOADING Valkey is loading the dataset in memory", store_errc::loading},
        said{"BUSY Redis is busy running a script.", store_errc::busy_script},
        said{"BUSY Valkey is busy running a script.", store_errc::busy_script},
        said{"READONLY You can't write against a read only replica.", store_errc::read_only},
        said{"MASTERDOWN Link with MASTER is down", store_errc::master_down},
        said{"CLUSTERDOWN Hash slot not served", store_errc::cluster_down},
        said{"TRYAGAIN Multiple keys request during rehashing of slot", store_errc::try_again},
        said{"MOVED 3999 127.0.0.1:6381", store_errc::try_again},
        said{"ASK 3999 127.0.0.1:6381", store_errc::try_again},
        said{"NOREPLICAS Not enough good replicas to write.", store_errc::no_replicas},
        said{"MISCONF Redis is configured to save RDB snapshots", store_errc::disk_trouble},
        said{"OOM command not allowed when used memory > 'maxmemory'.", store_errc::out_of_memory},
        said{"NOPERM this user has no permissions to run the 'get' command",
             store_errc::no_permission},
        said{"NOAUTH Authentication required.", store_errc::not_authenticated},
        said{"WRONGPASS invalid username-password pair or user is disabled.",
             store_errc::not_authenticated},
        said{"WRONGTYPE Operation against a key holding the wrong kind of value",
             store_errc::wrong_type},
        said{"ERR max number of clients reached", store_errc::too_many_clients},
        said{"ERR Script killed by user with SCRIPT KILL. script: f_1",
             store_errc::script_killed}));

INSTANTIATE_TEST_SUITE_P(
    InsideAScript, Classify,
    ::testing::Values(
        said{"ERR The user executing the script can't run this command or subcommand script: f_1",
             store_errc::no_permission},
        said{"ERR The user executing the script can't access at least one of the keys mentioned",
             store_errc::no_permission},
        said{"ERR ACL failure in script: No permissions to access a key script: f_1",
             store_errc::no_permission},
        said{"WRONGTYPE Operation against a key holding the wrong kind of value script: f_1, on "
             "@user_script:1.",
             store_errc::wrong_type},
        said{"ERR Script attempted to execute a command while the cluster is down script: f_1",
             store_errc::cluster_down},
        said{"ERR Script attempted to execute a write command while the cluster is down and "
             "readonly script: f_1",
             store_errc::cluster_down},
        said{"ERR hash value is not an integer", store_errc::wrong_type}));

INSTANTIATE_TEST_SUITE_P(
    InsideAScriptBefore7, Classify,
    ::testing::Values(
        said{"ERR Error running script (call to f_1): @user_script:1: WRONGTYPE Operation against",
             store_errc::wrong_type},
        said{"ERR Error running script (call to f_1): @user_script:1: @user_script: 1: The user "
             "executing the script can't run this command or subcommand",
             store_errc::no_permission},
        said{"ERR Error running script (call to f_1): @user_script:3: -READONLY You can't write",
             store_errc::read_only},
        said{"ERR Error running script (call to f_1): @user_script:1: no idea", store_errc::other},
        said{"ERR Error running script (call to f_1): @user_script:", store_errc::other},
        said{"ERR Error running script", store_errc::other}));

INSTANTIATE_TEST_SUITE_P(OfWordsItDoesNotKnow, Classify,
                         ::testing::Values(said{"", store_errc::other}, //
                                           said{" ", store_errc::other},
                                           said{"ERR", store_errc::other},
                                           said{"ERR ", store_errc::other},
                                           said{"BUSYGROUP exists already", store_errc::other},
                                           said{"LOADINGS of hay", store_errc::other},
                                           said{"oom", store_errc::other},
                                           said{"ERR OOM is not the first word", store_errc::other},
                                           said{"CROSSSLOT Keys don't hash", store_errc::other}));

TEST(Classify, TellsWhatAServerSaysThatBecameAReplica) {
    const std::string_view unblocked = "UNBLOCKED force unblock from blocking operation, instance "
                                       "state changed (master -> replica?)";
    const std::string_view too_late = "ERR WAIT cannot be used with replica instances. Please also";
    for (const std::string_view words : {unblocked, too_late}) {
        EXPECT_TRUE(was_unblocked(words)) << "what was asked before that was carried out";
        EXPECT_TRUE(tells_of_demotion(words));
    }
    for (const std::string_view words :
         {"READONLY You can't write", "MASTERDOWN Link with MASTER"}) {
        EXPECT_FALSE(was_unblocked(words));
        EXPECT_TRUE(tells_of_demotion(words));
    }
    EXPECT_FALSE(tells_of_demotion("ERR unknown command 'WAIT'"));
}

TEST(Classify, AsksForScript) {
    EXPECT_TRUE(asks_for_script("NOSCRIPT No matching script. Please use EVAL."));
    EXPECT_TRUE(asks_for_script("NOSCRIPT No matching script.")); // valkey
    EXPECT_FALSE(asks_for_script("ERR no such thing"));
    EXPECT_FALSE(asks_for_script(""));
}

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Misdirection : public ::testing::Test {
protected:
    /// Returns the error for this reply, or no error code if the reply is of another kind.
    struct outcome {
        error_code code{};
        std::string text{};
    };
    outcome of(const std::string& error) {
        const node_context context{how_, {io_.get_executor(), clock_, {}, {}, {}, {}, {}}};
        const auto why = misdirection(context, made::error(error));
        return why ? outcome{why->code(), why->text()} : outcome{};
    }

    static constexpr const char* moved = "MOVED 866 10.0.0.1:6379";
    static constexpr const char* no_script =
        "ERR unknown command 'EVALSHA', with args beginning with: 'e0e1f9fabfc9d4800c877a703b823a'";

    asio::io_context io_;
    sim::sim_clock clock_{io_};
    options how_{.host = "db.internal", .port = 7000};
};

TEST_F(Misdirection, AtANodeOfAClusterIsToldWithTheUrlOfTheCluster) {
    const outcome got = of(moved);
    EXPECT_EQ(got.code, make_error_code(store_errc::wrong_address));
    EXPECT_EQ(got.code, errc::refused);
    EXPECT_THAT(got.text, StartsWith(moved)) << "the server's own words come first";
    EXPECT_THAT(got.text, HasSubstr("redis+cluster://db.internal:7000"));
    EXPECT_EQ(of("ASK 866 10.0.0.1:6379").code, make_error_code(store_errc::wrong_address));
}

TEST_F(Misdirection, EveryErrorOfAClusterNodeNamesTheUrlOfTheCluster) {
    const outcome cross = of("CROSSSLOT Keys in request don't hash to the same slot");
    EXPECT_EQ(cross.code, make_error_code(store_errc::wrong_address));
    EXPECT_THAT(cross.text, HasSubstr("redis+cluster://db.internal:7000"));
    for (const char* const error :
         {"CLUSTERDOWN Hash slot not served",
          "ERR Error running script (call to f_1): @user_script:1: Script attempted to access keys "
          "while the cluster is down"}) {
        const outcome down = of(error);
        EXPECT_EQ(down.code, make_error_code(store_errc::cluster_down)) << "calls wait for its end";
        EXPECT_THAT(down.text, HasSubstr("redis+cluster://db.internal:7000"));
    }
}

TEST_F(Misdirection, TheUrlIsOneThatReachesTheSamePlace) {
    how_.tls.emplace();
    EXPECT_THAT(of(moved).text, HasSubstr("rediss+cluster://db.internal:7000"));
    how_.tls.reset();
    how_.host = "::1";
    EXPECT_THAT(of(moved).text, HasSubstr("redis+cluster://[::1]:7000"));
    how_.unix_socket = "/run/redis";
    EXPECT_THAT(of(moved).text, HasSubstr("redis+cluster://HOST:PORT"));
}

TEST_F(Misdirection, InAClusterIsNoError) {
    how_.cluster.emplace();
    EXPECT_FALSE(of(moved).code);
    EXPECT_FALSE(of("CLUSTERDOWN Hash slot not served").code);
    EXPECT_FALSE(of(no_script).code);
}

TEST_F(Misdirection, WhereNoScriptsAreKnownMayBeAtASentinel) {
    const outcome got = of(no_script);
    EXPECT_EQ(got.code, make_error_code(store_errc::other));
    EXPECT_THAT(got.text, StartsWith("ERR unknown command 'EVALSHA'"));
    EXPECT_THAT(got.text, HasSubstr("redis+sentinel://db.internal:7000/SERVICE"));
}

TEST_F(Misdirection, OtherErrorsAreNone) {
    for (const char* const each : {"ERR unknown command 'WAIT'", "NOPERM no", "MOVEDX", "",
                                   "TRYAGAIN Multiple keys request during rehashing of slot"})
        EXPECT_FALSE(of(each).code) << each;
}

TEST_F(Misdirection, ASentinelSaysSo) {
    reply role = made::list({made::text("sentinel"), made::texts({"orders", "others"})});
    EXPECT_TRUE(is_sentinel(role));
    EXPECT_THAT(advice_at_sentinel(how_, &role),
                EndsWith("redis+sentinel://db.internal:7000/orders"));
    role.items.pop_back();
    EXPECT_THAT(advice_at_sentinel(how_, &role), EndsWith("/SERVICE"));
    EXPECT_FALSE(is_sentinel(made::texts({"master"})));
    EXPECT_FALSE(is_sentinel(made::text("sentinel")));
}

constexpr script lock{"lock", "",
                      "-- first line\n"
                      "local t = redis.pcall('time')\n"
                      "redis.call('hset', KEYS[1], ARGV[2], '1')\n"
                      "if redis.call('pttl', KEYS[1]) < 1 then\n"
                      "    redis.pcall('time')\n"
                      "    redis.pcall('pexpire', KEYS[1], 1) end"};
constexpr std::string_view script_keys[] = {"app:k"};

std::string missing(std::string_view error) {
    return missing_right(error, lock, script_keys);
}

TEST(MissingRight, IsTheCommandThatTheServerNames) {
    EXPECT_EQ(missing("NOPERM this user has no permissions to run the 'evalsha' command"),
              "+evalsha");
    EXPECT_EQ(missing("ERR ACL failure in script: User lk has no permissions to run the "
                      "'pexpire' command script: f_1, on @user_script:2."),
              "+pexpire");
    EXPECT_EQ(missing("NOPERM User lk has no permissions to run the 'client|setname' command"),
              "+client|setname");
    EXPECT_EQ(
        missing_right("NOPERM User lk has no permissions to run the 'subscribe' command", "app:ch"),
        "+subscribe");
}

TEST(MissingRight, IsReadFromTheScriptsLineWhereTheServerNamesOnlyThat) {
    EXPECT_EQ(missing("ERR The user executing the script can't run this command or subcommand "
                      "script: f_1, on @user_script:3."),
              "+hset");
    EXPECT_EQ(missing("ERR The user executing the script can't run this command or subcommand "
                      "script: f_1, on @user_script:4."),
              "+pttl");
    EXPECT_EQ(missing("ERR Error running script (call to f_1): @user_script:3: @user_script: 3: "
                      "The user executing the script can't run this command or subcommand"),
              "+hset");
}

TEST(MissingRight, IsOneOfThoseThatTheScriptHandsOnWhereTheServerNamesNothing) {
    EXPECT_EQ(missing("ERR The user executing the script can't run this command or subcommand"),
              "+time +pexpire");
}

TEST(MissingRight, IsTheKeyOrTheChannel) {
    EXPECT_EQ(missing("NOPERM this user has no permissions to access one of the keys used as "
                      "arguments"),
              "~app:k");
    EXPECT_EQ(missing("NOPERM No permissions to access a key"), "~app:k");
    EXPECT_EQ(missing("ERR ACL failure in script: No permissions to access a key script: f_1, on "
                      "@user_script:1."),
              "~app:k");
    EXPECT_EQ(missing("ERR The user executing the script can't access at least one of the keys "
                      "mentioned in the command arguments script: f_1, on @user_script:1."),
              "~app:k");
    EXPECT_EQ(missing_right("NOPERM this user has no permissions to access one of the channels "
                            "used as arguments",
                            "app:ch"),
              "&app:ch");
    EXPECT_EQ(missing_right("NOPERM No permissions to access a channel", "app:ch"), "&app:ch");
}

TEST(MissingRight, NamesAllKeysThatItMayBe) {
    constexpr std::string_view both[] = {"a", "b"};
    EXPECT_EQ(missing_right("NOPERM No permissions to access a key", lock, both), "~a ~b");
}

TEST(MissingRight, IsNothingWhereTheErrorIsAboutSomethingElse) {
    EXPECT_EQ(missing("WRONGTYPE Operation against a key"), "");
    EXPECT_EQ(missing_right("LOADING", "ch"), "");
    EXPECT_EQ(with_missing_right("LOADING", ""), "LOADING");
    EXPECT_EQ(with_missing_right("NOPERM", "+hset"), "NOPERM (to be granted: +hset)");
}

TEST(MissingRight, OfALineThatIsNotThereIsNothing) {
    for (const char* line : {"0", "7", "99999999999999999999", "x", ""})
        EXPECT_EQ(missing(std::string{"ERR The user executing the script can't run this command "
                                      "script: f_1, on @user_script:"} +
                          line)
                      .find("hset"),
                  std::string::npos)
            << line;
}

} // namespace
} // namespace holdfast::redis
