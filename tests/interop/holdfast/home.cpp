// SPDX-License-Identifier: Apache-2.0
#include "interop/holdfast/home.hpp"

#include <stdexcept>

namespace holdfast::interop {
namespace {

std::unique_ptr<any_lock> make_lock(client& at, const std::string& getter,
                                    const std::string& name) {
    const auto make = []<typename Lock>(std::in_place_type_t<Lock> which, auto&&... how) {
        return std::make_unique<any_lock>(which, std::forward<decltype(how)>(how)...);
    };
    if (getter == "getLock")
        return make(std::in_place_type<recursive_mutex>, at, name);
    if (getter == "getNonReentrantLock")
        return make(std::in_place_type<mutex>, at, name);
    if (getter == "getSpinLock")
        return make(std::in_place_type<spin_mutex>, at, name,
                    spin_options{.again = recursion::counted});
    if (getter == "getFencedLock")
        return make(std::in_place_type<fenced_mutex>, at, name,
                    fenced_options{.again = recursion::counted});
    throw std::invalid_argument{"no " + getter + " here yet"};
}

} // namespace

home::~home() {
    client_.close();
    work_.reset();
    thread_.join();
}

any_lock& home::lock(const std::string& getter, const std::string& name) {
    const std::scoped_lock guard{mutex_};
    std::unique_ptr<any_lock>& known = locks_[{getter, name}];
    if (!known)
        known = make_lock(client_, getter, name);
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
