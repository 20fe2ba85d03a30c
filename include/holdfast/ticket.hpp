// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/export.hpp>
#include <holdfast/store.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast {

/// Identification of a hold that no process renews. `lease::detach()` returns it. Any client of the
/// same store can then adopt, renew or release the hold (`client::adopt`, `renew` and `give`).
///
///     const std::string text = to_string(held.detach());         // in one process
///     lease again = client.adopt(ticket::from_string(text));     // in another process
///
/// Everybody who has the ticket can release the lock. The ticket contains no other secret.
struct HOLDFAST_EXPORT ticket {
    std::string name{}; ///< name of the lock at the store, with the prefix
    lock_kind kind = lock_kind::plain;
    owner_id owner{};
    std::uint64_t token = 0;   ///< fencing token of a fenced lock, otherwise 0
    std::uint32_t permits = 1; ///< for the kind `permit`: number of permits
    /// Identity of the server at the time of the detach, for error messages. The text may be empty.
    /// The client does not compare this identity with the server's present identity, which may
    /// differ after a restart or a failover.
    std::string server{};

    bool operator==(const ticket&) const = default;

    /// Reads the text of a ticket. Throws `errc::invalid_argument` if the text is not a ticket, is
    /// not complete, or was changed.
    static ticket from_string(std::string_view text);
};

/// Returns the text of the ticket: one line without spaces, which ends with a check sum. No
/// character of the text has a special meaning in a shell.
HOLDFAST_EXPORT std::string to_string(const ticket&);

} // namespace holdfast
