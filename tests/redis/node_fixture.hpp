// SPDX-License-Identifier: Apache-2.0
// Fixtures of nodes in simulated time, with a server whose replies the test determines.
#pragma once

#include "redis/node.hpp"
#include "runtime/monitor.hpp"
#include "support/clocks.hpp"
#include "support/recorder.hpp"
#include "support/server_process.hpp"

#include <holdfast/error.hpp>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast {

/// A server in the test's own thread that says what the test tells it to say, or nothing, at the
/// moment the test wants.
class fake_server {
public:
    using words = std::vector<std::string>;
    using stream = boost::asio::generic::stream_protocol;

    /// One connection.
    class session : public std::enable_shared_from_this<session> {
    public:
        session(stream::socket, fake_server&);

        /// Commands that the server received after the set-up, in order.
        std::vector<words> asked;
        std::size_t bursts = 0; ///< readings it took to hear that
        bool open = true;       ///< as far as this side can tell

        void send(const std::string& bytes);
        void close();
        void hear_again();     ///< after being deaf
        void refuse_to_hear(); ///< what is written to it from now on fails; the connection stays
        void release(std::size_t bytes = std::string::npos); ///< of what was held back
        bool holds_back = false;                             ///< answers wait for release()
        std::string held;
        std::optional<time_point> held_since; ///< as release_late() saw it
        bool deaf = false;                    ///< reads nothing any more
        bool muted = false; ///< something was not answered, and so nothing behind it is

    private:
        friend class fake_server;
        void read();
        void take_requests();
        bool is_set_up(const words&);
        static bool is_probe(const words&);
        void note_probe();
        std::optional<words> next_request();

        stream::socket socket_;
        fake_server& home_;
        bool told_role_ = false;
        std::string inbox_;
        std::array<char, 64 * 1024> buffer_;
    };

    /// At the path of a socket; or over TCP.
    explicit fake_server(boost::asio::io_context&);
    struct place {
        std::string address = "127.0.0.1";
        std::uint16_t port = 0; ///< zero: one that is free
    };
    fake_server(boost::asio::io_context&, place);
    fake_server(const fake_server&) = delete;
    ~fake_server();

    const std::string& path() const { return path_; }
    std::uint16_t port() const { return place_.value().port; }

    /// The answer to a command, by its first word. A command that is not here is not answered, and
    /// then neither is what comes behind it: the test sends what it likes.
    std::map<std::string, std::string> says;

    /// Asked first; nothing: what `says` says.
    std::function<std::optional<std::string>(const words&)> improvises;

    /// A session holds back its answers from the first command with this word on, until the test
    /// calls release() or release_late().
    std::string slow_word;
    /// Releases the answers that were held back for `delay`. Call it again and again.
    void release_late(time_point now, duration delay);

    std::vector<std::shared_ptr<session>> sessions; ///< all there ever were, but these:
    std::vector<std::shared_ptr<session>> probes;   ///< by which somebody asked whether it answers
    bool answers_probes = false;
    session& last() { return *sessions.back(); }
    /// Values in the server's reply to INFO.
    std::string run_id = "run-1", replication_id = "history-1";
    std::string node_id; ///< in its cluster; empty: CLUSTER MYID is not known
    long uptime_s = 1000;
    std::string infos() const { return info("server") + info("replication"); }

    std::size_t set_up = 0; ///< commands of the set-up that were heard

    void start();
    void stop(); ///< closes all connections, and takes no new ones
    void drop_connections();

    std::size_t count_asked(const std::string& first_word) const;

private:
    fake_server(boost::asio::io_context&, std::optional<place>);
    void accept();
    std::string info(const std::string& section) const;
    std::optional<std::string> answer_to(const words&) const;

    stream::endpoint endpoint() const;

    boost::asio::io_context& io_;
    std::filesystem::path folder_;
    std::string path_;
    std::optional<place> place_; // none: its path
    std::optional<support::reserved_port> reserved_;
    boost::asio::basic_socket_acceptor<stream> acceptor_;
};

inline constexpr redis::script script{"any", "0123456789012345678901234567890123456789",
                                      "return 1"};

/// A node in simulated time, with a server whose replies the test sends. Sent bytes arrive at once,
/// and the clock stands still until the test moves it.
class on_fake_server : public ::testing::Test {
protected:
    /// One call of a script, and its result.
    struct asking {
        std::string key;
        redis::call_options options{};
        std::vector<redis::argument> arguments{};
        bool done = false;
        redis::reply answer{};
        error_code code{};
        std::string text{};
        asio::cancellation_signal cancel{};
    };
    using asked = std::shared_ptr<asking>;

