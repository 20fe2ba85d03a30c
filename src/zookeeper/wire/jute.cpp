// SPDX-License-Identifier: Apache-2.0
#include "zookeeper/wire/jute.hpp"

#include "net/failure.hpp"

namespace holdfast::zookeeper {

jute_writer& jute_writer::number(std::int32_t value) {
    const auto bits = static_cast<std::uint32_t>(value);
    for (int shift = 24; shift >= 0; shift -= 8)
        out_ += static_cast<char>(bits >> shift);
    return *this;
}

jute_writer& jute_writer::long_number(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    number(static_cast<std::int32_t>(bits >> 32));
    return number(static_cast<std::int32_t>(bits));
}

jute_writer& jute_writer::text(std::string_view bytes) {
    number(static_cast<std::int32_t>(bytes.size()));
    out_ += bytes;
    return *this;
}

jute_writer& jute_writer::flag(bool value) {
    out_ += static_cast<char>(value);
    return *this;
}

std::string_view jute_reader::take(std::size_t bytes) {
    if (bytes > rest_.size())
        throw net::failure{store_errc::protocol, "an answer that ends too early"};
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
}

std::int32_t jute_reader::number() {
    std::uint32_t bits = 0;
    for (const char byte : take(4))
        bits = bits << 8 | static_cast<std::uint8_t>(byte);
    return static_cast<std::int32_t>(bits);
}

std::int64_t jute_reader::long_number() {
    const auto high = static_cast<std::uint32_t>(number());
    const auto low = static_cast<std::uint32_t>(number());
    return static_cast<std::int64_t>(std::uint64_t{high} << 32 | low);
}

bool jute_reader::flag() {
    return take(1).front() != '\0';
}

/// Reads the length of a text or list. Returns zero for minus one, which stands for null.
std::size_t jute_reader::length(std::size_t least_bytes_each) {
    const std::int32_t said = number();
    if (said < -1)
        throw net::failure{store_errc::protocol, "an answer with a negative length"};
    const auto count = static_cast<std::size_t>(said < 0 ? 0 : said);
    if (count > rest_.size() / least_bytes_each)
        throw net::failure{store_errc::protocol,
                           "an answer that claims to have more than came with it"};
    return count;
}

std::string_view jute_reader::text() {
    return take(length(1));
}

std::vector<std::string> jute_reader::texts() {
    const std::size_t count = length(4);
    std::vector<std::string> all;
    all.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
        all.emplace_back(text());
    return all;
}

} // namespace holdfast::zookeeper
