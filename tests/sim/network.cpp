// SPDX-License-Identifier: Apache-2.0
#include "sim/network.hpp"

#include "store/memory/connection.hpp"

#include <algorithm>
#include <string_view>

namespace holdfast::sim {

namespace {

int number_of(std::string_view lock) {
    return lock.back() - '0';
}

} // namespace

memory::fate network::draw() {
    memory::fate f;
    f.request_delay = dice_.between(duration{0}, weather_.latency);
    f.answer_delay = dice_.between(duration{0}, weather_.latency);
    f.refused = dice_.percent(weather_.refused);
    f.request_lost = dice_.percent(weather_.lost);
    f.answer_lost = dice_.percent(weather_.answer_lost);
    f.wake_up_lost = dice_.percent(weather_.deaf);
    if (dice_.percent(weather_.slow))
        f.request_delay += dice_.between(duration{1}, weather_.slowness);
    if (dice_.percent(weather_.slow_answer))
        f.answer_delay += dice_.between(duration{1}, weather_.slowness);
    if (dice_.percent(weather_.broken)) {
        f.cut_off = dice_.between(duration{0}, weather_.latency);
        f.request_delay += dice_.between(duration{1}, weather_.slowness);
    }
    if (dice_.percent(weather_.doubled))
        f.executed_again = dice_.between(duration{0}, weather_.latency * 3);
    f.overloaded = weather_.no_room > 0 && further_.percent(weather_.no_room);
    return f;
}

memory::fate network::decide(const memory::request& r) {
    memory::fate f = draw();
    const auto planned = std::find_if(planned_.begin(), planned_.end(),
                                      [&](const auto& p) { return p.first == r.what; });
    const bool swallowed = silent_ && !details_of(r).elsewhere;
    if (cut_ != outage::none) {
        (cut_ == outage::refuses ? f.refused : f.request_lost) = true;
        f.wake_up_lost = true;
    } else if (swallowed) {
        f.request_lost = true;
        f.wake_up_lost = true;
    } else if (planned != planned_.end()) {
        f = planned->second;
        planned_.erase(planned);
    }
    deny(r, f);
    note(r, f);
    told_(r, f);
    return f;
}

void network::deny(const memory::request& r, memory::fate& f) const {
    if (r.what != memory::verb::renew) {
        f.denied = f.denied || denied_.contains(number_of(r.name));
        return;
    }
    for (std::size_t i = 0; i < r.holds.size(); ++i)
        if (denied_.contains(number_of(r.holds[i].name.text)))
            f.denied_holds.push_back(i);
}

void network::note(const memory::request& r, const memory::fate& f) {
    const time_point now = time_.now();
    const bool swallowed = silent_ && !details_of(r).elsewhere && cut_ == outage::none;
    const bool is_denied = f.denied || !f.denied_holds.empty();
    if (troubles(f) || is_denied)
        troubled_until_ =
            std::max(troubled_until_, now + f.request_delay + f.answer_delay + command_timeout_);
    if (troubles(f) && !swallowed)
        last_mishap_ = now;
    if (swallowed)
        last_silence_ = now;
    if (f.overloaded)
        last_want_of_room_ = now;
    if (f.denied)
        last_denial_[number_of(r.name)] = now;
    for (const std::size_t place : f.denied_holds)
        last_denial_[number_of(r.holds[place].name.text)] = now;
    was_deaf_ = was_deaf_ || f.wake_up_lost;
    was_doubled_ = was_doubled_ || f.executed_again.has_value();
}

bool network::well_since(time_point when, int name) const {
    return std::max({last_mishap_, last_silence(), last_denial(name)}) + command_timeout_ < when;
}

time_point network::last_denial(int name) const {
    const auto found = last_denial_.find(name);
    return found == last_denial_.end() ? time_point{} : found->second;
}

bool network::troubles(const memory::fate& f) const {
    return f.refused || f.request_lost || f.answer_lost || f.cut_off || f.overloaded ||
           f.request_delay > weather_.latency || f.answer_delay > weather_.latency;
}

} // namespace holdfast::sim
