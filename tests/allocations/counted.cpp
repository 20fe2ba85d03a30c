// SPDX-License-Identifier: Apache-2.0
#include "allocations/counted.hpp"

#include <cstdlib>
#include <new>

namespace {

thread_local std::size_t count = 0;

} // namespace

// Replaces the allocation functions of the whole program, except those for wider alignment. A
// sanitizer has its own functions, and memory from one set must not be freed by another.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    ++count;
    return std::malloc(size);
}
void* operator new(std::size_t size) {
    void* const block = ::operator new(size, std::nothrow);
    return block ? block : throw std::bad_alloc{};
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return ::operator new(size, std::nothrow);
}
void* operator new[](std::size_t size) {
    return ::operator new(size);
}
void operator delete(void* block) noexcept {
    std::free(block);
}
void operator delete(void* block, std::size_t) noexcept {
    std::free(block);
}
void operator delete[](void* block) noexcept {
    std::free(block);
}
void operator delete[](void* block, std::size_t) noexcept {
    std::free(block);
}

namespace holdfast::allocations {

counted::counted()
    : before_{count} {}

std::size_t counted::so_far() const {
    return count - before_;
}

} // namespace holdfast::allocations
