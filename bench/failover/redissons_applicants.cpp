// SPDX-License-Identifier: Apache-2.0
#include "bench/failover/applicants.hpp"

#include <stdexcept>

namespace holdfast::bench {
namespace {

/// Redisson's side. Its code is bench/redisson/holdfast/bench/Failover.java.
class redissons final : public applicants {
public:
    explicit redissons(peer& java)
        : java_{java} {}

    void prepare(const realm& where, const wanted_locks& names) override {
        java_.begin("failover-prepare", 1, {},
                    " " + names.free + " " + names.held + " " + where.words_for_redisson());
        java_.finish();
    }

    void ask() override { java_.begin("failover", 1, {}); }

    grants finish() override {
        const tally told = java_.finish();
        if (told.samples.size() != 2)
            throw std::runtime_error{"Redisson's side tells no two moments"};
        return {moment{told.samples[0]}, moment{told.samples[1]}};
    }

private:
    peer& java_;
};

} // namespace

std::unique_ptr<applicants> redissons_applicants(redisson& all) {
    return std::make_unique<redissons>(all.process());
}

} // namespace holdfast::bench
