// SPDX-License-Identifier: Apache-2.0
// The yardstick of blocking calls: each thread has a socket, writes a request and sleeps in read()
// until its answer is there. No library can do less without being cleverer.
#include "bench/contenders/arena.hpp"
#include "bench/contenders/read_requests.hpp"
#include "bench/contenders/requests.hpp"
#include "bench/contenders/threads.hpp"

#include <vector>

namespace holdfast::bench {
namespace {

template <typename Requests>
class caller {
public:
    caller(const arena& where, int i)
        : connection_{where.connect()}
        , requests_{i, connection_} {}

    void pair() {
        text_.clear();
        requests_.append_lock(text_);
        Requests::expect_granted(*ask_composed(connection_, text_));
        text_.clear();
        requests_.append_release(text_);
        Requests::expect_released(*ask_composed(connection_, text_));
    }

private:
    connection connection_;
    Requests requests_;
    std::string text_;
};

template <typename Requests>
class callers : public contender {
public:
    explicit callers(const arena& where) {
        for (int i = 0; i < where.at_once; ++i)
            callers_.emplace_back(where, i);
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
    std::vector<caller<Requests>> callers_;
};

} // namespace

made bare_sockets(const arena& where) {
    return std::make_unique<callers<requests>>(where);
}

made bare_sockets_with_set_nx(const arena& where) {
    return std::make_unique<callers<set_nx_requests>>(where);
}

made bare_readers(const arena& where) {
    return std::make_unique<callers<read_requests>>(where);
}

} // namespace holdfast::bench
