// SPDX-License-Identifier: Apache-2.0
#include "interop/holdfast/home.hpp"

#include <stdexcept>

namespace holdfast::interop {
namespace {

std::unique_ptr<any_lock> make_lock(client& at, const std::string& getter, const std::string& name,
                                    fair_options fair) {
    const auto make = []<typename Lock>(std::in_place_type_t<Lock> which, auto&&... how) {
        return std::make_unique<any_lock>(which, std::forward<decltype(how)>(how)...);
    };
    constexpr recursion again = recursion::counted;
    if (getter == "getLock")
        return make(std::in_place_type<recursive_mutex>, at, name);
    if (getter == "getNonReentrantLock")
        return make(std::in_place_type<mutex>, at, name);
    if (getter == "getSpinLock")
        return make(std::in_place_type<spin_mutex>, at, name, spin_options{.again = again});
    if (getter == "getFencedLock")
        return make(std::in_place_type<fenced_mutex>, at, name, fenced_options{.again = again});
    if (getter == "token") // which no Redisson makes
        return make(std::in_place_type<token_mutex>, at, name, token_options{.again = again});
    if (getter == "getReadWriteLock")
        return make(std::in_place_type<shared_mutex>, at, name, shared_options{.again = again});
    if (getter == "getNonReentrantFairLock")
        return make(std::in_place_type<fair_mutex>, at, name, fair);
    fair.again = again;
    if (getter == "getFairLock")
        return make(std::in_place_type<fair_mutex>, at, name, fair);
    throw std::invalid_argument{"no " + getter + " here yet"};
}

std::unique_ptr<any_counter> make_counter(client& at, const std::string& getter,
                                          const std::string& name) {
    if (getter == "getSemaphore")
        return std::make_unique<any_counter>(std::in_place_type<counting_semaphore>, at, name);
    if (getter == "getPermitExpirableSemaphore")
        return std::make_unique<any_counter>(std::in_place_type<leased_seats>, at, name);
    if (getter == "getRateLimiter")
        return std::make_unique<any_counter>(std::in_place_type<rate_limiter>, at, name);
    return std::make_unique<any_counter>(std::in_place_type<latch>, at, name);
}

/// One server's; or that of the nodes of a cluster; or that of Sentinels and their service.
std::string url_of(const json::object& command) {
    const json::value* nodes = command.if_contains("addresses");
    if (nodes == nullptr)
        return json::value_to<std::string>(command.at("address"));
    const json::value* service = command.if_contains("service");
    std::string url = service == nullptr ? "redis+cluster://" : "redis+sentinel://";
    for (const json::value& each : nodes->as_array())
        url += (url.ends_with('/') ? "" : ",") + json::value_to<std::string>(each);
    return service == nullptr ? url : url + "/" + json::value_to<std::string>(*service);
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
        known = make_lock(client_, getter, name, fair_);
    return *known;
}

any_counter& home::counter(const std::string& getter, const std::string& name) {
    const std::scoped_lock guard{mutex_};
    std::unique_ptr<any_counter>& known = counters_[{getter, name}];
    if (!known)
        known = make_counter(client_, getter, name);
    return *known;
}

void home::keep(const std::string& getter, const std::string& name,
                std::unique_ptr<any_lock> made) {
    const std::scoped_lock guard{mutex_};
    locks_[{getter, name}] = std::move(made);
}

basic_mutex& home::side(const std::string& path, const std::string& name) {
    any_lock& found = lock(path.substr(0, path.find('/')), name);
    if (path.ends_with("/readLock"))
        return std::get<shared_mutex>(found).shared();
    return std::visit([](basic_mutex& each) -> basic_mutex& { return each; }, found);
}

std::vector<lease>& home::leases(const std::string& actor, const std::string& path,
                                 const std::string& name) {
    const std::scoped_lock guard{mutex_};
    return leases_[{actor, path, name}];
}

std::unique_ptr<any_lock> combined(const std::string& getter, const std::vector<part>& parts) {
    if (getter == "getMultiLock") {
        multi_mutex::members members;
        for (const part& each : parts)
            members.emplace_back(each.at.side(each.getter, each.name));
        return std::make_unique<any_lock>(std::in_place_type<multi_mutex>, members);
    }
    if (getter != "getRedLock")
        throw std::invalid_argument{"no " + getter + " of several here"};
    quorum_mutex::nodes nodes;
    for (const part& each : parts)
        nodes.emplace_back(each.at.get());
    // The servers of a test have just been started, for the first time: none has forgotten
    // anything.
    const lock_kind kind = parts.front().getter == "token" ? lock_kind::token : lock_kind::plain;
    return std::make_unique<any_lock>(
        std::in_place_type<quorum_mutex>, nodes, parts.front().name,
        quorum_options{.again = recursion::counted, .kind = kind, .nodes_remember = true});
}

home_settings settings_of(const json::object& command) {
    home_settings how;
    how.client.close_timeout = duration::zero();
    const json::object& settings = command.at("settings").as_object();
    const auto set = [&](const char* key, auto& field) {
        if (const json::value* given = settings.if_contains(key))
            field = duration{given->as_int64()};
    };
    set("lease_time", how.client.lease_time);
    set("poll_bound", how.client.poll_bound);
    set("unavailable_timeout", how.client.unavailable_timeout);
    set("waiter_timeout", how.fair.waiter_timeout);
    if (const json::value* given = settings.if_contains("required_replicas"))
        how.client.required_replicas = given->to_number<unsigned>();
    if (const json::value* given = settings.if_contains("prefix"))
        how.client.prefix = json::value_to<std::string>(*given);
    std::string& url = how.client.url;
    url = url_of(command);
    const auto add = [&](const std::string& parameter, const std::string& value) {
        url += (url.find('?') == url.npos ? "?" : "&") + parameter + "=" + value;
    };
    for (const char* parameter : {"command_timeout", "fair_wait"}) // of this kind of server
        if (const json::value* given = settings.if_contains(parameter))
            add(parameter, std::to_string(given->as_int64()) + "ms");
    for (const char* parameter : {"redisson", "pubsub", "direct_hand_off", "root", "form"})
        if (const json::value* given = settings.if_contains(parameter))
            add(parameter, json::value_to<std::string>(*given));
    return how;
}

} // namespace holdfast::interop
