// SPDX-License-Identifier: Apache-2.0
// TCP: how a socket is made, and how a server is found.
#include "net/look_up.hpp"
#include "redis/link/connection.hpp"
#include "redis/make_node.hpp"
#include "runtime/real_clock.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;
using ::testing::HasSubstr;

class ConnectionSocket : public ::testing::Test {
protected:
    int option(net::stream_socket& socket, int level, int name) {
        int value = -1;
        socklen_t size = sizeof value;
        EXPECT_EQ(::getsockopt(socket.native_handle(), level, name, &value, &size), 0);
        return value;
    }

    std::shared_ptr<const destination> there() const { return destination_of(how_); }

    /// What dialling there ends with; empty: it is connected.
    std::string dial(connection& line, duration patience = 5s) {
        std::optional<std::string> outcome;
        auto call = [&]() -> asio::awaitable<void> {
            co_await line.dial(there(), clock_.now() + patience);
        };
        asio::co_spawn(io_, call(), [&](const std::exception_ptr& failed) {
            try {
                if (failed)
                    std::rethrow_exception(failed);
                outcome.emplace();
            } catch (const net::failure& why) {
                EXPECT_EQ(why.code(), errc::unreachable);
                outcome = why.text();
            }
        });
        io_.restart();
        io_.run_for(30s);
        return outcome.value_or("still dialling");
    }

    asio::io_context io_;
    runtime::real_clock clock_{io_.get_executor()};
    const store_context home_{
        .executor = io_.get_executor(), .time = clock_, .random = {}, .label = {}, .tell = {}};
    tcp::acceptor acceptor_{io_, {asio::ip::address_v4::loopback(), 0}};
    options how_;
};

TEST_F(ConnectionSocket, IsMadeWithAllThatAsioLeavesToChance) {
    how_.command_timeout = 6s;
    net::stream_socket socket{io_};
    ASSERT_FALSE(net::open_socket(socket, acceptor_.local_endpoint(), how_.command_timeout));
    EXPECT_TRUE(::fcntl(socket.native_handle(), F_GETFD) & FD_CLOEXEC);
    EXPECT_TRUE(::fcntl(socket.native_handle(), F_GETFL) & O_NONBLOCK);
    EXPECT_EQ(option(socket, IPPROTO_TCP, TCP_NODELAY), 1);
    EXPECT_EQ(option(socket, SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_EQ(option(socket, IPPROTO_TCP, TCP_KEEPIDLE), 6);
    EXPECT_EQ(option(socket, IPPROTO_TCP, TCP_KEEPINTVL), 2);
    EXPECT_EQ(option(socket, IPPROTO_TCP, TCP_KEEPCNT), 3);
    EXPECT_EQ(option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT), 12'000);
}

TEST_F(ConnectionSocket, CopesWithExtremeTimeouts) {
    for (const duration extreme : {duration{1}, duration{24h}, duration::max()}) {
        how_.command_timeout = extreme;
        net::stream_socket socket{io_};
        ASSERT_FALSE(net::open_socket(socket, acceptor_.local_endpoint(), how_.command_timeout));
        EXPECT_GE(option(socket, IPPROTO_TCP, TCP_KEEPIDLE), 1);
        EXPECT_GE(option(socket, IPPROTO_TCP, TCP_KEEPINTVL), 1);
        EXPECT_GE(option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT), 1000);
    }
}

TEST_F(ConnectionSocket, ReachesANumericAddress) {
    how_.port = acceptor_.local_endpoint().port();
    connection line{home_, how_};
    EXPECT_EQ(dial(line), "");
}

TEST_F(ConnectionSocket, ReachesANameWhicheverOfItsAddressesAnswers) {
    how_.host = "localhost"; // ::1 too on many machines, where nobody listens
    how_.port = acceptor_.local_endpoint().port();
    connection line{home_, how_};
    EXPECT_EQ(dial(line), "");
}

TEST_F(ConnectionSocket, SaysThatNobodyListens) {
    how_.port = acceptor_.local_endpoint().port();
    acceptor_.close();
    connection line{home_, how_};
    EXPECT_EQ(dial(line), "Connection refused");
}

TEST_F(ConnectionSocket, SaysThatThereIsNoSuchName) {
    how_.host = "no such name";
    connection line{home_, how_};
    EXPECT_THAT(dial(line), HasSubstr("cannot find the address of no such name: "));
}

TEST_F(ConnectionSocket, SaysThatAPathIsTooLong) {
    how_.unix_socket = "/" + std::string(200, 'x');
    connection line{home_, how_};
    EXPECT_EQ(dial(line), "the path is too long for a socket");
}

TEST_F(ConnectionSocket, EndsTheLookUpWhenItIsCut) {
    how_.host = "localhost";
    connection line{home_, how_};
    bool over = false;
    auto call = [&]() -> asio::awaitable<void> { co_await line.dial(there(), clock_.now() + 5s); };
    asio::co_spawn(io_, call(), [&](const std::exception_ptr&) { over = true; });
    asio::post(io_, [&] { line.cut({errc::unreachable, "enough"}); });
    io_.poll(); // whatever the resolver is at
    EXPECT_TRUE(over);
}

TEST_F(ConnectionSocket, LeavesAPeerThatDoesNotAnswerInTime) {
    // A full backlog drops whoever comes next.
    tcp::acceptor full{io_};
    full.open(tcp::v4());
    full.bind({asio::ip::address_v4::loopback(), 0});
    full.listen(0);
    std::vector<tcp::socket> waiting;
    for (int i = 0; i < 3; ++i) {
        waiting.emplace_back(io_).open(tcp::v4());
        waiting.back().native_non_blocking(true); // Asio's connect() would wait all the same
        const auto there = full.local_endpoint();
        (void)::connect(waiting.back().native_handle(), there.data(),
                        static_cast<socklen_t>(there.size()));
    }
    how_.port = full.local_endpoint().port();
    connection line{home_, how_};
    EXPECT_EQ(dial(line, 50ms), "Connection timed out");
}

} // namespace
} // namespace holdfast::redis
