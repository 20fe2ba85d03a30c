// SPDX-License-Identifier: Apache-2.0
#include "cli/run/outer_locks.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace cli {
namespace {

/// Largest size of the list in bytes. If the list is too long, it keeps the innermost locks. An
/// environment string may have at most 128 KiB, and a lock name 64 KiB.
constexpr std::size_t list_bytes_max = 32'768;

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr ? value : "";
}

std::string in_list(std::string_view name) {
    std::string written;
    for (const char each : name) {
        if (each == '%')
            written += "%25";
        else if (each == '\n')
            written += "%0A";
        else
            written += each;
    }
    return written;
}

} // namespace

outer_locks outer_locks::on(const std::string& url) {
    outer_locks found;
    const std::string innermost = variable("HOLDFAST_LOCK");
    if (innermost.empty() || variable("HOLDFAST_URL") != url)
        return found;
    std::string list = variable("HOLDFAST_LOCKS");
    if (list.empty())
        list = in_list(innermost);
    for (std::size_t start = 0; start < list.size();) {
        const std::size_t end = std::min(list.find('\n', start), list.size());
        found.names_.push_back(list.substr(start, end - start));
        start = end + 1;
    }
    return found;
}

bool outer_locks::have(const std::string& name) const {
    return std::ranges::find(names_, in_list(name)) != names_.end();
}

void outer_locks::add(const std::string& name) {
    names_.push_back(in_list(name));
}

std::vector<std::string> outer_locks::variables_with(const std::string& name) const {
    std::string list = in_list(name);
    for (auto each = names_.rbegin(); each != names_.rend(); ++each) {
        if (list.size() + each->size() >= list_bytes_max)
            break;
        list.insert(0, *each + "\n");
    }
    if (list.size() > list_bytes_max)
        list.clear();
    return {"HOLDFAST_LOCK=" + name, "HOLDFAST_LOCKS=" + list};
}

} // namespace cli
