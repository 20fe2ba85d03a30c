// SPDX-License-Identifier: Apache-2.0
// TLS on real servers. Each fault occurs in two tests: at the first connection, and at a later
// connection after a good one.
#include "node_on_server.hpp"
#include "support/tls.hpp"

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast {

// A way in over TLS to a server on a unix socket, in the test's own thread: it knows what a server
// does not tell, and ends connections as the test likes.

class tls_door {
public:
    tls_door(boost::asio::io_context&, support::identity, std::string server_socket);
    tls_door(const tls_door&) = delete;
    ~tls_door();

    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

    void cut();              ///< ends all connections without a word
    void say_goodbye();      ///< ends them as TLS wants it
    void only_say_goodbye(); ///< and leaves them open, as a proxy may that waits for ours
    std::size_t bytes_passed_on() const { return passed_on_; } ///< to the server; any thread

    bool silent = false; ///< whoever comes in from now on hears nothing

    std::vector<std::string> names_asked_for() const; ///< by each connection there ever was; SNI
    std::size_t goodbyes_heard() const;

private:
    struct visit;

    void accept();

    boost::asio::io_context& io_;
    const support::identity identity_;
    const std::string server_socket_;
    boost::asio::ip::tcp::acceptor acceptor_;
    std::vector<std::shared_ptr<visit>> visits_;
    std::atomic<std::size_t> passed_on_ = 0;
};

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// One connection, and the one behind it to the server.
struct tls_door::visit : std::enable_shared_from_this<visit> {
    visit(tls_door& of, tcp::socket socket)
        : door{of}
        , client{std::move(socket)}
        , server{client.get_executor()}
        , peer{of.identity_} {}

    void send_to_client(const std::string& bytes) {
        error_code ignored; // whoever is gone does not hear it
        asio::write(client, asio::buffer(bytes), ignored);
    }
    void close() {
        error_code ignored;
        client.close(ignored);
        server.close(ignored);
    }

    void hear_client() {
        auto heard = [self = shared_from_this()](error_code failed, std::size_t size) {
            if (failed)
                return self->close();
            self->send_to_client(self->peer.take({self->from_client.data(), size}));
            error_code ignored;
            self->door.passed_on_ += asio::write(
                self->server, asio::buffer(std::exchange(self->peer.heard, {})), ignored);
            self->hear_client();
        };
        client.async_read_some(asio::buffer(from_client), heard);
    }
    void hear_server() {
        auto heard = [self = shared_from_this()](error_code failed, std::size_t size) {
            if (failed)
                return self->close();
            if (!self->said_goodbye)
                self->send_to_client(self->peer.say({self->from_server.data(), size}));
            self->hear_server();
        };
        server.async_read_some(asio::buffer(from_server), heard);
    }

    tls_door& door;
    tcp::socket client;
    asio::local::stream_protocol::socket server;
    support::tls_peer peer;
    bool said_goodbye = false;
    std::array<char, 16 * 1024> from_client, from_server;
};

tls_door::tls_door(asio::io_context& io, support::identity identity, std::string server_socket)
    : io_{io}
    , identity_{std::move(identity)}
    , server_socket_{std::move(server_socket)}
    , acceptor_{io, {asio::ip::address_v4::loopback(), 0}} {
    accept();
}

tls_door::~tls_door() {
    cut();
}

void tls_door::accept() {
    auto accepted = [this](error_code failed, tcp::socket socket) {
        if (failed)
            return;
        const auto& one = visits_.emplace_back(std::make_shared<visit>(*this, std::move(socket)));
        if (!silent) {
            one->server.connect({server_socket_});
            one->hear_client();
            one->hear_server();
        }
        accept();
    };
    acceptor_.async_accept(io_, accepted);
}

void tls_door::cut() {
    for (const auto& one : visits_)
        one->close();
}

void tls_door::say_goodbye() {
    only_say_goodbye();
    cut();
}

void tls_door::only_say_goodbye() {
    for (const auto& one : visits_)
        if (one->client.is_open() && one->peer.established() &&
            !std::exchange(one->said_goodbye, true))
            one->send_to_client(one->peer.say_goodbye());
}

std::vector<std::string> tls_door::names_asked_for() const {
    std::vector<std::string> all;
    for (const auto& one : visits_)
        all.push_back(one->peer.name_asked_for());
    return all;
}

std::size_t tls_door::goodbyes_heard() const {
    const auto heard = [](const auto& one) { return one->peer.heard_goodbye(); };
    return static_cast<std::size_t>(std::ranges::count_if(visits_, heard));
}

namespace {

using namespace std::chrono_literals;
using support::authority;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using days = authority::days;

struct with_authority {
    std::vector<std::string> arguments(const std::string& clients = "no") const {
        return {"--tls-cert-file",    own_.certificate_file, "--tls-key-file",     own_.key_file,
                "--tls-ca-cert-file", authority_.file(),     "--tls-auth-clients", clients};
    }

    authority authority_;
    support::identity own_ = authority_.issue("server");
};

class NodeOverTls : protected with_authority, public node_on_server {
protected:
    NodeOverTls()
        : node_on_server{{.tcp = true, .tls = true, .arguments = arguments()}} {}

    void SetUp() override {
        node_on_server::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        how_.unix_socket.clear();
        how_.host = "localhost";
        how_.port = server().tls_port();
        how_.tls = redis::tls_options{.ca_file = authority_.file()};
    }

    /// Whether it comes to that. The last words are in `said_`.
    template <typename Code>
    bool fails_with(Code code, const ::testing::Matcher<std::string>& words = ::testing::_) {
        return support::eventually([&] {
            const outcome got = call_echo();
            said_ = got.text;
            return got.code == code && words.Matches(said_);
        });
    }
    bool recovers() {
        return support::eventually([this] { return answers(); });
    }

    /// Looks at a fault twice: that of the first connection, and of one that is made again.
    template <typename Fault, typename Cure, typename Check>
    void twice(Fault fault, Cure cure, Check check) {
        for (int connection = 1; connection <= 2; ++connection) {
            fault();
            check();
            cure();
            EXPECT_TRUE(recovers()) << said_;
        }
    }
    void restart_with(const authority& from, const authority::wanted& wanted) {
        own_ = from.issue("server", wanted);
        server().restart_empty(arguments());
    }
    void restart_well() { restart_with(authority_, {}); }
    void restart_with_ports_swapped() {
        std::vector<std::string> swapped = arguments();
        swapped.insert(swapped.end(), {"--port", std::to_string(server().tls_port()), "--tls-port",
                                       std::to_string(server().port())});
        server().restart_empty(swapped);
    }

    static void pairs(mutex& lock, int count) {
        for (int i = 0; i < count; ++i) {
            lock.lock();
            lock.unlock();
        }
    }
    /// Beside the shared connection and the one that listens.
    bool gets_a_lane(mutex& lock) {
        return support::eventually([&] {
            pairs(lock, 10);
            const std::string clients = server().command({"CLIENT", "LIST"}).text;
            return clients.find("holdfast") != clients.rfind("holdfast");
        });
    }

    std::string said_;
};
HOLDFAST_ON_EACH_SERVER(NodeOverTls);

// A blocking connection has a session of its own, and reads and writes it without Asio.
TEST_P(NodeOverTls, BlockingCallsHaveLanesOverItToo) {
    client home{options{.store = redis::make_store(how_)}};
    mutex lock{home, "stock"};
    EXPECT_TRUE(gets_a_lane(lock));
    pairs(lock, 100);
    server().command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    pairs(lock, 10);
    EXPECT_FALSE(lock.is_locked());
}

TEST_P(NodeOverTls, ALaneDoesNotWaitForWhoHasSaidGoodbye) {
    asio::io_context behind;
    tls_door door{behind, own_, server().socket_path()};
    const auto serves = asio::make_work_guard(behind);
    std::thread doorkeeper{[&] { behind.run(); }};
    how_.port = door.port();
    how_.command_timeout = 2 * support::far_too_long;
    client home{options{.store = redis::make_store(how_)}};
    mutex lock{home, "stock"};
    EXPECT_TRUE(gets_a_lane(lock));

    server().command({"CLIENT", "PAUSE", "600", "ALL"});
    const std::size_t before = door.bytes_passed_on();
    std::thread trouble{[&] {
        EXPECT_TRUE(support::eventually([&] { return door.bytes_passed_on() > before; }));
        asio::post(behind, [&] { door.only_say_goodbye(); });
    }};
    const auto began = std::chrono::steady_clock::now();
    pairs(lock, 2);
    EXPECT_LT(std::chrono::steady_clock::now() - began, how_.command_timeout);
    trouble.join();
    home.close();
    behind.stop();
    doorkeeper.join();
}

TEST_P(NodeOverTls, AServerForAnotherHostIsNotTrusted) {
    const auto fault = [this] { restart_with(authority_, {.names = "DNS:db.internal"}); };
    twice(
        fault, [this] { restart_well(); },
        [this] {
            EXPECT_TRUE(fails_with(make_error_code(store_errc::untrusted)));
            EXPECT_THAT(said_, AllOf(HasSubstr("no connection to localhost:"),
                                     HasSubstr("is for db.internal, not for localhost")));
        });
}

TEST_P(NodeOverTls, AnUnknownAuthorityIsNotTrusted) {
    const authority stranger{"A stranger"};
    const auto fault = [&] { restart_with(stranger, {}); };
    twice(
        fault, [this] { restart_well(); },
        [this] {
            EXPECT_TRUE(fails_with(make_error_code(store_errc::untrusted)));
            EXPECT_THAT(said_, HasSubstr("signed by /CN=A stranger, which is not trusted here"));
        });
}

TEST_P(NodeOverTls, AnExpiredCertificateIsNotTrusted) {
    const auto fault = [&] { restart_with(authority_, {.begins = days{-9}, .ends = days{-1}}); };
    twice(
        fault, [this] { restart_well(); },
        [this] {
            EXPECT_TRUE(fails_with(make_error_code(store_errc::untrusted)));
            EXPECT_THAT(said_, HasSubstr("its certificate has expired, on 20"));
        });
}

TEST_P(NodeOverTls, AServerThatMissesOurCertificateSaysSo) {
    const auto fault = [this] { server().restart_empty(arguments("yes")); };
    twice(
        fault, [this] { restart_well(); },
        [this] {
            EXPECT_TRUE(fails_with(make_error_code(store_errc::not_authenticated)));
            EXPECT_THAT(said_, AllOf(HasSubstr("certificate required"),
                                     HasSubstr("tls_certificate_file and tls_key_file")));
        });
}

TEST_P(NodeOverTls, APlainPortIsUnreachableAndSaysWhatItMayBe) {
    how_.connect_timeout = 200ms; // it may say nothing at all
    const auto told = ::testing::AnyOf(HasSubstr("does not speak TLS"),
                                       HasSubstr("TLS handshake; is it a port for TLS?"));
    twice([this] { restart_with_ports_swapped(); }, [this] { restart_well(); },
          [&] { EXPECT_TRUE(fails_with(errc::unreachable, told)) << said_; });
}

TEST_P(NodeOverTls, APortForTlsIsUnreachableWithoutItAndSaysWhatItMayBe) {
    how_.tls.reset();
    twice([this] { restart_well(); }, [this] { restart_with_ports_swapped(); },
          [this] { EXPECT_TRUE(fails_with(errc::unreachable, HasSubstr("rediss://"))) << said_; });
}

TEST_P(NodeOverTls, OurCertificateIsReadAnewForEachConnection) {
    const auto mine = authority_.issue("client");
    how_.tls->certificate_file = mine.certificate_file;
    how_.tls->key_file = mine.key_file;
    server().restart_empty(arguments("yes"));
    EXPECT_TRUE(answers());

    const authority stranger{"A stranger"};
    const auto others = stranger.issue("client");
    std::filesystem::rename(others.certificate_file, mine.certificate_file);
    EXPECT_TRUE(answers()); // the old connection is as good as it was
    server().command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    EXPECT_TRUE(fails_with(errc::unreachable));
    EXPECT_THAT(said_, HasSubstr("tls_key_file " + mine.key_file + ": key values mismatch"));
    std::filesystem::rename(others.key_file, mine.key_file);
    EXPECT_TRUE(fails_with(make_error_code(store_errc::not_authenticated)));
    EXPECT_THAT(said_, HasSubstr("unknown ca"));
    authority_.issue("client");
    EXPECT_TRUE(recovers()) << said_;
}

TEST_P(NodeOverTls, LongAnswersAndRequestsArrive) {
    const std::string much(3'000'000, 'm');
    const outcome got = call(echo, {}, {std::string_view{much}});
    EXPECT_TRUE(got.answer.text == much) << got.text;
}

TEST_P(NodeOverTls, TheServerIsToldItsNameEachTime) {
    tls_door door{io_, own_, server().socket_path()};
    how_.port = door.port();
    EXPECT_TRUE(answers());
    EXPECT_THAT(door.names_asked_for(), ElementsAre("localhost"));
    door.cut();
    EXPECT_TRUE(recovers());
    EXPECT_THAT(door.names_asked_for(), ElementsAre("localhost", "localhost"));
    forget_node();
}

TEST_P(NodeOverTls, AnEndWithoutGoodbyeIsACut) {
    tls_door door{io_, own_, server().socket_path()};
    how_.port = door.port();
    EXPECT_TRUE(answers());
    door.cut();
    EXPECT_TRUE(run_until([this] { return told_.count(event_kind::disconnected) == 1; }));
    EXPECT_THAT(told_.last(event_kind::disconnected)->text, HasSubstr("cut off (no close_notify)"));
    EXPECT_TRUE(recovers());
    door.say_goodbye();
    EXPECT_TRUE(run_until([this] { return told_.count(event_kind::disconnected) == 2; }));
    EXPECT_THAT(told_.last(event_kind::disconnected)->text, HasSubstr("closed by the server"));
    forget_node();
}

TEST_P(NodeOverTls, WhoGoesSaysGoodbyeAndDoesNotWait) {
    tls_door door{io_, own_, server().socket_path()};
    how_.port = door.port();
    EXPECT_TRUE(answers());
    forget_node();
    EXPECT_TRUE(run_until([&] { return door.goodbyes_heard() == 1; }));
}

TEST_P(NodeOverTls, APeerThatIsSilentCostsNoMoreThanTheTimeToConnect) {
    tls_door door{io_, own_, server().socket_path()};
    how_.port = door.port();
    how_.connect_timeout = 100ms;
    door.silent = true;
    EXPECT_TRUE(fails_with(errc::unreachable));
    EXPECT_THAT(said_, HasSubstr("not done within 100 ms (waiting for its part of the TLS"));
    door.silent = false;
    EXPECT_TRUE(recovers());
    forget_node();
}

} // namespace
} // namespace holdfast
