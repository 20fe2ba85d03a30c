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

/// Purpose of a connection. `commands` is the command connection: only this connection asks for the
/// replication id. `more_commands` is an additional connection for requests: its loss is not
/// reported to the observer. `listening` is the subscriber connection.
enum class purpose { commands, more_commands, listening };

/// Returns the client name for CLIENT SETNAME: printable, without spaces, at most 128 characters.
std::string client_name(std::string_view label);

/// Returns whether this reply to ROLE comes from a replica. A replica must not be asked about
/// locks, because it may still have locks that the primary has deleted.
bool is_replica(const reply& role);

/// Handshake of a new connection. All its requests are sent at once, before any other request, and
/// the replies are checked. There is no HELLO, because every server and proxy speaks RESP2.
///
/// AUTH and SELECT must succeed. The server may reject the other requests because an ACL forbids
/// them. An old server or a proxy may not know them.
class handshake {
public:
    handshake(const options&, credentials, std::string_view label, purpose);

    void compose(std::string& out) const;

    /// Returns the name of the command whose reply is expected next. Empty if all replies have
    /// come.
    std::string_view awaited() const;

    /// Checks the next reply. Throws `failure` if the connection cannot be used.
    void judge(const reply&);

    /// Returns the information that the server gave about itself.
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
