// SPDX-License-Identifier: Apache-2.0
#include "redis/mouth/mouths.hpp"

#include <utility>

namespace holdfast::redis {

mouths::mouths(std::shared_ptr<node_context> context)
    : context_{std::move(context)}
    , usual_{std::make_shared<mouth>(context_, purpose::commands)} {}

mouths::pair& mouths::pair_for(const call_wishes& wishes) {
    if (wishes.replicas == 0)
        return usual_;
    pair& these = confirming_[wishes.replicas];
    if (!these.first) {
        these.first = std::make_shared<mouth>(context_, purpose::more_commands, wishes.replicas);
        if (!retired_.empty())
            these.first->retire(retired_);
        else if (closed_)
            these.first->close();
    }
    return these;
}

mouth& mouths::pick(const call_wishes& wishes) {
    pair& these = pair_for(wishes);
    const bool is_late = these.first->silent() || (wishes.elsewhere && these.first->owes());
    if (closed_ || !is_late)
        return *these.first;
    if (!these.spare)
        these.spare = std::make_shared<mouth>(context_, purpose::more_commands, wishes.replicas);
    else if (these.spare->silent())
        these.spare->cut(
            {errc::outcome_unknown, context_->address() + " does not answer here either"});
    return *these.spare;
}

void mouths::for_each(const std::function<void(mouth&)>& act) {
    const auto both = [&act](const pair& these) {
        act(*these.first);
        if (these.spare)
            act(*these.spare);
    };
    both(usual_);
    for (const auto& [replicas, these] : confirming_)
        both(these);
}

bool mouths::cut_silent(time_point since, const net::failure& why) {
    bool any = false;
    for_each([&](mouth& each) { any = each.cut_silent(since, why) || any; });
    return any;
}

void mouths::ask_if_there() {
    for_each([](mouth& each) { each.ask_if_there(); });
}

void mouths::cut(const net::failure& why) {
    for_each([&why](mouth& each) { each.cut(why); });
}

void mouths::move(const net::failure& why) {
    for_each([&why](mouth& each) { each.move(why); });
}

void mouths::follow(const server_in_use& now, const net::failure& why) {
    for_each([&](mouth& each) {
        if (&each != usual_.first.get())
            each.follow(now, why);
    });
}

void mouths::distrust(const reply& said, const net::failure& why) {
    for_each([&](mouth& each) {
        if (each.gave(said))
            each.cut(why);
    });
}

void mouths::close() {
    if (closed_) // a second call writes nothing, because it may be on any thread
        return;
    closed_ = true;
    for_each([](mouth& each) { each.close(); });
}

void mouths::retire(const std::string& why) {
    if (closed_)
        return;
    closed_ = true;
    retired_ = why;
    for_each([&why](mouth& each) { each.retire(why); });
}

} // namespace holdfast::redis
