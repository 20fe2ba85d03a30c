// SPDX-License-Identifier: Apache-2.0
#include <holdfast/secret.hpp>

#include <cstdlib>
#include <new>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

namespace {

/// The block to look at when it is freed, and what was in it then.
const void* watched = nullptr;
std::string found;

} // namespace

// Replaces the deallocation functions of the whole program, because a freed block cannot be
// inspected in any other way.
void* operator new[](std::size_t size) {
    void* const block = std::malloc(size);
    return block ? block : throw std::bad_alloc{};
}
void operator delete[](void* block) noexcept {
    if (block && block == std::exchange(watched, block == watched ? nullptr : watched))
        found.assign(static_cast<const char*>(block), found.size());
    std::free(block);
}
void operator delete[](void* block, std::size_t) noexcept {
    ::operator delete[](block);
}

namespace holdfast {
namespace {

template <typename T>
concept printable = requires(std::ostream& out, const T& value) {
    out << value;
};
static_assert(printable<std::string> && !printable<secret>);
static_assert(!std::is_convertible_v<secret, std::string_view>);
static_assert(!std::is_convertible_v<secret, std::string>);

/// Returns the remaining bytes of the secret after `end` has destroyed it.
template <typename End>
std::string remains_of(secret& hidden, End end) {
    found.assign(hidden.reveal().size(), '?');
    watched = hidden.reveal().data();
    end();
    EXPECT_EQ(watched, nullptr) << "it was not freed";
    return found;
}

TEST(Secret, TellsItsTextToWhoAsks) {
    EXPECT_EQ(secret{"hunter2"}.reveal(), "hunter2");
    EXPECT_EQ(secret{std::string{"hunter2"}}.reveal(), "hunter2");
    const std::string_view any_bytes{"a\0b", 3};
    EXPECT_EQ(secret{any_bytes}.reveal(), any_bytes);
    EXPECT_FALSE(secret{"x"}.empty());
}

TEST(Secret, MayBeEmpty) {
    EXPECT_TRUE(secret{}.empty());
    EXPECT_TRUE(secret{""}.empty());
    EXPECT_EQ(secret{}.reveal(), "");
    const secret copy = secret{};
    EXPECT_TRUE(copy.empty());
}

TEST(Secret, ACopyIsOneOfItsOwn) {
    secret one{"hunter2"};
    const secret copy = one;
    one = "changed";
    EXPECT_EQ(one.reveal(), "changed");
    EXPECT_EQ(copy.reveal(), "hunter2");
}

TEST(Secret, AMovedOneLeavesNothingBehind) {
    secret one{"hunter2"};
    const void* const bytes = one.reveal().data();
    const secret other = std::move(one);
    EXPECT_EQ(other.reveal().data(), bytes);
    EXPECT_TRUE(one.empty()); // NOLINT(bugprone-use-after-move): that is the question
}

TEST(Secret, IsWipedBeforeItsMemoryIsFreed) {
    const std::string nothing(7, '\0');
    auto hidden = std::make_unique<secret>("hunter2");
    EXPECT_EQ(remains_of(*hidden, [&] { hidden.reset(); }), nothing);
    secret replaced{"hunter2"};
    EXPECT_EQ(remains_of(replaced, [&] { replaced = "other"; }), nothing);
    secret source{"hunter2"}, target;
    EXPECT_EQ(remains_of(source,
                         [&] {
                             target = std::move(source);
                             target = {};
                         }),
              nothing);
}

} // namespace
} // namespace holdfast
