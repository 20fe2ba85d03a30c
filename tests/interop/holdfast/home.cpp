// SPDX-License-Identifier: Apache-2.0
#include "interop/holdfast/home.hpp"

namespace holdfast::interop {

home::~home() {
    client_.close();
    work_.reset();
    thread_.join();
}

recursive_mutex& home::lock(const std::string& name) {
    const std::scoped_lock guard{mutex_};
    std::unique_ptr<recursive_mutex>& known = locks_[name];
    if (!known)
        known = std::make_unique<recursive_mutex>(client_, name);
    return *known;
}

std::vector<lease>& home::leases(const std::string& actor, const std::string& name) {
    const std::scoped_lock guard{mutex_};
    return leases_[{actor, name}];
}

options options_of(const json::object& command) {
    options how;
    how.url = json::value_to<std::string>(command.at("address"));
    how.close_patience = duration::zero();
    const json::object& settings = command.at("settings").as_object();
    const auto set = [&](const char* key, auto& field) {
        if (const json::value* given = settings.if_contains(key))
            field = duration{given->as_int64()};
    };
    set("lease_time", how.lease_time);
    set("poll_bound", how.poll_bound);
    set("unavailable_patience", how.unavailable_patience);
    return how;
}

} // namespace holdfast::interop
