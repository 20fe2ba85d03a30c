// SPDX-License-Identifier: Apache-2.0
// Several locks that one client takes as one lock. The yardstick is a round trip to the server.
#include "bench/contenders/arena.hpp"
#include "bench/contenders/expect_unlocked.hpp"
#include "bench/contenders/requests.hpp"
#include "bench/contenders/sampled.hpp"
#include "bench/contenders/threads.hpp"

#include <holdfast/client.hpp>
#include <holdfast/multi_mutex.hpp>

namespace holdfast::bench {
namespace {

constexpr int members = 3;

class taker_of_all : public contender {
public:
    taker_of_all(const arena& where, sampled what)
        : what_{what}
        , client_{where.url()} {}

    tally run(nanoseconds length) override {
        return in_threads(1, length, [this](int) {
            const auto begin = stopwatch::now();
            all_.lock();
            const auto taken = stopwatch::now();
            expect_unlocked(all_);
            return sample_of(what_, begin, taken);
        });
    }

    claim scripts_for(const tally& all) const override {
        return {2 * members * all.done, 2 * members * all.done};
    }

private:
    const sampled what_;
    client client_;
    mutex a_{client_, name_of_lock(0)}, b_{client_, name_of_lock(1)}, c_{client_, name_of_lock(2)};
    multi_mutex all_{a_, b_, c_};
};

/// Measures the time of one script, from the request to the reply.
class asker : public contender {
public:
    explicit asker(const arena& where)
        : connection_{where.connect()}
        , requests_{0, connection_} {}

    tally run(nanoseconds length) override {
        tally all;
        const auto begin = stopwatch::now();
        do {
            all.samples.push_back(time_of([this] {
                text_.clear();
                requests_.append_lock(text_);
                requests::expect_granted(*ask_composed(connection_, text_));
            }));
            all.samples.push_back(time_of([this] {
                text_.clear();
                requests_.append_release(text_);
                requests::expect_released(*ask_composed(connection_, text_));
            }));
        } while (stopwatch::now() < begin + length);
        all.elapsed = stopwatch::now() - begin;
        all.done = static_cast<long long>(all.samples.size());
        return all;
    }

    claim scripts_for(const tally& all) const override { return {all.done, all.done}; }

private:
    connection connection_;
    requests requests_;
    std::string text_;
};

} // namespace

made holdfast_multi(const arena& where) {
    return std::make_unique<taker_of_all>(where, sampled::lock);
}

made holdfast_multi_pairs(const arena& where) {
    return std::make_unique<taker_of_all>(where, sampled::pair);
}

made bare_round_trips(const arena& where) {
    return std::make_unique<asker>(where);
}

} // namespace holdfast::bench