    on_fake_server() {
        how_.unix_socket = server_.path();
        server_.says["EVALSHA"] = ":1\r\n";
    }

    ~on_fake_server() override {
        close();
        server_.stop();
        settle();
        EXPECT_EQ(clock_.sleepers(), 0u) << "somebody sleeps on";
        EXPECT_TRUE(io_.stopped()) << "something is still to be done";
    }

    redis::node& node() {
        if (!node_)
            node_ = redis::make_node(how_, context());
        return *node_;
    }

    void close() {
        if (node_)
            node_->close();
        node_.reset();
    }

    asked begin(std::string key = "k", redis::call_options options = {},
                std::vector<redis::argument> arguments = {}) {
        return begin_on(io_.get_executor(), std::move(key), options, std::move(arguments));
    }
    asked begin_on(const asio::any_io_executor& where, std::string key, redis::call_options options,
                   std::vector<redis::argument> arguments = {}) {
        const auto made = std::make_shared<asking>();
        made->key = std::move(key);
        made->options = options;
        made->arguments = std::move(arguments);
        auto ended = [made](const std::exception_ptr& failed) { end(*made, failed); };
        asio::co_spawn(where, run(node(), made),
                       asio::bind_cancellation_slot(made->cancel.slot(), ended));
        return made;
    }

    /// The same, as far as it gets without time going on.
    asked ask(std::string key = "k", redis::call_options options = {},
              std::vector<redis::argument> arguments = {}) {
        asked made = begin(std::move(key), options, std::move(arguments));
        settle();
        return made;
    }

    virtual void settle() { clock_.run_until(clock_.now()); }
    virtual void pass(duration length) { clock_.run_for(length); }

    store_context context() {
        auto tell = [this](const event& what) { told_.notify(what); };
        store_context made{
            io_.get_executor(), clock_, [this] { return random_(); }, {}, "test", poll_bound_, tell,
            lease_time_};
        made.revalidate = [this](const std::function<bool(const lock_name&)>& which, bool urgent) {
            EXPECT_EQ(!which, !how_.cluster) << "of all holds, unless they are at several servers";
            doubts_.push_back(urgent);
            doubted_.push_back(which);
        };
        made.holds_any = [this] { return holds_; };
        return made;
    }

    asio::io_context io_;
    sim::sim_clock clock_{io_};
    fake_server server_{io_};
    redis::options how_;
    duration lease_time_ = std::chrono::seconds{30};
    duration poll_bound_{};
    bool holds_ = false;       ///< the client, anything
    std::vector<bool> doubts_; ///< cast on holds: each with whether it was urgent
    std::vector<std::function<bool(const lock_name&)>> doubted_; ///< on which
    support::recorder told_;
    std::unique_ptr<redis::node> node_;
    std::mt19937_64 random_{1};

private:
    static asio::awaitable<void> run(redis::node& on, asked mine) {
        const std::string_view keys[] = {mine->key};
        mine->answer = co_await on.call(script, keys, mine->arguments, mine->options);
    }

    static void end(asking& mine, const std::exception_ptr& failed) {
        mine.done = true;
        const support::thrown why = support::thrown_of(failed);
        mine.code = why.code;
        mine.text = why.text;
    }
};

/// The same for calls by threads that visit the client, and so go by a blocking connection.
class on_visited_server : public on_fake_server {
protected:
    on_visited_server() {
        how_.blocking_connections_max = 1;
        how_.polling = std::chrono::microseconds{0};
    }
    ~on_visited_server() override { close(); }

    /// By a thread that has it only sent, as a rule: the server answers in this very thread.
    asked visit(redis::call_options options = {}, bool waits = false) {
        if (!node_) {
            store_context home = context();
            home.executor = entrance_.executor();
            node_ = redis::make_node(how_, home);
        }
        asked made;
        {
            runtime::inline_call here{entrance_};
            if (!waits)
                here.wait_for_nothing();
            made = begin_on(here.executor(), "k", options);
        }
        settle();
        return made;
    }
    asked answered_visit() {
        asked made = visit();
        pass(std::chrono::milliseconds{1}); // then the background looks for answers
        return made;
    }
    void visit_until_there_is_a_lane() {
        while (server_.sessions.size() < 2)
            answered_visit();
        answered_visit();
        ASSERT_EQ(server_.sessions.size(), 2u);
        ASSERT_EQ(blocking_connection().asked.size(), 1u);
    }
    fake_server::session& shared() { return *server_.sessions[0]; }
    fake_server::session& blocking_connection() { return *server_.sessions[1]; }

    runtime::monitor entrance_{io_};
};

} // namespace holdfast
