// SPDX-License-Identifier: Apache-2.0
// TLS, and which users the server accepts.
#include "database_on_server.hpp"
#include "mysql/libmariadb.hpp"
#include "support/tls.hpp"
#include "tcp_way.hpp"

#include <openssl/err.h>

#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::authority;
using ::testing::AnyOf;
using ::testing::HasSubstr;

class DatabaseOverTls : public database_on_server {
protected:
    DatabaseOverTls()
        : database_on_server{support::mariadb_server::options{.tls = true}} {}

    void SetUp() override {
        database_on_server::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        use_tcp("localhost");
        how_.tls = tls_options{.ca_file = server().certificates().file()};
    }
    ::testing::AssertionResult answers() {
        const asked call = ask("SELECT 1");
        if (call->value() == "1")
            return ::testing::AssertionSuccess();
        return ::testing::AssertionFailure() << call->text;
    }
};

TEST_F(DatabaseOverTls, IsEncrypted) {
    const asked call = ask("SHOW STATUS LIKE 'Ssl_version'");
    ASSERT_EQ(call->code, error_code{}) << call->text;
    EXPECT_THAT(call->got.of.at(0).rows.at(0).at(1).value_or(""), HasSubstr("TLSv1."));
    EXPECT_TRUE(database().facts()->over_tls);
}

TEST_F(DatabaseOverTls, AnAddressIsAsGoodAsAName) {
    how_.servers = {{"127.0.0.1", server().port()}};
    EXPECT_TRUE(answers());
}

TEST_F(DatabaseOverTls, AnotherAuthorityIsNotTrusted) {
    const authority other{"Another authority"};
    how_.tls = tls_options{.ca_file = other.file()};
    const asked call = ask("SELECT 1");
    EXPECT_EQ(call->code, make_error_code(store_errc::untrusted)) << call->text;
    EXPECT_EQ(call->code, errc::refused);
}

/// The test's authority is not among the system's.
TEST_F(DatabaseOverTls, WithoutAFileTheSystemsAuthoritiesCount) {
    how_.tls = tls_options{};
    const asked call = ask("SELECT 1");
    EXPECT_EQ(call->code, make_error_code(store_errc::untrusted)) << call->text;
}

TEST_F(DatabaseOverTls, VerificationCanBeSkipped) {
    how_.tls = tls_options{.insecure_skip_verification = true};
    EXPECT_TRUE(answers());
}

TEST_F(DatabaseOverTls, AServerWithoutTlsIsNotTalkedTo) {
    server().restart(std::vector<std::string>{"--skip-ssl"});
    const asked call = ask("SELECT 1");
    EXPECT_EQ(call->code, make_error_code(store_errc::tls_failed)) << call->text;
}

TEST_F(DatabaseOverTls, ASilentTlsHandshakeDoesNotStopTheExecutor) {
    tcp_way way{server().port()};
    constexpr std::size_t request_for_tls = 36;
    way.lose_after(request_for_tls);
    how_.servers = {{"localhost", way.port()}};
    how_.connect_timeout = 500ms;
    const asked call = begin({"SELECT 1"});
    int ticks = 0;
    bool ticked_out = false;
    auto tick = [&]() -> asio::awaitable<void> {
        const auto sleep = clock_.make_alarm();
        while (!call->done) {
            ++ticks;
            co_await sleep->wait_until(clock_.now() + 10ms);
        }
    };
    asio::co_spawn(io_, tick(), [&](const std::exception_ptr&) { ticked_out = true; });
    ASSERT_TRUE(run_until([&] { return call->done && ticked_out; }));
    EXPECT_EQ(call->code, errc::unreachable) << call->text;
    EXPECT_THAT(call->text, HasSubstr("within 500 ms"));
    EXPECT_GE(ticks, 5);
}

TEST_F(DatabaseOverTls, AnAnswerThatDoesNotComeEndsAtItsLimit) {
    how_.command_timeout = 300ms;
    ASSERT_TRUE(answers());
    server().pause();
    const asked call = ask("SELECT 1");
    EXPECT_EQ(call->code, errc::outcome_unknown) << call->text;
    server().resume();
    EXPECT_TRUE(run_until([&] { return bool{answers()}; })) << answers().message();
}

