// SPDX-License-Identifier: Apache-2.0
#include "support/recorder.hpp"
#include "zookeeper/protocol.hpp"

#include <holdfast/error.hpp>

#include <functional>
#include <limits>
#include <ostream>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast::zookeeper {
namespace {

using ::testing::HasSubstr;

struct meaning {
    std::int32_t error;
    error_code code;
    errc in_short;
};
void PrintTo(const meaning& one, std::ostream* out) {
    *out << one.error;
}

class ZookeeperError : public ::testing::TestWithParam<meaning> {};

TEST_P(ZookeeperError, MeansWhatACallerCanActOn) {
    const net::failure why = failure_of(GetParam().error, "the creation of /x");
    EXPECT_EQ(why.code(), GetParam().code);
    EXPECT_EQ(why.code(), GetParam().in_short);
    EXPECT_THAT(why.text(), HasSubstr("(" + std::to_string(GetParam().error) + ")"));
    EXPECT_THAT(why.text(), HasSubstr("the creation of /x"));
}

INSTANTIATE_TEST_SUITE_P(
    All, ZookeeperError,
    ::testing::Values(meaning{-4, make_error_code(errc::outcome_unknown), errc::outcome_unknown},
                      meaning{-7, make_error_code(errc::outcome_unknown), errc::outcome_unknown},
                      meaning{-102, make_error_code(store_errc::no_permission), errc::refused},
                      meaning{-108, make_error_code(store_errc::wrong_type), errc::refused},
                      meaning{-112, make_error_code(errc::unreachable), errc::unreachable},
                      meaning{-114, make_error_code(store_errc::not_authenticated), errc::refused},
                      meaning{-115, make_error_code(store_errc::not_authenticated), errc::refused},
                      meaning{-118, make_error_code(errc::unreachable), errc::unreachable},
                      meaning{-119, make_error_code(store_errc::read_only), errc::unreachable},
                      meaning{-120, make_error_code(store_errc::unfit), errc::refused},
                      meaning{-124, make_error_code(store_errc::not_authenticated), errc::refused},
                      meaning{-125, make_error_code(store_errc::out_of_memory), errc::refused},
                      meaning{-127, make_error_code(store_errc::try_again), errc::unreachable},
                      meaning{-1, make_error_code(store_errc::other), errc::refused},
                      meaning{12345, make_error_code(store_errc::other), errc::refused}));

using ::testing::ElementsAre;

constexpr std::size_t most = 100;

std::string framed(std::string_view content) {
    std::string out;
    const std::size_t at = begin_frame(out);
    out += content;
    end_frame(out, at);
    return out;
}

std::vector<std::string> frames_in(frame_reader& reader) {
    std::vector<std::string> all;
    while (const auto frame = reader.next())
        all.emplace_back(*frame);
    return all;
}

TEST(FrameReader, CutsTheBytesAsTheyWereFramed) {
    frame_reader reader{most};
    reader.feed(framed("one") + framed("") + framed("two") + framed("three").substr(0, 6));
    EXPECT_THAT(frames_in(reader), ElementsAre("one", "", "two"));
    reader.feed(framed("three").substr(6));
    EXPECT_THAT(frames_in(reader), ElementsAre("three"));
}

TEST(FrameReader, ItDoesNotMatterWhereTheBytesAreSplit) {
    const std::string bytes = framed("one") + framed(std::string(most, 'x')) + framed("two");
    for (std::size_t at = 0; at <= bytes.size(); ++at) {
        frame_reader reader{most};
        reader.feed(bytes.substr(0, at));
        auto all = frames_in(reader);
        reader.feed(bytes.substr(at));
        for (const std::string& one : frames_in(reader))
            all.push_back(one);
        EXPECT_THAT(all, ElementsAre("one", std::string(most, 'x'), "two")) << at;
    }
}

TEST(FrameReader, ALengthThatCannotBeIsRefusedAtOnce) {
    for (const std::string& length :
         {std::string{"\0\0\0\x65", 4}, std::string{"\x7f\xff\xff\xff", 4},
          std::string{"\x80\0\0\0", 4}, std::string{"\xff\xff\xff\xff", 4}, std::string{"HTTP"},
          std::string{"-ERR"}}) {
        frame_reader reader{most};
        reader.feed(length);
        EXPECT_EQ(support::code_of([&] { reader.next(); }), store_errc::protocol);
    }
}

TEST(FrameReader, WritesBehindWhatIsThere) {
    std::string out = "before";
    const std::size_t at = begin_frame(out);
    out += "abc";
    end_frame(out, at);
    EXPECT_EQ(out, (std::string{"before\0\0\0\3abc", 13}));
}

using support::code_of;
using ::testing::IsEmpty;

const error_code garbage = make_error_code(store_errc::protocol);

std::string number_bytes(std::int32_t value) {
    std::string out;
    jute_writer{out}.number(value);
    return out;
}

TEST(Jute, WritesTheHighestByteFirst) {
    std::string out;
    jute_writer{out}.number(0x01020304).long_number(-2).flag(true).text("ab");
    EXPECT_EQ(out, (std::string{"\1\2\3\4\xff\xff\xff\xff\xff\xff\xff\xfe\1\0\0\0\2ab", 19}));
}

TEST(Jute, ReadsWhatItWrote) {
    for (const std::int64_t value :
         {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 32,
          std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
        std::string out;
        jute_writer{out}.long_number(value).number(static_cast<std::int32_t>(value)).text("x");
        jute_reader from{out};
        EXPECT_EQ(from.long_number(), value);
        EXPECT_EQ(from.number(), static_cast<std::int32_t>(value));
        EXPECT_EQ(from.text(), "x");
        EXPECT_TRUE(from.at_end());
    }
}

TEST(Jute, NullIsEmpty) {
    const std::string null = number_bytes(-1);
    EXPECT_EQ(jute_reader{null}.text(), "");
    EXPECT_THAT(jute_reader{null}.texts(), IsEmpty());
}

TEST(Jute, ANegativeLengthIsRefused) {
    for (const std::int32_t length : {-2, -1000, std::numeric_limits<std::int32_t>::min()}) {
        const std::string bytes = number_bytes(length) + std::string(1000, 'x');
        EXPECT_EQ(code_of([&] { jute_reader{bytes}.text(); }), garbage);
        EXPECT_EQ(code_of([&] { jute_reader{bytes}.texts(); }), garbage);
    }
}

TEST(Jute, AListThatClaimsMoreThanCameWithItIsRefusedBeforeThereIsMemoryForIt) {
    for (const std::int32_t count : {3, 1 << 20, std::numeric_limits<std::int32_t>::max()}) {
        const std::string bytes = number_bytes(count) + number_bytes(0) + number_bytes(0);
        EXPECT_EQ(code_of([&] { jute_reader{bytes}.texts(); }), garbage);
    }
}

TEST(Jute, ReadsNothingBeyondTheEnd) {
    std::string whole;
    jute_writer{whole}.number(2).text("one").text("two");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const std::string cut = whole.substr(0, size); // a buffer of its own: asan sees its end
        EXPECT_EQ(code_of([&] { jute_reader{cut}.texts(); }), garbage) << size;
    }
    EXPECT_THAT(jute_reader{whole}.texts(), ElementsAre("one", "two"));
    for (const std::size_t size : {0, 3})
        EXPECT_EQ(code_of([&] { jute_reader{whole.substr(0, size)}.number(); }), garbage);
    EXPECT_EQ(code_of([&] { jute_reader{whole.substr(0, 7)}.long_number(); }), garbage);
    EXPECT_EQ(code_of([&] { jute_reader{""}.flag(); }), garbage);
}

/// All that a stat has: eleven numbers, each another one.
std::string stat_bytes() {
    std::string out;
    jute_writer to{out};
    to.long_number(101).long_number(102).long_number(103).long_number(104);
    to.number(5).number(6).number(7).long_number(108).number(9).number(10).long_number(111);
    return out;
}

std::string text_bytes(std::string_view text) {
    std::string out;
    jute_writer{out}.text(text);
    return out;
}

TEST(Messages, ACreationHasItsPathDataAclAndMode) {
    const message made =
        create_message("/a", "me", node_mode::ephemeral_sequential, node_acl::open);
    EXPECT_EQ(made.what, opcode::create2);
    EXPECT_TRUE(made.is_write());
    jute_reader from{made.body};
    EXPECT_EQ(from.text(), "/a");
    EXPECT_EQ(from.text(), "me");
    EXPECT_EQ(from.number(), 1);
    EXPECT_EQ(from.number(), 31);
    EXPECT_EQ(from.text(), "world");
    EXPECT_EQ(from.text(), "anyone");
    EXPECT_EQ(from.number(), 3);
    EXPECT_TRUE(from.at_end());
}

TEST(Messages, AContainerHasARequestOfItsOwn) {
    const message made = create_message("/a", "", node_mode::container, node_acl::creator);
    EXPECT_EQ(made.what, opcode::create_container);
    EXPECT_TRUE(made.is_write());
    EXPECT_THAT(made.body, ::testing::HasSubstr("auth"));
}

TEST(Messages, ReadsAndSyncsAreNoWrites) {
    for (const message& one : {exists_message("/a"), get_message("/a", true),
                               list_message("/a", false), sync_message("/a")})
        EXPECT_FALSE(one.is_write());
    const std::vector<std::string> paths{"/a"};
    for (const message& one : {remove_message("/a"), set_message("/a", ""), check_message(paths)})
        EXPECT_TRUE(one.is_write());
}

TEST(Messages, AFrameHasLengthNumberAndOpcode) {
    std::string out;
    compose(out, 7, {opcode::sync, text_bytes("/")});
    EXPECT_EQ(out, (std::string{"\0\0\0\x0d\0\0\0\7\0\0\0\x09\0\0\0\1/", 17}));
    out.clear();
    compose_ping(out);
    EXPECT_EQ(out, (std::string{"\0\0\0\x08\xff\xff\xff\xfe\0\0\0\x0b", 12}));
}

TEST(Messages, ADigestIsUserColonPassword) {
    std::string out;
    compose_digest(out, {"app", "secret"});
    jute_reader from{out};
    EXPECT_EQ(from.number(), static_cast<std::int32_t>(out.size() - 4));
    EXPECT_EQ(from.number(), number_of::authentication);
    EXPECT_EQ(from.number(), 100);
    EXPECT_EQ(from.number(), 0);
    EXPECT_EQ(from.text(), "digest");
    EXPECT_EQ(from.text(), "app:secret");
    EXPECT_TRUE(from.at_end());
}

TEST(Messages, AGreetingAsksForANewSessionOrThePresentOne) {
    std::string fresh, again;
    compose_greeting(fresh, {.timeout_ms = 6000});
    compose_greeting(again, {.last_zxid = 9, .timeout_ms = 6000, .id = 5, .password = "pw"});
    jute_reader first{fresh}, second{again};
    for (jute_reader* const from : {&first, &second}) {
        from->number(); // length
        EXPECT_EQ(from->number(), 0);
    }
    EXPECT_EQ(first.long_number(), 0);
    EXPECT_EQ(first.number(), 6000);
    EXPECT_EQ(first.long_number(), 0);
    EXPECT_EQ(first.text(), std::string(16, '\0'));
    EXPECT_FALSE(first.flag()) << "no server that only reads";
    EXPECT_EQ(second.long_number(), 9);
    EXPECT_EQ(second.number(), 6000);
    EXPECT_EQ(second.long_number(), 5);
    EXPECT_EQ(second.text(), "pw");
}

TEST(Messages, AWelcomeNeedNotTellWhetherTheServerOnlyReads) { // as of 3.3 and before
    std::string frame;
    jute_writer{frame}.number(0).number(4000).long_number(5).text("pw");
    const welcome told = read_welcome(frame);
    EXPECT_EQ(told.timeout_ms, 4000);
    EXPECT_EQ(told.id, 5);
    EXPECT_EQ(told.password, "pw");
}

TEST(Messages, ReadsAStat) {
    const std::string bytes = stat_bytes();
    jute_reader from{bytes};
    const node_stat stat = read_stat(from);
    EXPECT_EQ(stat.czxid, 101);
    EXPECT_EQ(stat.mzxid, 102);
    EXPECT_EQ(stat.made_at, 103);
    EXPECT_EQ(stat.version, 5);
    EXPECT_EQ(stat.child_version, 6);
    EXPECT_EQ(stat.ephemeral_owner, 108);
    EXPECT_EQ(stat.data_length, 9);
    EXPECT_EQ(stat.children, 10);
    EXPECT_EQ(stat.pzxid, 111);
    EXPECT_TRUE(from.at_end());
}

TEST(Messages, ACreatedNodeMayComeWithoutItsStat) {
    EXPECT_EQ(read_created(text_bytes("/a0")).stat.czxid, 0);
    const created_node made = read_created(text_bytes("/a0") + stat_bytes());
    EXPECT_EQ(made.path, "/a0");
    EXPECT_EQ(made.stat.czxid, 101);
}

TEST(Messages, ReadsAnEvent) {
    std::string bytes;
    jute_writer{bytes}.number(2).number(3).text("/a");
    jute_reader from{bytes};
    const node_event told = read_event(from);
    EXPECT_TRUE(told.is(node_event::kind::deleted));
    EXPECT_EQ(told.path, "/a");
}

/// Reply of a server to a multi request. If one operation fails, all fail.
std::string checks_bytes(const std::vector<std::int32_t>& errors, bool failed) {
    std::string out;
    jute_writer to{out};
    for (const std::int32_t error : errors) {
        to.number(failed ? -1 : 13).flag(false).number(error);
        if (failed)
            to.number(error);
    }
    to.number(-1).flag(true).number(-1);
    return out;
}

TEST(Messages, OfSeveralChecksThoseBehindAMissingNodeAreNotDecided) {
    EXPECT_THAT(read_checks(checks_bytes({0, 0}, false), 2), ElementsAre(true, true));
    EXPECT_THAT(read_checks(checks_bytes({0, -101, -2}, true), 3),
                ElementsAre(true, false, std::nullopt));
}

TEST(Messages, MoreOrFewerChecksThanWereAskedAreRefused) {
    for (const std::size_t asked : {1, 3})
        EXPECT_EQ(support::code_of([&] {
                      read_checks(checks_bytes({0, 0}, false), asked);
                  }),
                  store_errc::protocol);
}

TEST(Messages, AnAnswerThatEndsTooEarlyIsRefused) {
    const std::string data = text_bytes("abc") + stat_bytes();
    const std::string created = text_bytes("/a0") + stat_bytes();
    const std::string checks = checks_bytes({0, -101, -2}, true);
    const auto refused = [](const std::string& bytes, const std::function<void()>& read) {
        EXPECT_EQ(support::code_of(read), store_errc::protocol) << bytes.size();
    };
    for (std::size_t size = 0; size < data.size(); ++size) {
        const std::string cut = data.substr(0, size);
        refused(cut, [&] { read_data(cut); });
        refused(cut, [&] { read_welcome(cut.substr(0, 19)); });
    }
    for (std::size_t size = 0; size < created.size(); ++size)
        if (const std::string cut = created.substr(0, size); size != 7) // no stat at all
            refused(cut, [&] { read_created(cut); });
    for (std::size_t size = 0; size < checks.size(); ++size) {
        const std::string cut = checks.substr(0, size);
        refused(cut, [&] { read_checks(cut, 3); });
    }
}

} // namespace
} // namespace holdfast::zookeeper
