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
    if (const json::value* lease = settings.if_contains("lease_time"))
        how.lease_time = duration{lease->as_int64()};
    if (const json::value* bound = settings.if_contains("poll_bound"))
        how.poll_bound = duration{bound->as_int64()};
    return how;
}

} // namespace holdfast::interop