TEST_F(DatabaseOverTls, ClosingSaysGoodbyeToTheServer) {
    ASSERT_TRUE(answers());
    forget_database();
    ASSERT_TRUE(run_until([&] { return connections() == "0"; }));
    EXPECT_EQ(server().counted("Aborted_clients"), 0u);
}

/// OpenSSL keeps errors in a list of the thread's, and who reads one that is another's goes astray.
TEST_F(DatabaseOverTls, ErrorsThatOthersLeftInOpensslAreNotOurs) {
    ASSERT_TRUE(answers());
    ERR_raise(ERR_LIB_USER, 1);
    EXPECT_TRUE(answers());
    EXPECT_EQ(told_.count(event_kind::disconnected), 0u);
}

TEST_F(DatabaseOverTls, NoErrorIsLeftInOpensslForOthers) {
    how_.command_timeout = 300ms;
    ASSERT_TRUE(answers());
    server().pause();
    EXPECT_FALSE(answers());
    EXPECT_EQ(ERR_peek_error(), 0ul);
    server().resume();
}

volatile sig_atomic_t sigpipes_heard = 0;

TEST_F(DatabaseOverTls, ClosingTlsBehindADeadPeerRaisesNoSignal) {
    struct sigaction count {};
    struct sigaction before {};
    count.sa_handler = [](int) { sigpipes_heard = sigpipes_heard + 1; };
    sigaction(SIGPIPE, &count, &before);
    tcp_way way{server().port()};
    how_.servers = {{"localhost", way.port()}};
    ASSERT_TRUE(answers());
    way.reset_all();
    forget_database(); // which has not noticed it yet
    EXPECT_EQ(sigpipes_heard, 0);

    ASSERT_TRUE(answers());
    const asked call = begin({"SELECT SLEEP(100)"});
    ASSERT_TRUE(run_until([&] { return connections() == "1"; }));
    way.reset_all();
    ASSERT_TRUE(run_until([&] { return call->done; }));
    EXPECT_EQ(sigpipes_heard, 0);
    sigaction(SIGPIPE, &before, nullptr);
}

TEST_F(DatabaseOverTls, ItsSocketsAreClosedOnExec) {
    ASSERT_TRUE(answers());
    int found = 0;
    for (int fd = 3; fd < 1024; ++fd) {
        sockaddr_storage peer{};
        socklen_t size = sizeof peer;
        if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0 ||
            peer.ss_family == AF_UNIX)
            continue;
        ++found;
        EXPECT_NE(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
    }
    EXPECT_EQ(found, 2) << "libmariadb's number of it, and Asio's";
}

TEST_F(DatabaseOverTls, AClientWithoutItsCertificateIsNotLetIn) {
    server().sql("CREATE USER shy@'%' IDENTIFIED BY 'x' REQUIRE X509");
    server().sql("GRANT ALL ON holdfast_test.* TO shy@'%'");
    how_.user = "shy";
    how_.password = "x";
    const asked call = ask("SELECT 1");
    EXPECT_EQ(call->code, make_error_code(store_errc::not_authenticated)) << call->text;
    forget_database();

    const support::identity mine = server().certificates().issue("client");
    how_.tls->certificate_file = mine.certificate_file;
    how_.tls->key_file = mine.key_file;
    EXPECT_TRUE(answers());
    forget_database();

    authority::wanted locked;
    locked.key_password = "open sesame";
    const support::identity kept = server().certificates().issue("locked", locked);
    how_.tls->certificate_file = kept.certificate_file;
    how_.tls->key_file = kept.key_file;
    how_.tls->key_password = "open sesame";
    EXPECT_TRUE(answers());
}

class DatabaseWithOthersName : public DatabaseOverTls {
protected:
    /// Sets the certificate that the server uses from now on.
    void shows(const authority::wanted& what) {
        identity_ = server().certificates().issue("other", what);
        server().restart({"--ssl-ca=" + server().certificates().file(),
                          "--ssl-cert=" + identity_.certificate_file,
                          "--ssl-key=" + identity_.key_file});
    }
    support::identity identity_;
};

TEST_F(DatabaseWithOthersName, IsNotTrusted) {
    authority::wanted what;
    what.names = "DNS:elsewhere";
    shows(what);
    const asked call = ask("SELECT 1");
    EXPECT_EQ(call->code, make_error_code(store_errc::untrusted)) << call->text;
}

