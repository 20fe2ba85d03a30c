// SPDX-License-Identifier: Apache-2.0
#include "allocations/counted.hpp"

#include <cstdlib>
#include <new>

namespace {

thread_local std::size_t count = 0;

} // namespace

// Of the whole program: `new[]` and the forms that do not throw come here too.
void* operator new(std::size_t size) {
    ++count;
    void* const block = std::malloc(size);
    return block ? block : throw std::bad_alloc{};
}
void operator delete(void* block) noexcept {
    std::free(block);
}
void operator delete(void* block, std::size_t) noexcept {
    std::free(block);
}

namespace holdfast::allocations {

counted::counted()
    : before_{count} {}

std::size_t counted::so_far() const {
    return count - before_;
}

} // namespace holdfast::allocations
