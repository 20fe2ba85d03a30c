// SPDX-License-Identifier: Apache-2.0
// Who waits for which answer, and under which number. No I/O, no clock.
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

/// One request, from when it is asked to when it is settled: answered, failed, or given up. Whoever
/// waits for it and the list below share it.
struct request {
    explicit request(message m)
        : what{std::move(m)} {}

    const message what;
    /// Is called before `resume` and before anything that came behind the answer is looked at.
    std::function<void(const request&)> on_answer{};

    enum class stage : std::uint8_t { queued, written, settled };
    stage standing = stage::queued;
    time_point asked_at{};
    time_point sent_at{};
    std::int32_t number = 0;

    // How it was settled.
    std::int32_t error = 0; ///< in the answer
    std::string body{};     ///< likewise
    std::shared_ptr<const net::failure> failed{};

    /// Who waits; may be empty. In Boost 1.81 never assign it, its move assignment recurses.
    using waiter = asio::any_completion_handler<void()>;
    waiter resume{};
    /// Who waits on a thread of its own; or null.
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
    /// Appends the next one that is queued. Null: none is.
    shared_request write_next(std::string& out, time_point now);
    /// Appends one that nobody waits for.
    void write_ping(std::string& out, time_point now);

    /// What a frame said.
    struct heard {
        shared_request answered{}; ///< somebody waits for it, or null
        std::optional<node_event> event{};
        std::int64_t zxid = 0;
        /// Of what was carried out: when it was sent. Nothing: it is no answer, or one of refusal.
        std::optional<time_point> done{};
        bool is_write = false; ///< likewise
        std::int32_t error = 0;
    };
    /// Throws `net::failure` (protocol) if nobody asked for that.
    heard hear(std::string_view frame);

    /// It waits no more. If it was written, its answer is still expected, and will be nobody's.
    void give_up(request&);
    /// Those that were asked by then, or before.
    std::vector<shared_request> late(time_point asked_by);
    /// When the oldest of those that wait was asked.
    std::optional<time_point> oldest() const;

    /// The connection is gone, and with it all answers.
    std::vector<shared_request> drop_written();
    std::vector<shared_request> drop_queued();

    /// Of all that have no answer yet, also of those that nobody waits for any more.
    std::size_t size() const { return queued_.size() + written_.size(); }
    /// Since when an answer is owed.
    std::optional<time_point> owed_since() const;

private:
    std::int32_t next_number();
    void settle(request&);
    void drop_settled();
    std::vector<shared_request> drop(std::deque<shared_request>&);

    std::deque<shared_request> by_age_;  // in the order of asking
    std::deque<shared_request> queued_;  // likewise
    std::deque<shared_request> written_; // in the order of sending, which is that of the answers
    std::deque<time_point> pings_;       // likewise
    std::int32_t next_number_;
};

} // namespace holdfast::zookeeper
