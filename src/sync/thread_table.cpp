// SPDX-License-Identifier: Apache-2.0
#include "sync/thread_table.hpp"

#include <atomic>
#include <utility>

namespace holdfast::sync {
namespace {

// These two variables live longer than all other thread-local objects: the destructors of those
// objects may still use locks while the thread ends.
constinit thread_local std::uint64_t own_number = 0;
constinit thread_local bool has_ended = false;

/// Object of each thread that has ever held a lock. When the thread ends, the destructor abandons
/// all locks that the thread still holds. A lock that the ending thread takes after that is not
/// abandoned.
class thread_mark {
public:
    ~thread_mark() {
        has_ended = true;
        for (const std::weak_ptr<thread_table>& known : tables_)
            if (const std::shared_ptr<thread_table> table = known.lock())
                table->abandon(this_thread_number());
    }

    void holds_in(std::weak_ptr<thread_table> table) {
        std::erase_if(tables_, [](const auto& known) { return known.expired(); });
        for (const auto& known : tables_)
            if (!known.owner_before(table) && !table.owner_before(known))
                return;
        tables_.push_back(std::move(table));
    }

private:
    std::vector<std::weak_ptr<thread_table>> tables_;
};

thread_local thread_mark this_thread_mark;

} // namespace

std::uint64_t this_thread_number() {
    static std::atomic<std::uint64_t> last = 0;
    if (own_number == 0)
        own_number = ++last;
    return own_number;
}

thread_table::thread_table(std::function<void(shared_lock_handle)> on_abandoned,
                           std::function<bool()> forked)
    : on_abandoned_{std::move(on_abandoned)}
    , forked_{std::move(forked)} {}

thread_table::map::iterator thread_table::mine(std::string_view name, side way) {
    const std::uint64_t thread = this_thread_number();
    if (has_ended)
        take_back(thread);
    return entries_.find(key{thread, name, way});
}

void thread_table::take_back(std::uint64_t thread) {
    std::erase_if(orphans_, [&](const orphan& each) {
        if (each.thread != thread)
            return false;
        if (const shared_lock_handle held = each.hold.lock()) {
            held->thread_came_back();
            entries_.emplace(key{thread, held->entry(), each.had_it}, entry{held, each.count});
        }
        return true;
    });
}

thread_table::entry thread_table::find(std::string_view name, side way) {
    entry gone;
    const std::scoped_lock guard{mutex_};
    const auto found = mine(name, way);
    if (found == entries_.end())
        return {};
    entry& here = found->second;
    // The entry belongs to a hold on several locks that was lost.
    if (here.lent && here.count == 1 && !here.hold->is_valid()) {
        gone = std::move(here);
        entries_.erase(found);
        return {};
    }
    return here;
}

void thread_table::enter(entry one, side way) {
    {
        const std::scoped_lock guard{mutex_};
        const key own{this_thread_number(), one.hold->entry(), way};
        entries_.emplace(own, std::move(one));
    }
    if (!has_ended)
        this_thread_mark.holds_in(weak_from_this());
}

void thread_table::add(shared_lock_handle held, side way) {
    enter({std::move(held), 1}, way);
}

void thread_table::lend(shared_lock_handle held, side way) {
    enter({std::move(held), 1, true}, way);
}

void thread_table::take_back_lent(std::string_view name, side way) {
    entry gone; // destroyed after the unlock, because its destructor may use this table
    const std::scoped_lock guard{mutex_};
    const auto found = mine(name, way);
    if (found == entries_.end() || !found->second.lent)
        return;
    // The thread has also locked this member by itself, and keeps that share of the member's hold.
    if (found->second.count > 1) {
        (void)found->second.hold->share();
        found->second.lent = false;
        --found->second.count;
        return;
    }
    gone = std::move(found->second);
    entries_.erase(found);
}

void thread_table::enter_again(std::string_view name, side way) {
    const std::scoped_lock guard{mutex_};
    const auto found = mine(name, way);
    if (found != entries_.end()) // not found if the client was closed in the meantime
        ++found->second.count;
}

thread_table::entry thread_table::leave(std::string_view name, side way) {
    const std::scoped_lock guard{mutex_};
    const auto found = mine(name, way);
    if (found == entries_.end() || (found->second.lent && found->second.count == 1))
        return {};
    entry before = found->second;
    if (--found->second.count == 0)
        entries_.erase(found);
    return before;
}

void thread_table::abandon(std::uint64_t thread) {
    if (forked_ && forked_())
        return; // after fork() a thread of the parent may have locked the mutex for ever
    std::vector<shared_lock_handle> abandoned, lent;
    {
        const std::scoped_lock guard{mutex_};
        std::erase_if(orphans_, [](const orphan& each) { return each.hold.expired(); });
        std::erase_if(entries_, [&](auto& item) {
            if (item.first.thread != thread)
                return false;
            if (item.second.lent) { // the composite hold is abandoned as a whole, not its parts
                lent.push_back(std::move(item.second.hold));
                return true;
            }
            item.second.hold->thread_ended();
            orphans_.push_back(
                {thread, item.first.has_it, item.second.hold->whole(), item.second.count});
            abandoned.push_back(std::move(item.second.hold));
            return true;
        });
    }
    for (shared_lock_handle& held : abandoned)
        on_abandoned_(std::move(held));
}

void thread_table::let_go() {
    map gone; // destroyed after the unlock, because its destructor may use this table
    const std::scoped_lock guard{mutex_};
    gone.swap(entries_);
}

} // namespace holdfast::sync
