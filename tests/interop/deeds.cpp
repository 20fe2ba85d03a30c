// SPDX-License-Identifier: Apache-2.0
#include "interop/deeds.hpp"

#include <algorithm>
#include <stdexcept>

namespace holdfast::interop {
namespace {

using namespace std::chrono_literals;

/// For so long at most a server carries out what a process had sent before it was killed.
constexpr auto under_way = 5s;

const std::map<std::string, deed::kind>& beginnings() {
    static const std::map<std::string, deed::kind> all{{"draws", deed::kind::draw},
                                                       {"sets", deed::kind::set},
                                                       {"counts-down", deed::kind::count_down},
                                                       {"waits", deed::kind::wait}};
    return all;
}

/// How each is told that it was done.
const std::map<deed::kind, std::string>& endings() {
    static const std::map<deed::kind, std::string> all{{deed::kind::draw, "drew"},
                                                       {deed::kind::set, "set"},
                                                       {deed::kind::count_down, "counted-down"},
                                                       {deed::kind::wait, "passed"}};
    return all;
}

} // namespace

bool deeds_reading::is_one(const std::string& what) const {
    return beginnings().contains(what) || (begun_ && what != "failed");
}

void deeds_reading::line(moment at, const std::string& what, const std::string& name,
                         std::istringstream& words) {
    const auto found = beginnings().find(what);
    if (!begun_ && found != beginnings().end())
        return begin(at, found->second, name, words);
    if (!begun_ || begun_->name != name)
        throw std::runtime_error{worker_ + " " + what + " " + name + " here?"};
    end(at, what);
}

void deeds_reading::begin(moment at, deed::kind what, const std::string& name,
                          std::istringstream& words) {
    begun_ = deed{what, worker_, name, 1, at, at};
    if (what == deed::kind::draw || what == deed::kind::set)
        words >> begun_->amount;
}

void deeds_reading::end(moment at, const std::string& what) {
    const bool done = what == endings().at(begun_->what);
    const bool is_wait = begun_->what == deed::kind::wait || begun_->what == deed::kind::draw;
    if (done && is_wait)
        made_.waits.push_back(
            std::chrono::duration_cast<std::chrono::microseconds>(at - begun_->asked));
    else if (what == "overtaken" && begun_->what == deed::kind::draw)
        ++made_.overtaken[begun_->name];
    else if (what == "gives-up" && is_wait)
        ++made_.gave_up;
    else if (!done && what != "gives-up")
        throw std::runtime_error{worker_ + " " + what + " " + begun_->name + " here?"};
    begun_->told = at;
    begun_->how = done ? deed::outcome::done : deed::outcome::denied;
    made_.deeds.push_back(*begun_);
    begun_.reset();
}

history deeds_reading::finished(std::optional<moment> killed_at) {
    if (killed_at)
        cut_off(*killed_at);
    else if (begun_)
        made_.troubles.push_back(worker_ + " ended while it asked " + begun_->name);
    begun_.reset();
    return std::move(made_);
}

void deeds_reading::cut_off(moment killed_at) {
    const auto doubt = [&](deed& which) {
        which.told = std::max(which.asked, killed_at) + under_way;
        which.how = deed::outcome::unknown;
    };
    for (deed& each : made_.deeds)
        if (each.what == deed::kind::draw && each.how == deed::outcome::denied &&
            may_not_be_back(each.told, killed_at))
            doubt(each);
    if (!begun_)
        return;
    if (begun_->what == deed::kind::wait)
        begun_->told = std::max(begun_->asked, killed_at); // it was not let through until then
    else
        doubt(*begun_);
    made_.deeds.push_back(*begun_);
}

} // namespace holdfast::interop
