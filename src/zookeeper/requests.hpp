// SPDX-License-Identifier: Apache-2.0
// Table of the requests without an answer, by number. No I/O, no clock.
#pragma once

#include "net/failure.hpp"
#include "runtime/monitor.hpp"
#include "zookeeper/wire/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::zookeeper {

class visitor;

/// A request, until it is settled: answered, failed or given up. The caller and `requests` share
/// it.
struct request {
    explicit request(message m)
        : what{std::move(m)} {}

    const message what;
    /// Called before `resume`, and before later answers are looked at.
    std::function<void(const request&)> on_answer{};

    enum class stage : std::uint8_t { queued, written, settled };
    stage standing = stage::queued;
    time_point asked_at{};
    time_point sent_at{};
    std::int32_t number = 0;

    // The result, once it is settled.
    std::int32_t error = 0; ///< error in the answer
    std::string body{};     ///< body of the answer
    std::shared_ptr<const net::failure> failed{};

    /// Handler of the waiting caller; may be empty. Swap it, never assign to it: in Boost 1.81 its
    /// move assignment recurses without end.
    using waiter = asio::any_completion_handler<void()>;
    waiter resume{};
    /// Calling thread that waits for this request itself; or null.
    zookeeper::visitor* visitor = nullptr;
    std::optional<runtime::monitor::load> under_way{};
};

using shared_request = std::shared_ptr<request>;

class requests {
public:
    explicit requests(std::int32_t first_number = 1)
        : next_number_{first_number} {}

    void ask(shared_request, time_point now);

    bool anything_queued() const;
    /// Appends the next queued request to `out`. Returns null if none is queued.
    shared_request write_next(std::string& out, time_point now);
    /// Appends a ping. No caller waits for its answer.
    void write_ping(std::string& out, time_point now);

    /// What a received frame says.
    struct heard {
        shared_request answered{}; ///< a request whose caller still waits, or null
        std::optional<node_event> event{};
        std::int64_t zxid = 0;
        /// When the request was sent, if the frame says that it was carried out. Empty: the frame
        /// is a refusal, or is not an answer.
        std::optional<time_point> done{};
        bool is_write = false; ///< the request was a write
        std::int32_t error = 0;
    };
    /// Reads a frame. Throws `net::failure` (protocol) if it answers no request.
    heard hear(std::string_view frame);

    /// Stops waiting for the request. If it was sent, its answer is still expected, and ignored.
    void give_up(request&);
    /// Returns the requests that were made at `asked_by` or before, and settles them.
    std::vector<shared_request> late(time_point asked_by);
    /// Returns when the oldest waiting request was made.
    std::optional<time_point> oldest() const;

    /// Settles and returns all requests that were sent. Their answers cannot come, because the
    /// connection is lost.
    std::vector<shared_request> drop_written();
    std::vector<shared_request> drop_queued();

    /// Returns the number of requests without an answer. Requests that were given up are counted.
    std::size_t size() const { return queued_.size() + written_.size(); }
    /// Returns when the oldest unanswered request or ping was sent.
    std::optional<time_point> owed_since() const;

private:
    std::int32_t next_number();
    void settle(request&);
    void drop_settled();
    std::vector<shared_request> drop(std::deque<shared_request>&);

    std::deque<shared_request> by_age_; // in the order of `ask`
    std::deque<shared_request> queued_; // in the order of `ask`
    // In the order of sending, which is the order of the answers.
    std::deque<shared_request> written_;
    std::deque<time_point> pings_; // when each unanswered ping was sent
    std::int32_t next_number_;
};

} // namespace holdfast::zookeeper
