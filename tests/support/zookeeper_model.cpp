// SPDX-License-Identifier: Apache-2.0
#include "support/zookeeper_model.hpp"

#include "store/zookeeper/nodes.hpp"

#include <cstdio>
#include <limits>
#include <utility>

namespace holdfast::support {

using zookeeper::listing;
using zookeeper::new_node;
using zookeeper::node_data;
using zookeeper::node_mode;
using zookeeper::parent_of;

namespace {

bool is_numbered(node_mode mode) {
    return mode == node_mode::persistent_sequential || mode == node_mode::ephemeral_sequential;
}

bool is_ephemeral(node_mode mode) {
    return mode == node_mode::ephemeral || mode == node_mode::ephemeral_sequential;
}

/// Owner that a server reports for container nodes.
constexpr std::int64_t container_mark = std::numeric_limits<std::int64_t>::min();

/// Formats the number of a sequential node in the server's form.
std::string ten_digits(std::int64_t number) {
    char text[32];
    std::snprintf(text, sizeof text, "%010d", static_cast<int>(number));
    return text;
}

} // namespace

zookeeper_model::zookeeper_model() {
    nodes_.emplace("/", node{});
}

zookeeper_model::~zookeeper_model() = default;

zookeeper::session::creation zookeeper_model::create(const new_node& what, std::int64_t session) {
    zookeeper::session::creation got;
    const std::string parent{parent_of(what.path)};
    const auto above = nodes_.find(parent);
    if (above == nodes_.end()) {
        got.why = zookeeper::session::refusal::no_parent;
        return got;
    }
    std::string path = what.path;
    if (is_numbered(what.mode))
        path += ten_digits(above->second.next_number);
    if (nodes_.contains(path)) {
        got.why = zookeeper::session::refusal::exists;
        return got;
    }
    ++above->second.next_number;
    node made;
    made.data = what.data;
    made.stat.czxid = made.stat.mzxid = ++zxid_;
    made.stat.made_at = 1'700'000'000'000 + zxid_;
    made.stat.ephemeral_owner = is_ephemeral(what.mode)             ? session
                                : what.mode == node_mode::container ? container_mark
                                                                    : 0;
    made.stat.data_length = static_cast<std::int32_t>(what.data.size());
    got.node = {path, made.stat};
    nodes_.emplace(path, std::move(made));
    fire(parent, true);
    return got;
}

listing zookeeper_model::list(const std::string& path) const {
    if (!nodes_.contains(path))
        return std::nullopt;
    std::vector<std::string> names;
    const std::string prefix = path == "/" ? path : path + '/';
    for (auto each = nodes_.upper_bound(prefix);
         each != nodes_.end() && each->first.starts_with(prefix); ++each)
        if (each->first.find('/', prefix.size()) == std::string::npos)
            names.push_back(each->first.substr(prefix.size()));
    return names;
}

zookeeper::session::removal zookeeper_model::remove(const std::string& path) {
    const auto found = nodes_.find(path);
    if (found == nodes_.end())
        return zookeeper::session::removal::absent;
    if (!list(path)->empty())
        return zookeeper::session::removal::has_children;
    nodes_.erase(found);
    ++zxid_;
    fire(path, false);
    fire(path, true);
    fire(std::string{parent_of(path)}, true);
    return zookeeper::session::removal::removed;
}

void zookeeper_model::fire(const std::string& path, bool of_children) {
    for (auto each = watches_.begin(); each != watches_.end();) {
        if (each->second.path == path && each->second.of_children == of_children) {
            each->second.fire();
            each = watches_.erase(each);
        } else {
            ++each;
        }
    }
}

std::uint64_t zookeeper_model::watch(set_watch what) {
    ++figures_.watches;
    watches_.emplace(++next_watch_, std::move(what));
    return next_watch_;
}

std::string zookeeper_model::make(std::string path, node_mode mode, std::int64_t session,
                                  std::string data) {
    const std::scoped_lock guard{mutex_};
    std::vector<std::string> missing;
    for (std::string_view each = parent_of(path); !nodes_.contains(std::string{each});
         each = parent_of(each))
        missing.emplace_back(each);
    for (; !missing.empty(); missing.pop_back())
        (void)create({missing.back(), {}, node_mode::container}, 0);
    return create({std::move(path), std::move(data), mode}, session).node.path;
}

bool zookeeper_model::erase(const std::string& path) {
    const std::scoped_lock guard{mutex_};
    return remove(path) == zookeeper::session::removal::removed;
}

std::optional<node_data> zookeeper_model::at(const std::string& path) {
    const std::scoped_lock guard{mutex_};
    return see(path);
}

std::optional<node_data> zookeeper_model::see(const std::string& path) const {
    const auto found = nodes_.find(path);
    if (found == nodes_.end())
        return std::nullopt;
    node_data seen{found->second.data, found->second.stat};
    seen.stat.children = static_cast<std::int32_t>(list(path)->size());
    seen.stat.child_version =
        static_cast<std::int32_t>(found->second.next_number * 2 - seen.stat.children);
    return seen;
}

std::vector<std::string> zookeeper_model::children(const std::string& path) {
    const std::scoped_lock guard{mutex_};
    return list(path).value_or(std::vector<std::string>{});
}

void zookeeper_model::set_next_number(const std::string& path, std::int64_t number) {
    const std::scoped_lock guard{mutex_};
    nodes_.at(path).next_number = number;
}

void zookeeper_model::set_servers(zookeeper::survey seen) {
    const std::scoped_lock guard{mutex_};
    seen_ = std::move(seen);
}

void zookeeper_model::erase_if_empty(const std::string& path) {
    const std::scoped_lock guard{mutex_};
    (void)remove(path);
}

zookeeper_model::figures zookeeper_model::so_far() {
    const std::scoped_lock guard{mutex_};
    return figures_;
}

std::size_t zookeeper_model::watches() {
    const std::scoped_lock guard{mutex_};
    return watches_.size();
}

} // namespace holdfast::support
