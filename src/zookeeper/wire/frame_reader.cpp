// SPDX-License-Identifier: Apache-2.0
#include "zookeeper/wire/frame_reader.hpp"

#include "net/failure.hpp"
#include "zookeeper/wire/jute.hpp"

#include <string>

namespace holdfast::zookeeper {
namespace {

constexpr std::size_t head_bytes = 4;

} // namespace

void frame_reader::feed(std::string_view bytes) {
    buffer_.erase(0, taken_);
    taken_ = 0;
    buffer_ += bytes;
}

std::optional<std::string_view> frame_reader::next() {
    const std::string_view rest = std::string_view{buffer_}.substr(taken_);
    if (rest.size() < head_bytes)
        return std::nullopt;
    const std::int32_t said = jute_reader{rest}.number();
    const auto size = static_cast<std::size_t>(said);
    if (said < 0 || size > bytes_max_)
        throw net::failure{store_errc::protocol, "an answer of " + std::to_string(said) +
                                                     " bytes, which is not from 0 "
                                                     "to " +
                                                     std::to_string(bytes_max_) +
                                                     "; is it a ZooKeeper server?"};
    if (rest.size() - head_bytes < size)
        return std::nullopt;
    taken_ += head_bytes + size;
    return rest.substr(head_bytes, size);
}

std::size_t begin_frame(std::string& out) {
    const std::size_t begun_at = out.size();
    out.append(head_bytes, '\0');
    return begun_at;
}

void end_frame(std::string& out, std::size_t begun_at) {
    std::string head;
    jute_writer{head}.number(static_cast<std::int32_t>(out.size() - begun_at - head_bytes));
    out.replace(begun_at, head_bytes, head);
}

} // namespace holdfast::zookeeper
