// SPDX-License-Identifier: Apache-2.0
// Whatever a peer sends, in whatever pieces: the same answers come out, or the same refusal.
#include "input.hpp"
#include "net/failure.hpp"
#include "redis/client/resp.hpp"

#include <string>
#include <vector>

namespace holdfast::redis {
namespace {

constexpr std::size_t bytes_max = 64 * 1024;

std::string written(const reply& said) {
    std::string all = std::to_string(static_cast<int>(said.type)) + ' ' +
                      std::to_string(said.integer) + ' ' + std::to_string(said.text.size()) + ' ' +
                      said.text + '[';
    for (const reply& item : said.items)
        all += written(item);
    return all + ']';
}

struct reading {
    std::vector<std::string> answers{};
    bool refused = false;
    bool operator==(const reading&) const = default;
};

/// Pieces of the sizes that `sizes` says, or all at once.
reading read(std::string_view bytes, fuzz::input* sizes) {
    reading got;
    answer_reader reader{bytes_max};
    try {
        while (!bytes.empty()) {
            const std::size_t some = sizes ? 1 + sizes->choice(7) : bytes.size();
            reader.feed(bytes.substr(0, some));
            bytes.remove_prefix(std::min(some, bytes.size()));
            while (const reply* const one = reader.next())
                got.answers.push_back(written(*one));
        }
    } catch (const boost::system::system_error& e) {
        fuzz::require(e.code() == store_errc::protocol, "refused with another code");
        got.refused = true;
    }
    return got;
}

} // namespace
} // namespace holdfast::redis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace holdfast;
    fuzz::input all{data, size};
    fuzz::input sizes{data, all.piece(size / 4).size()};
    const redis::reading whole = redis::read(all.rest(), nullptr);
    const redis::reading in_pieces = redis::read(all.rest(), &sizes);
    fuzz::require(whole == in_pieces, "it matters how the bytes are cut");
    return 0;
}
