// SPDX-License-Identifier: Apache-2.0
// The yardstick of blocking calls: each thread has a socket, writes a request and sleeps in read()
// until its answer is there. No library can do less without being cleverer.
#include "bench/contender.hpp"
#include "bench/requests.hpp"
#include "bench/threads.hpp"

namespace holdfast::bench {
namespace {

class caller {
public:
    caller(const server& home, int i)
        : connection_{home.connect()}
        , requests_{i} {
        load_scripts(connection_);
    }

    void pair() {
        text_.clear();
        requests_.append_lock(text_);
        requests::expect_granted(*ask_composed(connection_, text_));
        text_.clear();
        requests_.append_release(text_);
        requests::expect_released(*ask_composed(connection_, text_));
    }

private:
    connection connection_;
    requests requests_;
    std::string text_;
};

class callers : public contender {
public:
    callers(const server& home, int threads) {
        for (int i = 0; i < threads; ++i)
            callers_.emplace_back(home, i);
    }

    tally run(nanoseconds length) override {
        return in_threads(static_cast<int>(callers_.size()), length,
                          [this](int i) { callers_[i].pair(); });
    }

private:
    std::vector<caller> callers_;
};

} // namespace

std::unique_ptr<contender> bare_sockets(const server& home, int threads) {
    return std::make_unique<callers>(home, threads);
}

} // namespace holdfast::bench
