// SPDX-License-Identifier: Apache-2.0
#include "bench/server/accounts.hpp"

#include <cstdlib>
#include <string_view>

namespace holdfast::bench {
namespace {

/// What follows `label` in `text`, or nothing.
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

/// A command that was never called has no line, and then both counts are 0.
long long calls(std::string_view commandstats, std::string_view command) {
    return static_cast<long long>(number(after(line_of(commandstats, command), "calls=")));
}

long long successes(std::string_view commandstats, std::string_view command) {
    const auto failed = number(after(line_of(commandstats, command), "failed_calls="));
    return calls(commandstats, command) - static_cast<long long>(failed);
}

} // namespace

void accounts::clear() {
    ask(server_, {"CONFIG", "RESETSTAT"});
}

long long accounts::scripts_run() const {
    const std::string stats = info("commandstats");
    return successes(stats, "cmdstat_evalsha:") + successes(stats, "cmdstat_eval:");
}

long long accounts::commands_sent() const {
    const std::string stats = info("commandstats");
    long long sum = 0;
    for (const char* each :
         {"cmdstat_evalsha:", "cmdstat_eval:", "cmdstat_subscribe:", "cmdstat_unsubscribe:",
          "cmdstat_ssubscribe:", "cmdstat_sunsubscribe:"})
        sum += calls(stats, each);
    return sum;
}

long long accounts::leases_extended() const {
    return successes(info("commandstats"), "cmdstat_pexpire:");
}

/// Without what the server remembers of requests: that ends by itself after a minute.
long long accounts::keys() const {
    const auto remembered = ask(server_, {"KEYS", "holdfast_requests:*"});
    return ask(server_, {"DBSIZE"})->integer - static_cast<long long>(remembered->elements);
}

std::string accounts::any_key() const {
    const auto answer = ask(server_, {"RANDOMKEY"});
    return answer->str ? std::string{answer->str, answer->len} : std::string{};
}

double accounts::cpu_seconds() const {
    const std::string cpu = info("cpu");
    return number(line_of(cpu, "used_cpu_sys:")) + number(line_of(cpu, "used_cpu_user:"));
}

std::string accounts::version() const {
    const std::string about = info("server");
    const auto valkey = line_of(about, "valkey_version:");
    return valkey.empty() ? "redis " + std::string{line_of(about, "redis_version:")}
                          : "valkey " + std::string{valkey};
}

std::string accounts::info(const char* section) const {
    const auto answer = ask(server_, {"INFO", section});
    return std::string{answer->str, answer->len};
}

} // namespace holdfast::bench
