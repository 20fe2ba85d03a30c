// SPDX-License-Identifier: Apache-2.0
// One call of lock(), try_lock…() or their async twins, from its start to its one completion.
#pragma once

#include "sync/subject.hpp"
#include "sync/wire_hold.hpp"

#include <holdfast/error.hpp>

#include <boost/intrusive/list.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::sync {

class engine;

/// How a call ended: granted, with a hold; busy, with neither; or failed.
struct outcome {
    std::shared_ptr<tenure> held{};
    failure why{};
    bool counted = false; ///< granted, and there is no hold of it
};

using call_hook =
    boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

/// Completed exactly once: by the coroutine that acquires, by a holder that hands on, or before
/// them by cancellation, its deadline or closing. Whoever comes second cleans up what it has.
class acquisition : public std::enable_shared_from_this<acquisition> {
    call_hook under_way_;
    call_hook queued_;

    template <call_hook acquisition::*Hook>
    using list_by =
        boost::intrusive::list<acquisition,
                               boost::intrusive::member_hook<acquisition, call_hook, Hook>,
                               boost::intrusive::constant_time_size<false>>;

public:
    using list = list_by<&acquisition::under_way_>; ///< the calls of an engine
    using queue = list_by<&acquisition::queued_>;   ///< those at one gate
    using agenda = std::multimap<time_point, acquisition*>;

    explicit acquisition(request);
    virtual ~acquisition() = default;

    const request wanted;
    const std::shared_ptr<engine> home;
    const time_point started_at;

    const std::string& name() const { return wanted.of->name.text; }

    // The executor only.
    void begin() { beginning_ = true; }
    void begun() { beginning_ = false; }
    bool finished() const { return finished_; }
    /// The store has answered it, and it was not granted: it waits there, or asks again.
    bool waits_there() const { return waits_there_; }
    bool begins_to_wait_there() { return !std::exchange(waits_there_, true); } ///< false: it did
    bool is_under_way() const { return under_way_.is_linked(); }
    void end() { under_way_.unlink(); }

    void stand_in(queue&);
    std::shared_ptr<acquisition> step_out(); ///< of the queue; itself, which may be the last

    void succeed(std::shared_ptr<wire_hold>);
    void succeed_jointly(std::shared_ptr<tenure>); ///< which was told of by its members
    void share(std::shared_ptr<wire_hold>); ///< of others, which was told of when they got it
    /// Of a counter. False: it had ended before, and what it was to have is still the caller's.
    bool succeed_counted();
    void give_up_busy();
    void fail(failure, event_cause = event_cause::failed);
    void cancel();

    /// Where a call sleeps while it runs. That ends on the executor, as an alarm must; the call
    /// ends with the last who knows it, on any thread.
    class bed {
    public:
        explicit bed(acquisition&);
        bed(const bed&) = delete;
        ~bed() { call_.wake_.reset(); }

    private:
        acquisition& call_;
    };
    alarm& wake() { return *wake_; }
    void ring() { ///< it looks again at what it waits for
        if (wake_)
            wake_->ring();
    }
    std::unique_ptr<alarm> take_wake() { return std::move(wake_); } ///< for what outlasts the run

protected:
    /// Still inside the call that asked for it: a handler must not be run there.
    bool beginning() const { return beginning_; }

    virtual void complete(outcome) = 0;

private:
    friend class patience;

    std::shared_ptr<acquisition> finish();
    void tell(outcome);

    std::shared_ptr<acquisition> keep_; // while it is in a queue
    std::optional<agenda::iterator> give_up_entry_;
    std::unique_ptr<alarm> wake_; // while it runs
    bool finished_ = false;
    bool waits_there_ = false;
    bool beginning_ = false;
};

/// Negotiates with the store for it, alone of all who want that name here, until it has a hold or
/// has failed; then it is the next one's turn.
asio::awaitable<void> negotiate(std::shared_ptr<acquisition>);

} // namespace holdfast::sync
