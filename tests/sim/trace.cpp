// SPDX-License-Identifier: Apache-2.0
#include "sim/trace.hpp"

#include <array>
#include <cstdio>
#include <limits>
#include <ostream>
#include <string>
#include <unordered_set>

namespace holdfast::sim {
namespace {

constexpr std::uint64_t fnv_prime = 0x100000001b3;

void absorb(std::uint64_t& hash, std::uint64_t word) {
    hash = (hash ^ word) * fnv_prime;
    hash ^= hash >> 29;
}

std::string number(std::int64_t n) {
    const bool endless = n >= std::numeric_limits<duration::rep>::max() / 2;
    return endless ? "endless" : std::to_string(n);
}

std::string filled_in(const char* what, std::int64_t a, std::int64_t b) {
    std::string text = what;
    for (const std::int64_t value : {a, b}) {
        const std::size_t gap = text.find("{}");
        if (gap == std::string::npos)
            break;
        text.replace(gap, 2, number(value));
    }
    return text;
}

} // namespace

void trace::note(subject who, const char* what, std::int64_t a, std::int64_t b) {
    lines_.push_back({time_.now(), who, what, a, b});
}

std::uint64_t trace::hash() const {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const line& l : lines_) {
        absorb(hash, static_cast<std::uint64_t>(l.at.time_since_epoch().count()));
        absorb(hash,
               static_cast<std::uint64_t>(l.who.client * 10007 + l.who.actor * 101 + l.who.name));
        if (l.who.server >= 0)
            absorb(hash, static_cast<std::uint64_t>(l.who.server));
        for (const char* c = l.what; *c != '\0'; ++c)
            absorb(hash, static_cast<unsigned char>(*c));
        absorb(hash, static_cast<std::uint64_t>(l.a));
        absorb(hash, static_cast<std::uint64_t>(l.b));
    }
    return hash;
}

void trace::print(std::ostream& out, const line& l) const {
    std::string who = l.who.client < 0 ? "server" : "client" + std::to_string(l.who.client);
    if (l.who.client >= 0 && l.who.actor >= 0)
        who += "." + std::to_string(l.who.actor);
    std::string name = l.who.name < 0 ? "" : "lock" + std::to_string(l.who.name);
    if (l.who.server >= 0)
        name += "@" + std::to_string(l.who.server);
    std::array<char, 64> head{};
    const auto ms = static_cast<long long>((l.at - start_).count());
    std::snprintf(head.data(), head.size(), "%6lld.%03lld  %-9s %-6s ", ms / 1000, ms % 1000,
                  who.c_str(), name.c_str());
    out << head.data() << filled_in(l.what, l.a, l.b) << '\n';
}

std::set<std::string_view> trace::kinds() const {
    std::unordered_set<const char*> literals;
    for (const line& l : lines_)
        literals.insert(l.what);
    return {literals.begin(), literals.end()};
}

bool trace::is_about(const line& l, int name) {
    return name < 0 || l.who.name < 0 || l.who.name == name;
}

void trace::print(std::ostream& out, int only_name) const {
    print_end(out, only_name, lines_.size());
}

void trace::print_end(std::ostream& out, int only_name, std::size_t lines) const {
    auto first = lines_.rbegin();
    for (std::size_t found = 0; first != lines_.rend() && found < lines; ++first)
        found += is_about(*first, only_name) ? 1 : 0;
    if (first != lines_.rend())
        out << "  (what came before is shown with --trace)\n";
    for (auto l = first.base(); l != lines_.end(); ++l)
        if (is_about(*l, only_name))
            print(out, *l);
}

} // namespace holdfast::sim
