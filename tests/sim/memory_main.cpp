// SPDX-License-Identifier: Apache-2.0
// malloc() and free() of `sim_explore`. A simulated world allocates a small block every few hundred
// instructions, and glibc's own functions took a sixth of the time. These functions keep a list of
// free blocks for each size, and never return memory to the system. Thread safety: none; each
// process of `sim_explore` has one thread.
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include <sys/mman.h>

// glibc's own functions, for large blocks.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace {

constexpr std::size_t alignment = 16;
constexpr std::size_t small_max = 2048; ///< size of the largest block in a list
constexpr std::size_t page_size = std::size_t{1} << 16;
constexpr std::size_t reserved = std::size_t{1} << 34; ///< address space of all pages
constexpr std::size_t classes = small_max / alignment + 1;

struct free_block {
    free_block* next;
};
/// Blocks of one size: the free blocks, and the rest of a page that was never used.
struct size_class {
    free_block* first = nullptr;
    char* unused = nullptr;
    char* end = nullptr;
};

std::array<size_class, classes> all;
std::array<std::uint8_t, reserved / page_size> class_of; ///< class of each page
char* pages = nullptr;
std::size_t pages_count = 0;

bool is_small(const void* block) {
    const auto from_pages =
        reinterpret_cast<std::uintptr_t>(block) - reinterpret_cast<std::uintptr_t>(pages);
    return pages && from_pages < reserved;
}

std::size_t class_at(const void* block) {
    return class_of[static_cast<std::size_t>(static_cast<const char*>(block) - pages) / page_size];
}

bool reserve_pages() {
    void* const memory = ::mmap(nullptr, reserved, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    pages = static_cast<char*>(memory);
    return true;
}

/// Returns a block that was never used. Begins another page if necessary.
void* unused_block(std::size_t which) {
    size_class& of = all[which];
    const std::size_t size = which * alignment;
    if (static_cast<std::size_t>(of.end - of.unused) < size) {
        if ((!pages && !reserve_pages()) || pages_count == class_of.size())
            return nullptr;
        class_of[pages_count] = static_cast<std::uint8_t>(which);
        of.unused = pages + pages_count++ * page_size;
        of.end = of.unused + page_size;
    }
    void* const block = of.unused;
    of.unused += size;
    return block;
}

} // namespace

extern "C" {

void* malloc(std::size_t size) {
    if (size > small_max)
        return __libc_malloc(size);
    const std::size_t which = size == 0 ? 1 : (size + alignment - 1) / alignment;
    free_block* const first = all[which].first;
    if (!first)
        return unused_block(which);
    all[which].first = first->next;
    return first;
}

void free(void* block) {
    if (!is_small(block))
        return __libc_free(block);
    size_class& of = all[class_at(block)];
    of.first = new (block) free_block{of.first};
}

void* calloc(std::size_t count, std::size_t each) {
    if (each != 0 && count > small_max / each)
        return __libc_calloc(count, each);
    void* const block = malloc(count * each);
    return block ? std::memset(block, 0, count * each) : nullptr;
}

void* realloc(void* block, std::size_t size) {
    if (block && !is_small(block))
        return __libc_realloc(block, size);
    const std::size_t before = block ? class_at(block) * alignment : 0;
    if (block && size <= before)
        return block;
    void* const other = malloc(size);
    if (block && other) {
        std::memcpy(other, block, before);
        free(block);
    }
    return other;
}

void* memalign(std::size_t alignment_wanted, std::size_t size) {
    return alignment_wanted <= alignment ? malloc(size) : __libc_memalign(alignment_wanted, size);
}

void* aligned_alloc(std::size_t alignment_wanted, std::size_t size) {
    return memalign(alignment_wanted, size);
}

int posix_memalign(void** block, std::size_t alignment_wanted, std::size_t size) {
    *block = memalign(alignment_wanted, size);
    return *block ? 0 : ENOMEM;
}

std::size_t malloc_usable_size(void* block) {
    return is_small(block) ? class_at(block) * alignment : 0;
}

} // extern "C"
