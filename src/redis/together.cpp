// SPDX-License-Identifier: Apache-2.0
#include "redis/together.hpp"

#include "net/later.hpp"
#include "redis/ear/ear.hpp"
#include "redis/lanes/lanes.hpp"
#include "redis/mouth/mouths.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {
namespace {

/// Number of lookups in a row without the present address after which the client leaves a server
/// (fixed_address).
constexpr int checks_of_a_name = 3;

} // namespace

together::together(std::shared_ptr<node_context> context, std::shared_ptr<mouths> shared,
                   std::shared_ptr<lanes> own, std::shared_ptr<ear> listening)
    : context_{std::move(context)}
    , mouths_{std::move(shared)}
    , lanes_{std::move(own)}
    , ear_{std::move(listening)}
    , pause_{std::min(context_->how.address_check, heeded_again_max / checks_of_a_name) *
             checks_of_a_name} {}

void together::shared_met(const server_in_use& now) {
    const net::failure why{errc::outcome_unknown, context_->address() + " may be another server "
                                                                        "now; the one before is "
                                                                        "left"};
    mouths_->follow(now, why);
    lanes_->follow(now, why);
    ear_->follow(now, why);
}

void together::other_met(const introduction& told) {
    const std::string shared = mouths_->identity().id;
    if (told.run_id.empty() || shared.empty() || told.run_id == shared || !mouths_->connected())
        return;
    const time_point now = context_->home.time.now();
    if (pause_ == duration::zero() || now < heeds_from_)
        return;
    heeds_from_ = net::later(now, pause_);
    pause_ = std::min(pause_ * 2, heeded_again_max);
    context_->leave_server({errc::unreachable, "a new connection to " + context_->address() +
                                                   " leads to another server"});
}

} // namespace holdfast::redis
