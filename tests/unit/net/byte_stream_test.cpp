// SPDX-License-Identifier: Apache-2.0
#include "net/attempt.hpp"
#include "net/byte_stream.hpp"
#include "runtime/real_clock.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

namespace holdfast::net {
namespace {

using namespace std::chrono_literals;
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
    EXPECT_EQ(run(line.receive()), "what answers there speaks TLS; say it louder");
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
    EXPECT_EQ(trouble_with(7).text(), "an exception that is no std::exception");
}

} // namespace
} // namespace holdfast::net
