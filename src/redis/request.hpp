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

/// Marks a request that is a plain command and not a script. All words of the command are in
/// `keys`.
inline constexpr script plain_command{};

/// Appends a WAIT command. It asks how many replicas have the last write of this connection.
void compose_wait(composer, std::uint8_t replicas, duration within);

/// Throws net::failure (protocol) if this cannot be a reply to WAIT.
void require_confirmation(const reply& answer);

/// Stores the reply to a WAIT command in the reply to the request before it.
void note_confirmation(reply& of, const reply& answer);

/// One call of a script, from its start to its reply. The object lives in the frame of the
/// coroutine that waits for the reply, so a call allocates no memory.
struct request {
    using arguments_list = std::span<const argument>;
    using names_list = std::span<const std::string_view>;

    request(const script& s, names_list k, arguments_list a, const call_wishes& how = {})
        : what{s}
        , keys{k}
        , arguments{a}
        , wishes{how} {}
    request(const request&) = delete;

    /// Appends the bytes of the request: EVALSHA or EVAL, or the words of a plain command. With
    /// `wishes.asking`, ASKING is sent first, so the first reply belongs to ASKING.
    void compose(composer, const runtime::remote_clock&) const;

    /// Returns the reply, or throws the failure. Call it after the request was resumed.
    reply take_answer();

    const script& what;
    const names_list keys;
    const arguments_list arguments;
    const call_wishes wishes;
    /// Send EVAL instead of EVALSHA, because the server does not know the script.
    bool with_text = false;

    /// State of the request, used by the pipeline only. `apart` means that the request is in no
    /// queue.
    enum class stage { apart, queued, in_flight, unconfirmed };
    stage standing = stage::apart;
    boost::intrusive::list_member_hook<> by_stage;
    boost::intrusive::list_member_hook<> by_age;
    std::uint64_t slot = 0;
    std::uint64_t ordinal = 0; ///< position in the order of ask()
    time_point asked_at{};
    time_point deadline{};
    bool hurried = false; ///< `wishes.answer_by` is earlier than the usual timeout

    /// Handler of the waiting caller. Use swap and never assignment: in Boost 1.81 the move
    /// assignment of this type recurses without end.
    using waiter = asio::any_completion_handler<void()>;
    waiter resume;
    reply answer;
    std::shared_ptr<const net::failure> failed;
};

} // namespace holdfast::redis
