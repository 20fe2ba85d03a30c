// SPDX-License-Identifier: Apache-2.0
// Interface of a held lock for leases and threads (`lock_handle`), and the errors that its
// functions report.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/observer.hpp>
#include <holdfast/store.hpp>
#include <holdfast/ticket.hpp>
#include <holdfast/time.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::sync {

class engine;

/// Reason for a failure: an error code and a text. If the server sent an error text, the text is
/// the server's.
struct failure {
    error_code code;
    std::string text;
};

/// Handler of a release or an extension. The handler is called once. After success, the error code
/// is empty.
using release_handler = asio::any_completion_handler<void(failure)>;

/// Interface of a held lock for leases and threads (`lock_handle`). Several leases and threads may
/// share a hold. When the last lease or thread ends its share, the hold is released.
class lock_handle {
public:
    explicit lock_handle(std::shared_ptr<engine> of)
        : home{std::move(of)} {}
    lock_handle(const lock_handle&) = delete;
    virtual ~lock_handle() = default;

    const std::shared_ptr<engine> home;
    /// Number of the call that acquired the hold, for events. Only the executor uses it.
    std::uint64_t call_number = 0;

    // Functions that any thread may call.

    /// Returns the name of the lock in the store. The string lives as long as the hold.
    virtual std::string_view name() const noexcept = 0;
    /// Returns the key of the hold in the thread table. The key is the name of the lock, unless the
    /// hold is on several locks.
    virtual std::string_view entry() const noexcept { return name(); }
    virtual std::string owner() const = 0;
    virtual lock_kind kind() const noexcept = 0;
    virtual duration remaining() const noexcept = 0; ///< zero: the hold is no longer valid
    bool is_valid() const noexcept { return remaining() > duration::zero(); }
    virtual std::stop_token lost() const = 0;
    virtual std::stop_token in_danger() const = 0;
    /// Returns the stop token that is stopped when a wish arrives. The first call starts to listen
    /// for wishes.
    virtual std::stop_token asked() const = 0;
    virtual std::optional<wish> received_wish() const = 0;
    virtual bool renewed() const noexcept = 0;
    // Returns why this hold was lost, or `none` if it was not lost. A hold on several locks calls
    // why_lost() and out_of_time() of each member's hold.
    virtual event_cause why_lost() const { return event_cause::none; }
    /// Returns whether the hold was renewed until the limit `options::max_hold`.
    virtual bool out_of_time() const { return false; }
    /// Prevents a local hand-over of the hold. The release of the hold will go to the store.
    virtual void stay_with_its_holder() noexcept {}
    /// Returns the number of replicas that have confirmed the hold.
    virtual unsigned replicas() const noexcept = 0;
    /// Returns the fencing token, or 0 if the lock has no tokens.
    virtual std::uint64_t token() const noexcept { return 0; }
    /// Returns the ids of the held permits. The result is empty if the hold is on a lock.
    virtual std::vector<std::string> permit_ids() const { return {}; }
    /// Returns the clients of the members of a hold on several locks, as lock_descriptor::homes()
    /// does. The result is empty if all members belong to the client `home`.
    virtual std::vector<const engine*> homes_of_parts() const { return {}; }
    /// Lets one more lease or thread share the hold. Returns false if the hold has ended.
    virtual bool share() = 0;
    /// Records that a thread ended without releasing its share of the hold. From now on, no call
    /// waits for the release of that share. Call `abandon()` on the executor afterwards.
    virtual void thread_ended() noexcept = 0;
    /// Undoes thread_ended(). Call it if the ending thread still releases its share, in the
    /// destructor of a static object.
    virtual void thread_came_back() noexcept = 0;

    // Functions that only code on the executor may call. A function with a parameter `where` sends
    // its requests on the executor `where`; see engine::spawn().

    /// Asks the store to keep the hold for at least `length` from now.
    virtual void extend(duration length, release_handler) = 0;
    virtual void renew_from_now_on(duration lease) = 0;
    /// Asks the store once to have the hold confirmed by `replicas` replicas, which must be more
    /// than before. After success, the hold always requires this number of confirmations.
    virtual void confirm(unsigned replicas, release_handler) = 0;
    virtual void release(release_handler, const asio::any_io_executor& where) = 0;
    /// Implements lease::detach(). Throws a `worded_error` if the hold cannot be detached; the hold
    /// is then as it was before. The caller keeps the hold alive until the call has completed.
    virtual asio::awaitable<ticket> detach() = 0;
    virtual void abandon() = 0; ///< called after `thread_ended()`

    /// Returns a pointer to the hold itself. Another pointer may stand for one share of the hold:
    /// its use by one lease or thread. The share ends with the last copy of that pointer. To end a
    /// share, drop its pointer before you release the hold.
    virtual std::shared_ptr<lock_handle> whole() = 0;

    // Functions for deferred releases. No caller waits for a deferred release, but the release must
    // reach the store before the next request of the same thread.
    virtual bool deferred() const noexcept = 0;
    /// Records that a release will follow. Any thread may call this function.
    virtual void announce_release() noexcept = 0;
    /// Releases the hold without waiting for the result. After the release has begun, calls
    /// `sent_off`, which returns whether the release request was sent.
    virtual void release_unwaited(const asio::any_io_executor& where,
                                  const std::function<bool()>& sent_off) = 0;
};

/// Error of type system_error whose what() returns exactly the given text.
class worded_error final : public boost::system::system_error {
public:
    explicit worded_error(failure why)
        : system_error{why.code}
        , words_{why.text.empty() ? why.code.message() : std::move(why.text)} {}
    const char* what() const noexcept override { return words_.c_str(); }

private:
    std::string words_;
};

} // namespace holdfast::sync
