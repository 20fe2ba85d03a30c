// SPDX-License-Identifier: Apache-2.0
// Yardstick of blocking calls. Each thread has a socket, writes a request, and sleeps in read()
// until the reply arrives. No blocking library can do less.
#include "bench/contenders/arena.hpp"
#include "bench/contenders/of_both.hpp"
#include "bench/contenders/read_requests.hpp"
#include "bench/contenders/requests.hpp"
#include "bench/contenders/threads.hpp"

#include <deque>

namespace holdfast::bench {
namespace {

template <typename Requests>
class caller {
public:
    /// Creates a caller. `replicas` is the number of replicas that must confirm each grant.
    caller(const arena& where, int i, int replicas = 0)
        : connection_{where.connect()}
        , requests_{i, connection_}
        , replicas_{replicas} {}

    void pair() {
        lock();
        unlock();
    }

    void lock() {
        text_.clear();
        requests_.append_lock(text_);
        if (replicas_ > 0)
            append_wait(text_, replicas_);
        Requests::expect_granted(*ask_composed(connection_, text_));
        if (replicas_ > 0)
            expect_confirmed(*next_answer(connection_), replicas_);
    }

    void unlock() {
        text_.clear();
        requests_.append_release(text_);
        Requests::expect_released(*ask_composed(connection_, text_));
    }

private:
    connection connection_;
    Requests requests_;
    const int replicas_;
    std::string text_;
};

template <typename Requests>
class callers : public contender {
public:
    explicit callers(const arena& where, int replicas = 0) {
        for (int i = 0; i < where.at_once; ++i)
            callers_.emplace_back(where, i, replicas);
    }

    tally run(nanoseconds length) override {
        return in_threads(static_cast<int>(callers_.size()), length,
                          [this](int i) { return time_of([&] { callers_[i].pair(); }); });
    }

    claim scripts_for(const tally& all) const override {
        const long long scripts = Requests::scripts_a_pair * all.done;
        return {scripts, scripts};
    }

private:
    std::deque<caller<Requests>> callers_; // a deque does not move its elements
};

/// Measures how much longer a grant takes when a replica confirms it.
class confirmed_caller : public contender {
public:
    explicit confirmed_caller(const arena& where)
        : alone_{where, 0}
        , confirmed_{where, 1, 1} {}

    tally run(nanoseconds length) override {
        return of_both(
            length, [this] { alone_.lock(); }, [this] { alone_.unlock(); },
            [this] { confirmed_.lock(); }, [this] { confirmed_.unlock(); });
    }

    claim scripts_for(const tally& all) const override { return {4 * all.done, 4 * all.done}; }

private:
    caller<requests> alone_, confirmed_;
};

} // namespace

made bare_sockets(const arena& where) {
    return std::make_unique<callers<requests>>(where);
}

made bare_sockets_with_set_nx(const arena& where) {
    return std::make_unique<callers<set_nx_requests>>(where);
}

made bare_sockets_confirmed_by_one(const arena& where) {
    return std::make_unique<callers<requests>>(where, 1);
}

made bare_sockets_confirmed_by_two(const arena& where) {
    return std::make_unique<callers<requests>>(where, 2);
}

made bare_confirmation(const arena& where) {
    return std::make_unique<confirmed_caller>(where);
}

made bare_readers(const arena& where) {
    return std::make_unique<callers<read_requests>>(where);
}

} // namespace holdfast::bench
