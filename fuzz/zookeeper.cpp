// SPDX-License-Identifier: Apache-2.0
// Whatever a ZooKeeper server sends, in whatever pieces: the same frames come out, or the same
// refusal; no answer is given to who did not ask for it; and nothing is read that was not there.
#include "input.hpp"
#include "net/failure.hpp"
#include "zookeeper/protocol.hpp"
#include "zookeeper/requests.hpp"

#include <string>
#include <vector>

namespace holdfast::zookeeper {
namespace {

constexpr std::size_t bytes_max = 64 * 1024;

struct cut_up {
    std::vector<std::string> frames{};
    bool refused = false;
    bool operator==(const cut_up&) const = default;
};

/// Whether it made sense. No other exception is allowed.
template <typename Read>
bool makes_sense(Read read) {
    try {
        read();
        return true;
    } catch (const net::failure& why) {
        fuzz::require(why.code() == store_errc::protocol, "refused with another code");
        return false;
    }
}

/// Pieces of the sizes that `sizes` says, or all at once.
cut_up cut(std::string_view bytes, fuzz::input* sizes) {
    cut_up got;
    frame_reader reader{bytes_max};
    got.refused = !makes_sense([&] {
        while (!bytes.empty()) {
            const std::size_t some = sizes ? 1 + sizes->choice(7) : bytes.size();
            reader.feed(bytes.substr(0, some));
            bytes.remove_prefix(std::min(some, bytes.size()));
            while (const auto frame = reader.next())
                got.frames.emplace_back(*frame);
        }
    });
    return got;
}

/// As any answer that there is.
void read_as_each(const std::string& body) {
    makes_sense([&] { read_welcome(body); });
    makes_sense([&] { read_created(body); });
    makes_sense(
        [&] { fuzz::require(read_data(body).data.size() <= body.size(), "data from nowhere"); });
    makes_sense([&] {
        std::size_t bytes = 0;
        for (const std::string& name : read_children(body))
            bytes += 4 + name.size();
        fuzz::require(bytes <= body.size(), "names from nowhere");
    });
    for (const std::size_t count : {0, 1, 3})
        makes_sense([&] {
            fuzz::require(read_checks(body, count).size() == count, "as many as were asked");
        });
}

void hear(const std::vector<std::string>& frames) {
    requests all;
    std::vector<shared_request> asked;
    std::string out;
    for (int i = 0; i < 4; ++i) {
        asked.push_back(std::make_shared<request>(i % 2 ? sync_message("/") : remove_message("/")));
        all.ask(asked.back(), {});
        all.write_next(out, {});
    }
    all.write_ping(out, {});
    all.give_up(*asked[1]);
    std::int32_t answered = 0;
    for (const std::string& frame : frames) {
        const bool well = makes_sense([&] {
            const requests::heard said = all.hear(frame);
            if (said.answered)
                fuzz::require(said.answered->number > answered, "answered out of order");
            answered = said.answered ? said.answered->number : answered;
            if (said.answered)
                read_as_each(said.answered->body);
        });
        if (!well)
            return; // the connection is cut
    }
}

} // namespace
} // namespace holdfast::zookeeper

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace holdfast;
    fuzz::input all{data, size};
    fuzz::input sizes{data, all.piece(size / 4).size()};
    const zookeeper::cut_up whole = zookeeper::cut(all.rest(), nullptr);
    const zookeeper::cut_up in_pieces = zookeeper::cut(all.rest(), &sizes);
    fuzz::require(whole == in_pieces, "it matters how the bytes are cut");
    for (const std::string& frame : whole.frames)
        zookeeper::read_as_each(frame);
    zookeeper::hear(whole.frames);
    return 0;
}
