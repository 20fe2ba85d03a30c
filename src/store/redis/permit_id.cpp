// SPDX-License-Identifier: Apache-2.0
#include "store/redis/permit_id.hpp"

#include <charconv>
#include <cstddef>

namespace holdfast::redis {
namespace {

/// Number of hexadecimal digits in an id that identify the client. They are the first bytes of the
/// client's UUID. The next six bytes of the id are the permit's number.
constexpr std::size_t digits_of_client = 20;

} // namespace

std::string stored_permit(std::string_view id, redisson_form form) {
    if (form != redisson_form::v3_17)
        return std::string{id};
    std::string bytes;
    bytes.reserve(id.size() / 2);
    for (std::size_t i = 0; i + 1 < id.size(); i += 2) {
        unsigned value = 0;
        std::from_chars(id.data() + i, id.data() + i + 2, value, 16);
        bytes.push_back(static_cast<char>(value));
    }
    return bytes;
}

std::string permit_prefix(const owner_id& owner, redisson_form form) {
    const std::string id = permit_id(owner);
    return stored_permit(std::string_view{id}.substr(0, digits_of_client), form);
}

} // namespace holdfast::redis
