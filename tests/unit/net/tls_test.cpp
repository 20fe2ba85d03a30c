// SPDX-License-Identifier: Apache-2.0
// TLS without sockets: the files of a context, what both ends say, and whom they trust.
#include "net/failure.hpp"
#include "net/tls.hpp"
#include "support/tls.hpp"

#include <openssl/ssl.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include <gmock/gmock.h>

namespace holdfast::net {

/// Both ends of a TLS connection and the wire between them, which carries as many bytes at once as
/// the test likes.
class with_tls_peer : public ::testing::Test {
protected:
    using peer = support::tls_peer;
    using wanted = support::authority::wanted;

    /// A connection, as far as it gets; why it failed, if it did.
    std::optional<failure> connect(peer::options there = {}) {
        try {
            context_ = std::make_unique<tls_context>(how_, host_);
            peer_ = std::make_unique<peer>(server_, there);
            session_ = context_->begin();
            exchange();
            return std::nullopt;
        } catch (const failure& why) {
            return why;
        }
    }

    /// Until neither end has anything more to say to the other.
    void exchange() {
        for (;;) {
            std::string to_peer;
            EXPECT_TRUE(session_->seal("", to_peer));
            std::string to_us = to_peer.empty() ? "" : peer_->take(to_peer);
            if (to_us.empty())
                return;
            carry_to_us(to_us);
        }
    }

    void carry_to_us(std::string_view bytes) {
        for (; !bytes.empty(); bytes.remove_prefix(std::min(at_once_, bytes.size())))
            heard_ += session_->open(bytes.substr(0, at_once_));
    }

    void say(std::string_view text) {
        std::string sealed;
        EXPECT_TRUE(session_->seal(text, sealed));
        const std::string answer = peer_->take(sealed);
        carry_to_us(answer);
    }

    support::authority authority_;
    support::identity server_ = authority_.issue("server");
    tls_options how_{.ca_file = authority_.file()};
    std::string host_ = "localhost";
    std::size_t at_once_ = 64 * 1024;

