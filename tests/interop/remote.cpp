// SPDX-License-Identifier: Apache-2.0
#include "interop/remote.hpp"

#include <atomic>

namespace holdfast::interop {
namespace {

/// Clients of all tests share a JVM.
std::string next_label() {
    static std::atomic<int> last = 0;
    return "client" + std::to_string(++last);
}

json::object settings_for_jvm(const client_settings& how) {
    json::object all = how.redisson;
    if (how.lease_time)
        all["lockWatchdogTimeout"] = how.lease_time->count();
    return all;
}

json::object settings_for_us(const client_settings& how) {
    json::object all = how.keeper;
    const auto set = [&](const char* key, const std::optional<duration>& length) {
        if (length)
            all[key] = length->count();
    };
    set("lease_time", how.lease_time);
    set("poll_bound", how.poll_bound);
    set("unavailable_timeout", how.unavailable_timeout);
    set("command_timeout", how.command_timeout);
    set("waiter_timeout", how.waiter_timeout);
    set("fair_wait", how.fair_wait);
    if (how.redisson_form)
        all["redisson"] = *how.redisson_form;
    if (how.pubsub)
        all["pubsub"] = *how.pubsub;
    if (how.direct_hand_off)
        all["direct_hand_off"] = "on";
    if (how.required_replicas)
        all["required_replicas"] = *how.required_replicas;
    if (how.prefix)
        all["prefix"] = *how.prefix;
    if (how.root)
        all["root"] = *how.root;
    return all;
}

void add_address(const address& where, json::object& to) {
    if (where.nodes.empty()) {
        to["address"] = where.url;
        return;
    }
    to["addresses"] = json::value_from(where.nodes);
    if (!where.service.empty())
        to["service"] = where.service;
}

} // namespace

remote_client::remote_client(peer& process, bool is_jvm, const address& where,
                             const client_settings& how)
    : peer_{process}
    , is_jvm_{is_jvm}
    , label_{next_label()} {
    json::object connect{{"do", "connect"},
                         {"client", label_},
                         {"settings", is_jvm ? settings_for_jvm(how) : settings_for_us(how)},
                         {"server_settings", how.redisson_server}};
    add_address(where, connect);
    id_ = json::value_to<std::string>(peer_.ask(std::move(connect)));
}

remote_client::~remote_client() {
    try {
        peer_.ask({{"do", "close"}, {"client", label_}});
    } catch (const std::runtime_error&) {
        // Its process was killed, or the test has failed before.
    }
}

remote_thread remote_client::thread(const std::string& name) {
    return remote_thread{*this, label_ + "." + name};
}

remote_lock remote_thread::lock(const std::string& name, const std::string& getter) const {
    return remote_lock{client_->process(), call(name, getter)};
}

json::object remote_thread::call(const std::string& name, const std::string& getter) const {
    return {{"do", "call"},
            {"client", client_->label()},
            {"actor", name_},
            {"object", getter},
            {"name", name}};
}

std::string remote_thread::owner() const {
    const json::value number = client_->process().ask({{"do", "thread"}, {"actor", name_}});
    return client_->id() + ":" + (number.is_int64() ? std::to_string(number.as_int64()) : "");
}

remote_lock remote_lock::async() const {
    remote_lock same = *this;
    same.suffix_ = "Async";
    return same;
}

remote_lock remote_lock::patient(std::chrono::seconds most) const {
    remote_lock same = *this;
    same.most_ = most;
    return same;
}

json::object remote_lock::command(const std::string& method,
                                  const std::vector<duration>& lengths) const {
    json::object all = call_;
    all["method"] = method + suffix_;
    json::array arguments;
    for (const duration each : lengths)
        arguments.emplace_back(each.count());
    if (!lengths.empty())
        arguments.emplace_back("MILLISECONDS");
    all["args"] = std::move(arguments);
    return all;
}

bool remote_lock::refuses_reentry() try {
    lock();
    return false;
} catch (const peer_failure& failure) {
    const std::string_view words = failure.what();
    if (words.starts_with("IllegalMonitorStateException") || words.starts_with("already_held"))
        return true;
    throw;
}

bool remote_lock::unlock() try {
    (void)ask("unlock");
    return true;
} catch (const peer_failure& failure) {
    const std::string_view words = failure.what();
    if (words.starts_with("IllegalMonitorStateException") || words.starts_with("not_held"))
        return false;
    throw;
}

json::value remote_lock::tell(const std::string& verb) {
    json::object all = call_;
    all["do"] = verb;
    return peer_->ask(std::move(all));
}

std::vector<std::string> remote_lock::heard() {
    return json::value_to<std::vector<std::string>>(tell("heard"));
}

bool remote_lock::cancel(const ongoing& call) {
    json::object all = call_;
    all["do"] = "cancel";
    all["target"] = call.id;
    return peer_->ask(std::move(all)).as_bool();
}

std::vector<std::int64_t> remote_lock::round_trips(int count) {
    json::object all = command("isLocked", {});
    all["do"] = "time";
    all["count"] = count;
    return json::value_to<std::vector<std::int64_t>>(peer_->ask(std::move(all)));
}

} // namespace holdfast::interop
