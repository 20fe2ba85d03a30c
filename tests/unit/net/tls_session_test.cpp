// SPDX-License-Identifier: Apache-2.0
// What both ends say, and how they end.
#include "tls_fixture.hpp"

#include <openssl/ssl.h>

namespace holdfast::net {
namespace {

using ::testing::HasSubstr;

using TlsSession = with_tls_peer;

TEST_F(TlsSession, CarriesWhatIsSaidHoweverTheBytesArrive) {
    const std::string much(100'000, 'm');
    for (const std::size_t at_once : {1u, 7u, 1000u, 65536u}) {
        at_once_ = at_once;
        heard_.clear();
        EXPECT_FALSE(connect());
        EXPECT_TRUE(session_->established());
        say("question");
        carry_to_us(peer_->say("answer"));
        EXPECT_EQ(heard_, "answer");
        say(much);
        EXPECT_TRUE(peer_->heard == "question" + much);
        carry_to_us(peer_->say(much + "end"));
        EXPECT_TRUE(heard_ == "answer" + much + "end");
    }
}

TEST_F(TlsSession, NothingOfItCanBeReadOnTheWay) {
    EXPECT_FALSE(connect());
    std::string sealed = "before:";
    EXPECT_TRUE(session_->seal("hunter2", sealed));
    EXPECT_TRUE(sealed.starts_with("before:"));
    EXPECT_THAT(sealed, ::testing::Not(HasSubstr("hunter2")));
}

TEST_F(TlsSession, WorksWithTheOldestVersionAllowed) {
    EXPECT_FALSE(connect({.version_max = TLS1_2_VERSION}));
    say("question");
    EXPECT_EQ(peer_->heard, "question");
}

TEST_F(TlsSession, RefusesOlderVersions) {
    const auto why = connect({.version_max = TLS1_1_VERSION});
    ASSERT_TRUE(why);
    EXPECT_EQ(why->code(), store_errc::tls_failed);
    EXPECT_EQ(why->code(), errc::unreachable);
    EXPECT_THAT(why->text(), HasSubstr("protocol version"));
}

TEST_F(TlsSession, ToldThatNoMoreWillComeItKnowsTheEndFromACut) {
    EXPECT_FALSE(connect());
    EXPECT_FALSE(session_->ended());
    const std::string last_words = peer_->say("last words");
    carry_to_us(last_words + peer_->say_goodbye());
    EXPECT_EQ(heard_, "last words");
    EXPECT_TRUE(session_->ended());
}

TEST_F(TlsSession, SaysGoodbye) {
    EXPECT_FALSE(connect());
    std::string last;
    session_->say_goodbye(last);
    peer_->take(last);
    EXPECT_TRUE(peer_->heard_goodbye());
}

TEST_F(TlsSession, WhoseHandshakeIsNotOverHasNoGoodbyeToSay) {
    tls_context context{how_, host_};
    const auto session = context.begin();
    std::string hello, goodbye;
    EXPECT_TRUE(session->seal("", hello));
    EXPECT_FALSE(hello.empty());
    session->say_goodbye(goodbye);
    EXPECT_EQ(goodbye, "");
}

TEST_F(TlsSession, NewKeysAreAgreedOnBesideTheTalk) {
    EXPECT_FALSE(connect());
    const std::string wish = peer_->ask_for_new_keys();
    carry_to_us(wish + peer_->say("with new keys"));
    EXPECT_EQ(heard_, "with new keys");
    say("with ours");
    EXPECT_EQ(peer_->heard, "with ours") << peer_->refused;
}

TEST_F(TlsSession, ARecordThatWasChangedOnTheWayEndsIt) {
    EXPECT_FALSE(connect());
    std::string answer = peer_->say("answer");
    answer.back() = static_cast<char>(answer.back() ^ 1);
    try {
        carry_to_us(answer);
        FAIL() << "it was believed: " << heard_;
    } catch (const failure& why) {
        EXPECT_EQ(why.code(), store_errc::tls_failed);
        EXPECT_THAT(why.text(), HasSubstr("bad record mac"));
    }
    std::string out;
    EXPECT_FALSE(session_->seal("more", out));
}

TEST_F(TlsSession, WhatSpeaksNoTLSIsTold) {
    tls_context context{how_, host_};
    try {
        context.begin()->open("-ERR Protocol error\r\n");
        FAIL() << "it was taken";
    } catch (const failure& why) {
        EXPECT_EQ(why.code(), store_errc::tls_failed);
        EXPECT_THAT(why.text(), HasSubstr("does not speak TLS; without it, it is redis://"));
    }
}

} // namespace
} // namespace holdfast::net
