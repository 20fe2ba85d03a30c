// SPDX-License-Identifier: Apache-2.0
#include "explanation.hpp"

#include <holdfast/error.hpp>

#include <string>

namespace holdfast {
namespace {

std::string sentences_of(const explanation& of) {
    std::string all{of.meaning};
    for (const char* const more : {of.known, of.advice})
        if (*more != '\0')
            all.append(" ").append(more);
    return all;
}

// The fixed ids make the categories of two shared objects equal, if both objects contain this code.
struct category final : boost::system::error_category {
    constexpr category() noexcept
        : error_category{0xbe854fc4efea3759} {}
    const char* name() const noexcept override { return "holdfast"; }
    std::string message(int value) const override {
        return sentences_of(explain(static_cast<errc>(value)));
    }
};

struct store_category final : boost::system::error_category {
    constexpr store_category() noexcept
        : error_category{0xe13a80e3d0672aa1} {}
    const char* name() const noexcept override { return "holdfast.store"; }
    std::string message(int value) const override {
        return sentences_of(explain(static_cast<store_errc>(value)));
    }
    error_condition default_error_condition(int value) const noexcept override {
        return explain(static_cast<store_errc>(value)).equal_to;
    }
};

constexpr category instance;
constexpr store_category store_instance;

} // namespace

error_code make_error_code(errc e) noexcept {
    return {static_cast<int>(e), instance};
}
error_condition make_error_condition(errc e) noexcept {
    return {static_cast<int>(e), instance};
}
error_code make_error_code(store_errc e) noexcept {
    return {static_cast<int>(e), store_instance};
}

} // namespace holdfast
