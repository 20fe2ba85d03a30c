// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/failure.hpp"
#include "redis/node.hpp"
#include "redis/wire/composer.hpp"

#include <boost/intrusive/list_hook.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace holdfast::redis {

/// A command that is no script: its keys are all of its words.
inline constexpr script plain_command{};

/// How many replicas have what this connection wrote last: WAIT.
void compose_wait(composer, std::uint8_t replicas, duration within);

/// Throws net::failure (protocol) for what no server answers to that.
void require_confirmation(const reply& answer);

/// Enters what was answered to that.
void note_confirmation(reply& of, const reply& answer);

/// One call of a script, from when it is asked to when it is answered. Lives in the frame of the
/// coroutine that waits for it, so asking allocates nothing.
struct request {
    using arguments_list = std::span<const argument>;
    using names_list = std::span<const std::string_view>;

    request(const script& s, names_list k, arguments_list a, const call_wishes& how = {})
        : what{s}
        , keys{k}
        , arguments{a}
        , wishes{how} {}
    request(const request&) = delete;

    /// Appends it as it is to be sent now. Its answer comes behind that to ASKING, if it asks so.
    void compose(composer, const runtime::remote_clock&) const;

    /// What came of it, once it was resumed.
    reply take_answer();

    const script& what;
    const names_list keys;
    const arguments_list arguments;
    const call_wishes wishes;
    bool with_text = false; ///< the server does not know the script: EVAL instead of EVALSHA

    /// Where it stands; the pipeline's business.
    enum class stage { apart, queued, in_flight, unconfirmed };
    stage standing = stage::apart;
    boost::intrusive::list_member_hook<> by_stage;
    boost::intrusive::list_member_hook<> by_age;
    std::uint64_t slot = 0;
    std::uint64_t ordinal = 0; ///< in the order of asking
    time_point asked_at{};
    time_point deadline{};
    bool hurried = false; ///< its own limit is the earlier one

    /// Who waits. In Boost 1.81 never assign it, its move assignment recurses without end.
    using waiter = asio::any_completion_handler<void()>;
    waiter resume;
    reply answer;
    std::shared_ptr<const net::failure> failed;
};

} // namespace holdfast::redis