    std::unique_ptr<tls_context> context_;
    std::unique_ptr<tls_session> session_;
    std::unique_ptr<peer> peer_;
    std::string heard_; ///< by us
};

namespace {

// The files, and that they are read again.

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class TlsContext : public with_tls_peer {
protected:
    std::string objection() {
        try {
            check_files(how_);
            return "none";
        } catch (const failure& why) {
            EXPECT_EQ(why.code(), errc::unreachable);
            return why.text();
        }
    }
    void use(const support::identity& mine) {
        how_.certificate_file = mine.certificate_file;
        how_.key_file = mine.key_file;
    }
};

TEST_F(TlsContext, NamesTheFileThatIsWrongAndWhy) {
    EXPECT_EQ(objection(), "none");
    use(authority_.issue("client"));
    EXPECT_EQ(objection(), "none");
    const tls_options good = how_;

    const std::string nothing = "/no/such/file";
    how_.ca_file = nothing;
    EXPECT_EQ(objection(), "tls_ca_file /no/such/file: No such file or directory");
    how_ = good;
    how_.certificate_file = nothing;
    EXPECT_EQ(objection(), "tls_certificate_file /no/such/file: No such file or directory");
    how_ = good;
    how_.key_file = nothing;
    EXPECT_EQ(objection(), "tls_key_file /no/such/file: No such file or directory");

    how_ = good;
    how_.ca_file = good.key_file;
    EXPECT_THAT(objection(), HasSubstr("tls_ca_file " + good.key_file + ": no certificate"));
    how_ = good;
    how_.certificate_file = good.key_file;
    EXPECT_THAT(objection(), HasSubstr("tls_certificate_file " + good.key_file + ": no start"));
    how_ = good;
    how_.key_file = server_.key_file;
    EXPECT_EQ(objection(), "tls_key_file " + server_.key_file + ": key values mismatch");
}

TEST_F(TlsContext, AsksNobodyForTheKeysPassword) {
    use(authority_.issue("client", {.key_password = "hunter2"}));
    EXPECT_THAT(objection(), HasSubstr("tls_key_file " + how_.key_file));
    how_.key_password = "wrong-one";
    EXPECT_THAT(objection(), AllOf(HasSubstr("tls_key_file"), Not(HasSubstr("wrong-one"))));
    how_.key_password = std::string(5000, 'x'); // more than fits
    EXPECT_THAT(objection(), HasSubstr("tls_key_file"));
    how_.key_password = "hunter2";
    EXPECT_EQ(objection(), "none");
}

TEST_F(TlsContext, ReadsTheFilesForEachSession) {
    use(authority_.issue("client"));
    EXPECT_FALSE(connect({.clients_from = authority_.file()}));
    const auto again = [&] {
        peer_ = std::make_unique<peer>(server_, peer::options{.clients_from = authority_.file()});
        session_ = context_->begin();
        exchange();
    };
    again();

    std::ofstream{how_.certificate_file} << "is being replaced";
    EXPECT_THROW(again(), failure);
    const support::authority stranger{"A stranger"};
    const auto others = stranger.issue("client");
    std::filesystem::copy_file(others.certificate_file, how_.certificate_file,
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::copy_file(others.key_file, how_.key_file,
                               std::filesystem::copy_options::overwrite_existing);
    EXPECT_THROW(again(), failure);
    EXPECT_EQ(peer_->refused, "certificate verify failed");

    authority_.issue("client");
    again();
    say("question");
    EXPECT_EQ(peer_->heard, "question");
}

// Data that both ends send, and how connections end.

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

// Verification of certificates by both ends, and the messages about a refused certificate.

using days = support::authority::days;

class TlsTrust : public with_tls_peer {
protected:
    /// Returns the message about the server's certificate.
    std::string objection() {
        const auto why = connect();
        if (!why)
            return "none";
        EXPECT_EQ(why->code(), store_errc::untrusted);
        EXPECT_EQ(why->code(), errc::refused);
        tell_peer();
        EXPECT_FALSE(peer_->established());
        EXPECT_EQ(peer_->heard, "");
        return why->text();
    }

    /// Sends the data that follows a failure: the reason.
    void tell_peer() {
        std::string last;
        session_->say_goodbye(last);
        peer_->take(last);
    }

    std::string objection_to_names(const std::string& host, const std::string& names) {
        host_ = host;
        server_ = authority_.issue("server", {.names = names});
        return objection();
    }
};

TEST_F(TlsTrust, ACertificateForTheHostIsAccepted) {
    EXPECT_EQ(objection(), "none");
    EXPECT_EQ(objection_to_names("db.internal", "DNS:other,DNS:DB.internal"), "none");
    EXPECT_EQ(objection_to_names("db.shop.internal", "DNS:*.shop.internal"), "none");
    EXPECT_EQ(objection_to_names("db.internal.", "DNS:db.internal"), "none");
    EXPECT_EQ(objection_to_names("127.0.0.1", "IP:127.0.0.1"), "none");
    EXPECT_EQ(objection_to_names("::1", "IP:::1"), "none");
    EXPECT_EQ(objection_to_names("fe80::1%1", "IP:fe80::1"), "none");
}

TEST_F(TlsTrust, OneForAnotherHostIsNot) {
    EXPECT_THAT(objection_to_names("localhost", "DNS:db.internal,IP:10.0.0.1,IP:::2"),
                AllOf(HasSubstr("its certificate is for db.internal, 10.0.0.1, ::2, not for "
                                "localhost"),
                      HasSubstr("tls_server_name")));
    EXPECT_EQ(peer_->refused, "sslv3 alert bad certificate"); // it is told, too
    EXPECT_THAT(objection_to_names("127.0.0.1", "DNS:127.0.0.1"),
                HasSubstr("its certificate is for 127.0.0.1, not for 127.0.0.1"));
    EXPECT_THAT(objection_to_names("127.0.0.1", "IP:127.0.0.2"), HasSubstr("not for 127.0.0.1"));
    EXPECT_THAT(objection_to_names("db.internal", "IP:127.0.0.1"), HasSubstr("for db.internal"));
    EXPECT_THAT(objection_to_names("a.b.shop.internal", "DNS:*.shop.internal"),
                HasSubstr("not for a.b"));
    EXPECT_THAT(objection_to_names("db.shop.internal", "DNS:d*.shop.internal"),
                HasSubstr("not for db.shop"));
}

TEST_F(TlsTrust, ACommonNameNamesNoHost) {
    host_ = "server"; // as the certificate's common name
    EXPECT_THAT(objection_to_names("server", ""),
                HasSubstr("its certificate names no host (in subjectAltName), not for server"));
}

TEST_F(TlsTrust, TheNameToExpectCanBeGiven) {
    how_.server_name = "db.internal";
    EXPECT_EQ(objection_to_names("127.0.0.1", "DNS:db.internal"), "none");
    EXPECT_EQ(peer_->name_asked_for(), "db.internal");
    EXPECT_THAT(objection_to_names("127.0.0.1", "IP:127.0.0.1"), HasSubstr("not for db.internal"));
}

TEST_F(TlsTrust, TheServerIsToldTheNameButNoAddress) {
    EXPECT_EQ(objection(), "none");
    EXPECT_EQ(peer_->name_asked_for(), "localhost");
    EXPECT_EQ(objection_to_names("127.0.0.1", "IP:127.0.0.1"), "none");
    EXPECT_EQ(peer_->name_asked_for(), "");
}

TEST_F(TlsTrust, AnAuthorityThatIsNotTrustedIsNamed) {
    const support::authority stranger{"A \x1b[1mstranger\n"};
    server_ = stranger.issue("server");
    EXPECT_THAT(objection(), AllOf(HasSubstr("was signed by /CN=A "), HasSubstr("stranger"),
                                   HasSubstr("which is not trusted here; tls_ca_file names"),
                                   Not(HasSubstr("\x1b")), Not(HasSubstr("\n"))));
}

TEST_F(TlsTrust, AnotherAuthorityOfTheSameNameIsNotTrusted) {
    const support::authority namesake;
    server_ = namesake.issue("server");
    EXPECT_THAT(objection(), AllOf(HasSubstr("was not signed by the /CN=The test's authority that"),
                                   HasSubstr("by another of that name; tls_ca_file")));
}

TEST_F(TlsTrust, TheSystemsAuthoritiesAreTrustedUnlessOthersAreNamed) {
    how_.ca_file.clear();
    EXPECT_THAT(objection(), HasSubstr("not trusted here"));
    ::setenv("SSL_CERT_FILE", authority_.file().c_str(), 1);
    EXPECT_EQ(objection(), "none");
    const support::authority other{"Another authority"};
    how_.ca_file = other.file();
    EXPECT_THAT(objection(), HasSubstr("not trusted here"));
    ::unsetenv("SSL_CERT_FILE");
}

TEST_F(TlsTrust, DatesCount) {
    server_ = authority_.issue("server", {.begins = days{-20}, .ends = days{-10}});
    EXPECT_THAT(objection(),
                AllOf(HasSubstr("its certificate has expired, on 20"), HasSubstr(" UTC")));
    server_ = authority_.issue("server", {.begins = days{10}, .ends = days{20}});
    EXPECT_THAT(objection(), AllOf(HasSubstr("its certificate is not valid before 20"),
                                   HasSubstr("is this machine's date right?")));
}

TEST_F(TlsTrust, WithoutVerificationEverythingIsTaken) {
    const support::authority stranger{"A stranger"};
    server_ = stranger.issue("server", {.names = "DNS:other", .ends = days{-1}});
    how_.insecure_skip_verification = true;
    EXPECT_EQ(objection(), "none");
    say("question");
    EXPECT_EQ(peer_->heard, "question");
}

TEST_F(TlsTrust, AServerThatWantsACertificateGetsIt) {
    const auto mine = authority_.issue("client", {.key_password = "hunter2"});
    how_.certificate_file = mine.certificate_file;
    how_.key_file = mine.key_file;
    how_.key_password = "hunter2";
    for (const int version : {0, TLS1_2_VERSION}) {
        EXPECT_FALSE(connect({.version_max = version, .clients_from = authority_.file()}));
        say("question");
        EXPECT_EQ(peer_->heard, "question") << peer_->refused;
    }
}

TEST_F(TlsTrust, AServerThatMissesOneSaysSoInTheTalkIfItMust) {
    const auto why = connect({.clients_from = authority_.file()});
    ASSERT_TRUE(why);
    EXPECT_EQ(why->code(), store_errc::not_authenticated);
    EXPECT_THAT(why->text(), AllOf(HasSubstr("the server does not accept this client"),
                                   HasSubstr("certificate required"),
                                   HasSubstr("that is tls_certificate_file and tls_key_file")));
}

TEST_F(TlsTrust, InTheOldVersionItOnlySaysThatSomethingIsWrong) {
    const auto why = connect({.version_max = TLS1_2_VERSION, .clients_from = authority_.file()});
    ASSERT_TRUE(why);
    EXPECT_EQ(why->code(), store_errc::tls_failed);
    EXPECT_THAT(why->text(), AllOf(HasSubstr("handshake failure"),
                                   HasSubstr("that is tls_certificate_file and tls_key_file")));
}

TEST_F(TlsTrust, ACertificateThatTheServerDoesNotAcceptIsNotMissing) {
    const support::authority stranger{"A stranger"};
    const auto mine = stranger.issue("client");
    how_.certificate_file = mine.certificate_file;
    how_.key_file = mine.key_file;
    const auto why = connect({.clients_from = authority_.file()});
    ASSERT_TRUE(why);
    EXPECT_EQ(why->code(), store_errc::not_authenticated);
    EXPECT_THAT(why->text(), AllOf(HasSubstr("unknown ca"), Not(HasSubstr("tls_certificate"))));
}

} // namespace
} // namespace holdfast::net
