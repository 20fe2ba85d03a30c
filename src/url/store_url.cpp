// SPDX-License-Identifier: Apache-2.0
#include "refusal.hpp"
#include "url/hosts.hpp"
#include "url/parts.hpp"
#include "url/reading.hpp"

#include <holdfast/schemes.hpp>

#include <algorithm>
#include <numeric>

namespace holdfast {
namespace {

/// Returns the Levenshtein distance: the number of letters that must be changed, inserted or
/// removed.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

std::string advice_for(std::string_view name, const std::vector<std::string>& known) {
    if (known.empty())
        return "; this scheme has none";
    const auto farther = [&](const std::string& a, const std::string& b) {
        return distance(a, name) < distance(b, name);
    };
    const auto nearest = std::min_element(known.begin(), known.end(), farther);
    if (name.size() < 100 && distance(*nearest, name) <= nearest->size() / 3)
        return "; do you mean " + *nearest + "?";
    std::string all = "; known are";
    for (const std::string& each : known)
        all.append(&each == &known.front() ? " " : ", ").append(each);
    return all;
}

} // namespace

const url::parts& store_url::inside() const noexcept {
    return inside_.all;
}
const std::string& store_url::scheme() const noexcept {
    return inside().scheme;
}
const std::string& store_url::user() const noexcept {
    return inside().user;
}
const secret& store_url::password() const noexcept {
    return inside().password;
}
const credential_provider& store_url::credentials() const noexcept {
    return inside_.logging_in;
}
const std::string& store_url::path() const noexcept {
    return inside().path;
}
const std::vector<std::string>& store_url::segments() const noexcept {
    return inside().segments;
}

bool store_url::names_servers() const noexcept {
    const std::vector<url::host_and_port>& hosts = inside().hosts;
    return hosts.size() > 1 || !hosts.front().host.empty() || hosts.front().port;
}

std::vector<server_address> store_url::servers(std::string_view example) const {
    return url::servers_in(inside(), example);
}

std::optional<std::string_view> store_url::given(std::string_view name) {
    if (std::ranges::find(inside_.known, name) == inside_.known.end())
        inside_.known.emplace_back(name);
    const auto found = std::ranges::find(inside().parameters, name, &url::parameter::name);
    if (found == inside().parameters.end())
        return std::nullopt;
    if (std::ranges::count(inside().parameters, name, &url::parameter::name) > 1)
        refuse(std::string{name} + " is given twice");
    return found->value.reveal();
}

void store_url::refuse_unknown() const {
    for (const url::parameter& each : inside().parameters)
        if (std::ranges::find(inside_.known, each.name) == inside_.known.end())
            refuse("there is no parameter " + shown(each.name) +
                   advice_for(each.name, inside_.known));
}

void store_url::refuse(std::string_view why) const {
    holdfast::refuse("url: " + std::string{why});
}

std::string store_url::shown(std::string_view text) const {
    return url::shown(inside(), text);
}

} // namespace holdfast
