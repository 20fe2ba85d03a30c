// SPDX-License-Identifier: Apache-2.0
// Whatever the server tells the subscriber, while whoever listens comes and goes: no crash, nothing
// said is believed about a channel that nobody asked for, and nothing is left behind.
#include "input.hpp"
#include "redis/client/resp.hpp"
#include "redis/client/subscriber.hpp"

#include <array>

namespace holdfast::redis {
namespace {

class bell final : public alarm {
public:
    asio::awaitable<void> wait_until(time_point) override { co_return; }
    void ring() noexcept override {}
};

class story {
public:
    explicit story(fuzz::input& script)
        : script_{script} {}
    ~story() {
        all_.disconnected();
        for (listener& one : listeners_)
            if (one.where)
                all_.remove(one, now_);
        all_.advance(time_point::max());
        fuzz::require(all_.size() == 0, "a channel was left behind");
    }
    story(const story&) = delete;

    void play() {
        all_.connected();
        while (!script_.empty())
            step();
    }

private:
    void step() {
        now_ += duration{1};
        switch (script_.choice(6)) {
        case 0:
            return listen(listeners_.at(script_.choice(listeners_.size())));
        case 1:
            return tell();
        case 2:
            return reconnect();
        case 3:
            return all_.advance(now_);
        case 4:
            return all_.ping();
        default:
            return hear(script_.piece(1 + script_.choice(64)));
        }
    }

    void listen(listener& one) {
        if (one.where)
            all_.remove(one, now_ + duration{script_.choice(4)});
        else
            all_.add(one, std::string(1, static_cast<char>('a' + script_.choice(3))));
    }

    void tell() {
        std::string out;
        all_.compose(out, now_);
    }

    void reconnect() {
        all_.disconnected();
        reader_.emplace(bytes_max);
        all_.connected();
    }

    /// What makes no sense ends the connection, as in the subscriber.
    void hear(std::string_view bytes) {
        try {
            reader_->feed(bytes);
            while (const reply* const said = reader_->next())
                (void)all_.hear(*said, now_ + duration{5});
        } catch (const boost::system::system_error&) {
            reconnect();
        }
    }

    static constexpr std::size_t bytes_max = 64 * 1024;

    fuzz::input& script_;
    time_point now_{duration{1}};
    bell wake_;
    channels all_;
    std::array<listener, 3> listeners_{listener{wake_}, listener{wake_}, listener{wake_}};
    std::optional<answer_reader> reader_{bytes_max};
};

} // namespace
} // namespace holdfast::redis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    holdfast::fuzz::input script{data, size};
    holdfast::redis::story{script}.play();
    return 0;
}
