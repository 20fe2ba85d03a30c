// SPDX-License-Identifier: Apache-2.0
#include "bench/server/accounts.hpp"

#include <cstdlib>
#include <string_view>

namespace holdfast::bench {
namespace {

/// Returns the text after `label` in `text`. Returns nothing if `label` is missing.
std::string_view after(std::string_view text, std::string_view label) {
    const auto found = text.find(label);
    return found == text.npos ? "" : text.substr(found + label.size());
}

std::string_view line_of(std::string_view text, std::string_view label) {
    const auto rest = after(text, label);
    return rest.substr(0, rest.find("\r\n"));
}

double number(std::string_view text) {
    return std::strtod(std::string{text}.c_str(), nullptr);
}

/// Returns how often a command was called. A command that was never called has no line, so both
/// counts are 0.
long long calls(std::string_view commandstats, std::string_view command) {
    return static_cast<long long>(number(after(line_of(commandstats, command), "calls=")));
}

long long failed_calls(std::string_view commandstats, std::string_view command) {
    return static_cast<long long>(number(after(line_of(commandstats, command), "failed_calls=")));
}

std::string info(const connection& server, const char* section) {
    const auto answer = ask(server, {"INFO", section});
    return std::string{answer->str, answer->len};
}

} // namespace

void accounts::clear() {
    for (const connection& each : servers_)
        ask(each, {"CONFIG", "RESETSTAT"});
}

long long accounts::successes(std::initializer_list<const char*> commands) const {
    long long sum = 0;
    for (const connection& server : servers_) {
        const std::string stats = info(server, "commandstats");
        for (const char* each : commands)
            sum += calls(stats, each) - failed_calls(stats, each);
    }
    return sum;
}

std::string accounts::trouble_with(const claim& scripts) const {
    const long long counted = scripts_run();
    if (counted < scripts.least || counted > scripts.most)
        return "the server ran " + std::to_string(counted) + " scripts, and not " +
               std::to_string(scripts.least) + " to " + std::to_string(scripts.most);
    if (const auto left = keys(); !left.empty())
        return std::to_string(left.size()) + " keys are left on the server, '" + left.front() +
               "' among them";
    return {};
}

long long accounts::scripts_run() const {
    return successes({"cmdstat_evalsha:", "cmdstat_eval:"});
}

long long accounts::commands_sent() const {
    long long sum = 0;
    for (const connection& server : servers_) {
        const std::string stats = info(server, "commandstats");
        for (const char* each :
             {"cmdstat_evalsha:", "cmdstat_eval:", "cmdstat_subscribe:", "cmdstat_unsubscribe:",
              "cmdstat_ssubscribe:", "cmdstat_sunsubscribe:"})
            sum += calls(stats, each);
    }
    return sum;
}

long long accounts::leases_extended() const {
    return successes({"cmdstat_pexpire:"});
}

/// Returns the names of all keys. Leaves out the keys in which the server remembers requests, which
/// expire after a minute. DBSIZE cannot be used, because it also counts expired keys that were not
/// removed yet.
std::vector<std::string> accounts::keys() const {
    std::vector<std::string> all;
    for (const connection& each : servers_) {
        const auto found = ask(each, {"KEYS", "*"});
        for (std::size_t i = 0; i < found->elements; ++i) {
            const std::string_view name{found->element[i]->str, found->element[i]->len};
            if (!name.starts_with("holdfast_requests:"))
                all.emplace_back(name);
        }
    }
    return all;
}

double accounts::cpu_seconds() const {
    double sum = 0;
    for (const connection& each : servers_) {
        const std::string cpu = info(each, "cpu");
        sum += number(line_of(cpu, "used_cpu_sys:")) + number(line_of(cpu, "used_cpu_user:"));
    }
    return sum;
}

std::string accounts::version() const {
    const std::string about = info(servers_.front(), "server");
    const auto valkey = line_of(about, "valkey_version:");
    return valkey.empty() ? "redis " + std::string{line_of(about, "redis_version:")}
                          : "valkey " + std::string{valkey};
}

} // namespace holdfast::bench
