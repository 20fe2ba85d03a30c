// SPDX-License-Identifier: Apache-2.0
// holdfast as a program with threads uses it: one client, and lock() and unlock().
#include "bench/contender.hpp"
#include "bench/threads.hpp"

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>

#include <deque>

namespace holdfast::bench {
namespace {

class clients_threads : public contender {
public:
    clients_threads(const server& home, int threads)
        : client_{home.url()} {
        for (int i = 0; i < threads; ++i)
            locks_.emplace_back(client_, name_of_lock(i));
    }

    tally run(nanoseconds length) override {
        return in_threads(static_cast<int>(locks_.size()), length, [this](int i) {
            locks_[i].lock();
            error_code failure;
            locks_[i].unlock(failure);
            if (failure)
                throw boost::system::system_error{failure, "unlock"};
        });
    }

private:
    client client_;
    std::deque<mutex> locks_; // they do not move
};

} // namespace

std::unique_ptr<contender> holdfast_threads(const server& home, int threads) {
    return std::make_unique<clients_threads>(home, threads);
}

} // namespace holdfast::bench
