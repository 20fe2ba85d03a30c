// SPDX-License-Identifier: Apache-2.0
// Measures how fast a release by one client wakes a waiter of another client.
#include "bench/contenders/contender.hpp"

#include <holdfast/client.hpp>
#include <holdfast/shared_mutex.hpp>

namespace holdfast::bench {
namespace {

/// Function that returns the readers' mutex or the writers' mutex of a lock. One client holds one
/// of these mutexes, while another client waits for the same mutex or for the other one.
template <typename Lock>
using side = basic_mutex& (*)(Lock&);

template <typename Lock>
class lock_relay final : public relay {
public:
    lock_relay(const arena& where, side<Lock> held, side<Lock> wanted, pause how_long = {})
        : relay{how_long}
        , one_{where.url()}
        , other_{where.url()}
        , held_{held(lock_of_one_)}
        , wanted_{wanted(lock_of_other_)} {}

private:
    void hold_back() override { held_.lock(); }
    void wait() override { wanted_.lock(); }
    void give_back() override { expect_unlocked(wanted_); }
    void let_go_on() override { expect_unlocked(held_); }

    client one_, other_;
    Lock lock_of_one_{one_, name_of_lock(0)}, lock_of_other_{other_, name_of_lock(0)};
    basic_mutex &held_, &wanted_;
};

basic_mutex& whole(mutex& lock) {
    return lock;
}

basic_mutex& writers(shared_mutex& lock) {
    return lock;
}

basic_mutex& readers(shared_mutex& lock) {
    return lock.shared();
}

} // namespace

made holdfast_wake_up(const arena& where) {
    return std::make_unique<lock_relay<mutex>>(where, whole, whole);
}

made holdfast_late_wake_up(const arena& where) {
    return std::make_unique<lock_relay<mutex>>(where, whole, whole, relay::a_while);
}

made holdfast_wake_up_of_reader(const arena& where) {
    return std::make_unique<lock_relay<shared_mutex>>(where, writers, readers);
}

made holdfast_wake_up_of_writer(const arena& where) {
    return std::make_unique<lock_relay<shared_mutex>>(where, readers, writers);
}

} // namespace holdfast::bench
