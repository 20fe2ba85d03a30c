// SPDX-License-Identifier: Apache-2.0
#include "support/thrown.hpp"
#include "zookeeper/wire/messages.hpp"

#include <functional>

#include <gmock/gmock.h>

namespace holdfast::zookeeper {
namespace {

using ::testing::ElementsAre;

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

/// As servers answer a multi: where one fails, all do.
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
