// SPDX-License-Identifier: Apache-2.0
#include "sync/gate.hpp"

namespace holdfast::sync {

bool gate::is_about_to_be_left() const {
    return holder_ && holder_->release_follows() && queue_.empty();
}

bool gate::is_being_left() const {
    return holder_ && holder_->deferred() && holder_->now_in() == wire_hold::phase::releasing &&
           queue_.empty();
}

void gate::open_behind(const wire_hold& leaving) {
    holder_.reset();
    sent_off_ = &leaving;
}

bool gate::acknowledged(const wire_hold& left) {
    if (sent_off_ != &left)
        return false;
    sent_off_ = nullptr;
    if (bell_)
        bell_->ring();
    return true;
}

void gate::let_go() {
    holder_.reset();
    sent_off_ = nullptr;
    if (bell_)
        bell_->ring();
    while (!queue_.empty())
        (void)queue_.front().step_out();
}

gate& gates::of(const std::string& name) {
    if (spare_.empty())
        return by_name_[name];
    spare_.key() = name;
    auto entered = by_name_.insert(std::move(spare_));
    spare_ = std::move(entered.node); // if the gate was there
    return entered.position->second;
}

gate* gates::find(const std::string& name) {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &found->second;
}

void gates::forget(const std::string& unused) {
    spare_ = by_name_.extract(unused);
    spare_.mapped().owes_courtesy = false;
}

void gates::note_others(const std::string& name, bool listen) {
    if (!listen) {
        contended_.erase(name);
        return;
    }
    if (contended_.size() >= contended_max)
        contended_.clear();
    contended_.insert(name);
}

void gates::let_go() {
    for (auto& [name, each] : by_name_)
        each.let_go();
    std::erase_if(by_name_, [](const auto& entry) { return entry.second.unused(); });
}

} // namespace holdfast::sync
