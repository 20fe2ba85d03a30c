// SPDX-License-Identifier: Apache-2.0
#include "store/redis/request_slots.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <memory>

namespace holdfast::redis {

/// Entry of a request in the queue for a slot. The destructor removes the entry.
class request_slots::place_in_line {
public:
    place_in_line(request_slots& of, std::string name)
        : of_{of}
        , name_{std::move(name)}
        , wake_{of.time_.make_alarm()} {
        book& all = of_.names_[name_];
        me_ = all.waiting.insert(all.waiting.end(), waiter{wake_.get()});
    }
    place_in_line(const place_in_line&) = delete;
    ~place_in_line() {
        book& all = of_.names_[name_];
        all.waiting.erase(me_);
        if (!all.is_full())
            all.call_next(); // this request may not use the slot that was freed for it
        of_.forget_if_unused(name_);
    }

    /// Waits until a slot is free for this request, or until the deadline.
    asio::awaitable<void> wait(time_point deadline) {
        while (!has_slot() && of_.time_.now() < deadline) {
            me_->called = false;
            co_await wake_->wait_until(deadline);
        }
    }
    bool has_slot() const { return me_->called && !of_.names_.at(name_).is_full(); }

private:
    request_slots& of_;
    const std::string name_;
    const std::unique_ptr<alarm> wake_;
    std::list<waiter>::iterator me_;
};

void request_slots::book::call_next() {
    const auto next = std::find_if(waiting.begin(), waiting.end(),
                                   [](const waiter& each) { return !each.called; });
    if (next == waiting.end())
        return;
    next->called = true;
    next->wake->ring();
}

asio::awaitable<request_slot> request_slots::take(lock_name name, std::uint64_t request,
                                                  time_point deadline) {
    {
        book& all = names_[name.text];
        if (const auto known = all.requests.find(request); known != all.requests.end())
            co_return known->second;
        if (!all.is_full() && all.waiting.empty())
            co_return assign(all, request);
    }
    place_in_line here{*this, name.text};
    co_await here.wait(deadline);
    if (!here.has_slot())
        throw boost::system::system_error{
            make_error_code(errc::overloaded),
            "this client already has " + std::to_string(of_one_name_max) +
                " unanswered requests that change this counter, and none of them ended in time"};
    co_return assign(names_[name.text], request);
}

request_slot request_slots::assign(book& all, std::uint64_t request) {
    std::int64_t lowest = 0;
    for (const std::int64_t taken : all.slots) {
        if (taken != lowest)
            break;
        ++lowest;
    }
    all.slots.insert(lowest);
    const request_slot where{lowest, ++last_number_};
    all.requests.emplace(request, where);
    return where;
}

void request_slots::over(const lock_name& name, std::uint64_t request) noexcept {
    const auto found = names_.find(name.text);
    if (found == names_.end())
        return;
    book& all = found->second;
    if (const auto known = all.requests.find(request); known != all.requests.end()) {
        all.slots.erase(known->second.slot);
        all.requests.erase(known);
        all.call_next();
    }
    forget_if_unused(found->first);
}

void request_slots::forget_if_unused(const std::string& name) {
    const auto found = names_.find(name);
    if (found != names_.end() && found->second.requests.empty() && found->second.waiting.empty())
        names_.erase(found);
}

std::size_t request_slots::count_taken(const lock_name& name) const {
    const auto found = names_.find(name.text);
    return found == names_.end() ? 0 : found->second.requests.size();
}

} // namespace holdfast::redis
