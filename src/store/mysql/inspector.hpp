// SPDX-License-Identifier: Apache-2.0
// Inspection of locks for operators: shows the holds of a lock, and ends holds by force. Also the
// SQL for both, and the description that a client stores about itself.
#pragma once

#include "mysql/database.hpp"
#include "store/mysql/request_context.hpp"
#include "store/mysql/sql.hpp"
#include "store/mysql/waiting.hpp"

#include <holdfast/inspection.hpp>
#include <holdfast/store.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::mysql {

/// Inspector that shows the holds of a lock and ends them by force.
class row_inspector final : public inspector {
public:
    /// Creates the inspector. Both arguments must outlive it.
    row_inspector(request_context& at, poller& polls)
        : at_{at}
        , poller_{polls} {}

    asio::awaitable<std::optional<holding>> inspect(lock_name) override;
    asio::awaitable<forced> force_release(lock_name, std::string only_from) override;
    asio::awaitable<forced> force_kind(lock_name, lock_kind) override;
    asio::awaitable<std::uint64_t> last_token(lock_name) override;
    asio::awaitable<std::optional<lock_state>> describe(lock_name) override;
    asio::awaitable<lock_list> list(std::string pattern, std::size_t limit) override;
    asio::awaitable<std::unique_ptr<watch>> listen(lock_name, alarm& wake) override;

private:
    asio::awaitable<std::vector<lock_state>> states_of(std::vector<std::string> names);
    asio::awaitable<forced> force(lock_name, std::string only_from, std::optional<lock_kind> kind);

    request_context& at_;
    poller& poller_;
};

/// Which holds are ended by force.
struct force_options {
    lock_name name;
    /// Owner whose hold is ended. If empty, the holds of all owners are ended.
    std::string only_from{};
    std::optional<lock_kind> kind{}; ///< kind that the lock must have; empty: any kind
};

/// Reads the holds of the lock, and ends these holds. A hold that begins later stays. If the
/// request reaches the server after the deadline, the server does nothing.
asio::awaitable<attempt> force_once(request_context&, const force_options&, time_point deadline,
                                    forced& outcome);

// SQL for operators: who holds a lock, and which locks are held.

/// Returns three SELECTs for these names: the first reads the rows of the locks, the second the
/// readers and waiters, the third the counters.
std::vector<std::string> states_asked(const tables&, const std::vector<std::string>& names);

/// Returns the states of the locks from the three answers, in the order of the names. Omits locks
/// that are free and have no waiters.
std::vector<lock_state> states_in(const std::vector<std::string>& names, const result& locks,
                                  const result& holds, const result& counters);

/// Returns the state of one lock as a `holding`. Returns nothing if the lock is free.
std::optional<holding> holding_of(const lock_state&);

/// Returns a SELECT of the names of held locks that come after the name `behind`, in ascending
/// order.
std::string held_names(const tables&, const std::string& behind, std::size_t at_most);

/// Returns the SQL condition that the lock has neither an exclusive holder nor readers.
std::string lock_is_free(const tables&, const lock_name&);

/// Returns the description of this client for the column `info`: host, process, program, label, and
/// creation time in seconds, separated by tabs. The text has at most 255 bytes.
std::string written(const client_info&);
std::optional<client_info> client_info_in(std::string_view info);

/// Returns whether the owner belongs to a holdfast client. The UUID of such an owner contains a
/// mark.
bool is_ours(std::string_view owner);

} // namespace holdfast::mysql