TEST_F(DatabaseWithOthersName, IsNotTrustedAfterItsTimeEither) {
    authority::wanted what;
    what.begins = authority::days{-3};
    what.ends = authority::days{-1};
    shows(what);
    const asked call = ask("SELECT 1");
    EXPECT_EQ(call->code, make_error_code(store_errc::untrusted)) << call->text;
}

/// libmariadb looks at the name only if it was told where the authorities are.
TEST_F(DatabaseWithOthersName, IsNotTrustedByTheSystemsAuthoritiesEither) {
    setenv("SSL_CERT_FILE", server().certificates().file().c_str(), 1);
    how_.tls = tls_options{};
    EXPECT_TRUE(answers()) << "the system's are those of this file now";
    authority::wanted what;
    what.names = "DNS:elsewhere";
    shows(what);
    const asked call = ask("SELECT 1");
    unsetenv("SSL_CERT_FILE");
    EXPECT_EQ(call->code, make_error_code(store_errc::untrusted)) << call->text;
}

class DatabaseLogin : public database_on_server {};

TEST_F(DatabaseLogin, AWrongPasswordIsRefused) {
    how_.password = "wrong";
    const asked call = ask("SELECT 1");
    EXPECT_EQ(call->code, make_error_code(store_errc::not_authenticated)) << call->text;
    EXPECT_EQ(call->code, errc::refused);
    EXPECT_THAT(call->text, ::testing::Not(HasSubstr("wrong")));
}

TEST_F(DatabaseLogin, AnEmptyPasswordIsEmptyAndNotTheEnvironments) {
    setenv("MYSQL_PWD", support::mariadb_server::password, 1);
    how_.password = secret{};
    const asked call = ask("SELECT 1");
    unsetenv("MYSQL_PWD");
    EXPECT_EQ(call->code, make_error_code(store_errc::not_authenticated)) << call->text;
}

TEST_F(DatabaseLogin, AnUnknownSchemaIsNotSetUp) {
    how_.schema = "holdfast_test_nowhere";
    how_.user = "root";
    how_.password = secret{};
    const asked call = ask("SELECT 1");
    EXPECT_EQ(call->code, make_error_code(store_errc::not_set_up)) << call->text;
}

TEST_F(DatabaseLogin, AnUnknownHostIsUnreachable) {
    how_.unix_socket.clear();
    how_.servers = {{"no-such-host.invalid", 3306}};
    how_.connect_timeout = 20s;
    const asked call = ask("SELECT 1");
    EXPECT_EQ(call->code, errc::unreachable) << call->text;
    EXPECT_THAT(call->text, HasSubstr("no-such-host.invalid"));
}

TEST_F(DatabaseLogin, LocalhostIsReachedByTcpAndNotByASocket) {
    use_tcp("localhost");
    const asked call = ask("SELECT host FROM information_schema.processlist WHERE "
                           "id = CONNECTION_ID()");
    EXPECT_THAT(call->value(), AnyOf(HasSubstr("localhost:"), HasSubstr("127.0.0.1:")))
        << call->text;
}

TEST_F(DatabaseLogin, FilesOfTheClientAreNotSent) {
    server().sql("CREATE OR REPLACE TABLE taken (line TEXT)");
    ask("LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE taken");
    EXPECT_EQ(server().value("SELECT COUNT(*) FROM taken"), "0");
    EXPECT_EQ(ask("SELECT 1")->value(), "1");
}

TEST_F(DatabaseLogin, TheCredentialProviderIsAskedForEachConnection) {
    how_.password = secret{};
    int asked_for = 0;
    how_.credentials = [&] {
        ++asked_for;
        return credentials{"", support::mariadb_server::password};
    };
    const std::string id = ask("SELECT CONNECTION_ID()")->value();
    EXPECT_EQ(asked_for, 1);
    server().sql("KILL " + id);
    EXPECT_EQ(ask("SELECT 1")->value(), "1");
    EXPECT_EQ(asked_for, 2);
}

TEST(MysqlLibrary, SigpipeStaysAsItWas) {
    GTEST_FLAG_SET(death_test_style, "threadsafe"); // a process in which nobody has used it yet
    const auto try_it = [] {
        signal(SIGPIPE, SIG_DFL);
        mysql::prepare_library();
        struct sigaction now {};
        sigaction(SIGPIPE, nullptr, &now);
        std::_Exit(now.sa_handler == SIG_DFL ? 0 : 1);
    };
    EXPECT_EXIT(try_it(), ::testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace holdfast
