// SPDX-License-Identifier: Apache-2.0
#include "store/memory/exclusive_table.hpp"

#include "store/memory/living.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::memory {

verdict_on_look exclusive_table::look(const ask& want) {
    const std::string owner = to_string(want.owner);
    lock* held = find(want.name);
    const bool is_new = !held;
    if (is_new)
        held = &locks_.emplace(want.name.text, lock{owner, microseconds::min(), 0}).first->second;
    if (held->owner != owner) {
        if (want.kind == lock_kind::spin && want.waits)
            spinners_[want.name.text][want.owner.client] = clock_.now() + want.outlasts;
        return {verdict::busy, clock_.left(held->ends_at)};
    }
    held->ends_at = std::max(held->ends_at, clock_.end_of(want.lease_time));
    verdict_on_look granted{.said = verdict::granted};
    if (want.kind == lock_kind::fenced) {
        const std::uint64_t last = is_new ? reserve_tokens(want) : last_token(want.name);
        granted.token = last + 1 - want.tokens;
        held->token = want.tokens == 1 ? granted.token : 0;
    }
    return granted;
}

std::uint64_t exclusive_table::reserve_tokens(const ask& want) {
    std::uint64_t& last = last_tokens_[want.name.text];
    if (want.numbers == fencing::dated)
        last = std::max(last, static_cast<std::uint64_t>(clock_.now().count()) - 1);
    return last += want.tokens;
}

std::uint64_t exclusive_table::token(const lock_name& name) const {
    const auto found = locks_.find(name.text);
    return found == locks_.end() || is_over(found->second) ? 0 : found->second.token;
}

std::uint64_t exclusive_table::last_token(const lock_name& name) const {
    const auto found = last_tokens_.find(name.text);
    return found == last_tokens_.end() ? 0 : found->second;
}

bool exclusive_table::renew(const hold& what, duration lease_time) {
    lock* const held = find_of(what);
    if (held)
        held->ends_at = std::max(held->ends_at, clock_.end_of(lease_time));
    return held != nullptr;
}

bool exclusive_table::release(const hold& what) {
    if (!find_of(what))
        return false;
    locks_.erase(what.name.text);
    if (const auto all = spinners_.find(what.name.text); all != spinners_.end()) {
        all->second.erase(what.owner.client);
        std::erase_if(all->second,
                      [this](const auto& each) { return clock_.is_over(each.second); });
        if (all->second.empty())
            spinners_.erase(all);
    }
    return true;
}

bool exclusive_table::others_spin(const hold& what) const {
    return what.kind == lock_kind::spin && spinners_.contains(what.name.text);
}

void exclusive_table::prolong(const owner_id& owner, microseconds end) {
    for (auto& [name, held] : locks_)
        if (!is_over(held) && is_of_client(held.owner, owner))
            held.ends_at = std::max(held.ends_at, end);
}

std::optional<holding> exclusive_table::inspect(const lock_name& name) const {
    const auto found = locks_.find(name.text);
    if (found == locks_.end() || is_over(found->second))
        return std::nullopt;
    return holding{{found->second.owner}, clock_.left(found->second.ends_at)};
}

std::vector<std::string> exclusive_table::held() const {
    std::vector<std::string> names;
    for (const auto& [name, held] : locks_)
        if (!is_over(held))
            names.push_back(name);
    return names;
}

void exclusive_table::occupy(const lock_name& name, std::string owner, duration lease_time) {
    locks_.insert_or_assign(name.text, lock{std::move(owner), clock_.end_of(lease_time), 0});
}

bool exclusive_table::erase(const lock_name& name) {
    return find(name) && locks_.erase(name.text) == 1;
}

void exclusive_table::clear() {
    locks_.clear();
    last_tokens_.clear();
    spinners_.clear();
}

exclusive_table::lock* exclusive_table::find(const lock_name& name) {
    return find_living(locks_, name, clock_);
}

exclusive_table::lock* exclusive_table::find_of(const hold& what) {
    lock* const held = find(what.name);
    return held && held->owner == to_string(what.owner) ? held : nullptr;
}

} // namespace holdfast::memory
