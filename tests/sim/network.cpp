// SPDX-License-Identifier: Apache-2.0
#include "sim/network.hpp"

#include <algorithm>

namespace holdfast::sim {

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
    return f;
}

memory::fate network::decide(const memory::request& r) {
    memory::fate f = draw();
    const auto planned = std::find_if(planned_.begin(), planned_.end(),
                                      [&](const auto& p) { return p.first == r.what; });
    if (cut_ != outage::none) {
        (cut_ == outage::refuses ? f.refused : f.request_lost) = true;
        f.wake_up_lost = true;
    } else if (planned != planned_.end()) {
        f = planned->second;
        planned_.erase(planned);
    }
    if (troubles(f))
        troubled_until_ = std::max(troubled_until_, time_.now() + f.request_delay + f.answer_delay +
                                                        command_timeout_);
    was_deaf_ = was_deaf_ || f.wake_up_lost;
    told_(r, f);
    return f;
}

bool network::troubles(const memory::fate& f) const {
    return f.refused || f.request_lost || f.answer_lost || f.cut_off ||
           f.request_delay > weather_.latency || f.answer_delay > weather_.latency;
}

} // namespace holdfast::sim
