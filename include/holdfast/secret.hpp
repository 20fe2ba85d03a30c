// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/export.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

namespace holdfast {

/// A password. A secret cannot be printed or converted to a string, so it does not get into a log
/// by accident. Only `reveal()` returns its text. The destructor overwrites the text in memory
/// before it frees the memory. If the secret was created from a string, that string is not
/// overwritten.
///
///     how.password = "correct horse battery staple";
///
/// Thread safety: as for `std::string`.
class HOLDFAST_EXPORT secret {
public:
    secret() noexcept = default;

    /// Creates a secret with a copy of the text, which may contain any bytes.
    template <std::convertible_to<std::string_view> Text>
    secret(const Text& text) // NOLINT(google-explicit-constructor): assigned like a string
        : secret{copied{}, text} {}

    secret(const secret& other)
        : secret{copied{}, other.reveal()} {}
    secret(secret&& other) noexcept
        : bytes_{std::move(other.bytes_)}
        , size_{std::exchange(other.size_, 0)} {}
    secret& operator=(secret other) noexcept {
        bytes_.swap(other.bytes_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~secret();

    bool empty() const noexcept { return size_ == 0; }

    /// Returns the text. The view is valid until the secret is changed or destroyed.
    std::string_view reveal() const noexcept { return {bytes_.get(), size_}; }

    template <typename Stream>
    friend Stream& operator<<(Stream&, const secret&) = delete;

private:
    struct copied {};
    secret(copied, std::string_view text);

    std::unique_ptr<char[]> bytes_;
    std::size_t size_ = 0;
};

} // namespace holdfast
