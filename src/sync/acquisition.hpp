// SPDX-License-Identifier: Apache-2.0
// One call of lock(), try_lock…() or their async twins, from its start to its one completion.
#pragma once

#include "sync/wire_hold.hpp"

#include <holdfast/error.hpp>

#include <boost/intrusive/list.hpp>

#include <memory>
#include <string>
#include <utility>

namespace holdfast::sync {

class engine;

/// Why a call failed: the code, and words for people (the server's own, where there are any).
struct failure {
    error_code code;
    std::string text;
};

/// What a call wants, checked.
struct request {
    lock_name name;
    duration lease;
    bool renewed;
    bool patient;          ///< false: one attempt
    time_point give_up_at; ///< not begun after that
};

/// Completed exactly once: by the coroutine that acquires, or before it by cancellation or
/// closing. Whoever comes second cleans up what it has.
class acquisition : public std::enable_shared_from_this<acquisition>,
                    public boost::intrusive::list_base_hook<
                        boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    /// The calls of an engine that are under way.
    using list = boost::intrusive::list<acquisition, boost::intrusive::constant_time_size<false>>;

    acquisition(std::shared_ptr<engine>, request);
    virtual ~acquisition() = default;

    const std::shared_ptr<engine> home;
    const request wanted;
    const time_point started_at;

    // The executor only.
    void begin() { beginning_ = true; }
    void begun() { beginning_ = false; }
    bool finished() const { return finished_; }
    void succeed(std::shared_ptr<wire_hold>);
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
    std::unique_ptr<alarm> take_wake() { return std::move(wake_); } ///< for what outlasts the run

protected:
    /// Still inside the call that asked for it: a handler must not be run there.
    bool beginning() const { return beginning_; }

    /// No hold and no code: busy.
    virtual void complete(std::shared_ptr<wire_hold>, const failure&) = 0;

private:
    bool finish();

    std::unique_ptr<alarm> wake_; // while it runs
    bool finished_ = false;
    bool beginning_ = false;
};

/// Runs it: gate, store, hold.
asio::awaitable<void> run(std::shared_ptr<acquisition>);

} // namespace holdfast::sync
