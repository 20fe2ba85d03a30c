// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/link/introduction.hpp"
#include "redis/wire/reply.hpp"

#include <holdfast/credentials.hpp>
#include <holdfast/redis/options.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

/// What a connection is made for. `more_commands` is beside one for commands: that one asks for the
/// history of the data, and the observer is told of that one alone.
enum class purpose { commands, more_commands, listening };

/// The name a server may show for a client: printable, without spaces, not too long.
std::string client_name(std::string_view label);

/// A replica answers ROLE so: it would answer questions about locks from what its primary has
/// forgotten already.
bool is_replica(const reply& role);

/// What a new connection says, in one go, before anything else may pass, and what the answers mean.
/// No HELLO: RESP2 is spoken by every server and proxy.
///
/// AUTH and SELECT must be answered well. The rest is asked for where the server lets us: an ACL
/// may forbid it, an old server or a proxy may not know it.
class handshake {
public:
    handshake(const options&, credentials, std::string_view label, purpose);

    void compose(std::string& out) const;

    /// What the next answer is about, in words; empty: all have come.
    std::string_view awaited() const;

    /// Judges the next answer. Throws `failure` if the connection is of no use.
    void judge(const reply&);

    /// What the server told of itself.
    const introduction& told() const { return told_; }

private:
    enum class step {
        authenticate,
        select_database,
        name_client,
        ask_role,
        ask_time,
        ask_identity,
        ask_history,
        ask_node
    };

    static std::string_view words_for(step);
    void judge_answer(step, const reply&);
    std::string hint_at(step, const reply& error) const;

    const options& how_;
    const credentials who_;
    std::string name_;
    std::vector<step> steps_;
    std::size_t answered_ = 0;
    introduction told_;
};

} // namespace holdfast::redis
