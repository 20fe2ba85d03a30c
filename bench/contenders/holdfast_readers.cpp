// SPDX-License-Identifier: Apache-2.0
// Readers of one process that share one lock, with and without a writer.
#include "bench/contenders/arena.hpp"
#include "bench/contenders/expect_unlocked.hpp"
#include "bench/contenders/threads.hpp"

#include <holdfast/client.hpp>
#include <holdfast/shared_mutex.hpp>

#include <stdexcept>

namespace holdfast::bench {
namespace {

class readers : public contender {
public:
    explicit readers(const arena& where)
        : threads_{where.at_once}
        , client_{where.url()}
        , lock_{client_, name_of_lock(0)} {}

    tally run(nanoseconds length) override {
        return in_threads(threads_, length, [this](int) { return time_of([this] { read(); }); });
    }

    /// Returns the limits for the number of scripts. Readers that come shortly after each other
    /// share one hold on the server, but there is at least one hold.
    claim scripts_for(const tally& all) const override { return {2, 2 * all.done}; }

protected:
    virtual void look() const {} // reads the guarded data

    void read() {
        lock_.lock_shared();
        look();
        expect_unlocked(lock_.shared());
    }

    const int threads_;
    client client_;
    shared_mutex lock_;
};

/// The first thread writes, and the other threads read. All pairs are counted. The samples are the
/// waits of the writer.
class readers_and_writer final : public readers {
public:
    using readers::readers;

    tally run(nanoseconds length) override {
        std::vector<nanoseconds> waits;
        tally all = in_threads(threads_, length, [&](int i) {
            if (i > 0)
                return time_of([this] { read(); });
            waits.push_back(time_of([this] { lock_.lock(); }));
            write();
            return waits.back();
        });
        all.samples = std::move(waits);
        return all;
    }

private:
    void look() const override {
        if (is_written_)
            throw std::runtime_error{"a reader was inside beside the writer"};
    }

    void write() {
        is_written_ = true;
        is_written_ = false;
        expect_unlocked(lock_);
    }

    // volatile, so that the compiler keeps the writes; the lock guards it
    volatile bool is_written_ = false;
};

} // namespace

made holdfast_readers(const arena& where) {
    return std::make_unique<readers>(where);
}

made holdfast_readers_and_writer(const arena& where) {
    return std::make_unique<readers_and_writer>(where);
}

} // namespace holdfast::bench
