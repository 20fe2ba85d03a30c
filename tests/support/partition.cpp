// SPDX-License-Identifier: Apache-2.0
#include "support/partition.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <chrono>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace holdfast::support {
namespace asio = boost::asio;
namespace {

using asio::ip::tcp;

// Number of bytes at the beginning of a connection in which the connecting server names itself.
constexpr std::size_t first_bytes = 2'048;

/// Port of the proxy, which other servers use instead of a server's own port.
struct door {
    /// Port of the proxy, the name of the server behind it (see `partition`), and that server's
    /// real port.
    std::uint16_t at = 0, whom = 0, port = 0;
    std::optional<std::uint16_t> who{}; ///< only this server connects here; empty: any server
};

struct passage {
    passage(asio::io_context& io, const door& through)
        : near{io}
        , far{io}
        , at{through.at}
        , to{through.whom}
        , from{through.who} {}
    void close() {
        boost::system::error_code ignored;
        near.close(ignored);
        far.close(ignored);
    }
    void stop_writing() {
        boost::system::error_code ignored;
        near.cancel(ignored);
        far.cancel(ignored);
    }

    tcp::socket near, far; ///< sockets to the connecting side and to the server
    const std::uint16_t at, to;
    std::optional<std::uint16_t> from; ///< server that connected; empty: a client, or not known yet
    std::string said;                  ///< first bytes of the connecting side
    bool has_begun = false;            ///< whether bytes were passed on to the server
    bool has_lost = false;             ///< whether bytes were lost
};
using shared_passage = std::shared_ptr<passage>;

tcp::endpoint local(std::uint16_t port) {
    return {asio::ip::address_v4::loopback(), port};
}

} // namespace

class partition::state : public std::enable_shared_from_this<state> {
public:
    explicit state(asio::io_context& io)
        : io_{io} {}

    void open(const door& made) {
        doors_.push_back(std::make_shared<tcp::acceptor>(io_, local(made.at)));
        asio::co_spawn(io_, accept(shared_from_this(), doors_.back(), made), asio::detached);
    }
    void translate(std::uint16_t at, const std::string& from, const std::string& to) {
        words_[at].emplace_back(from, to);
    }
    void stop() {
        has_stopped_ = true;
        for (const auto& each : doors_)
            each->close();
        for (const shared_passage& each : open_)
            each->close();
    }
    void know(std::uint16_t who, const std::string& sign) { signs_[sign] = who; }

    void cut(const std::vector<std::uint16_t>& side, clients outside) {
        ++sides_;
        for (const std::uint16_t each : side)
            side_of_[each] = {sides_, outside};
        for (const shared_passage& each : open_)
            if (is_cut(*each))
                each->stop_writing();
    }
    void heal() {
        side_of_.clear();
        std::erase_if(open_, [](const shared_passage& each) {
            if (each->has_lost)
                each->close();
            return each->has_lost;
        });
    }

private:
    struct place {
        int side = 0; ///< number of the cut that has this server on its side; zero: none
        clients outside = clients::pass;
        bool operator==(const place& other) const { return side == other.side; }
    };
    using shared_acceptor = std::shared_ptr<tcp::acceptor>;

    static asio::awaitable<void> accept(std::shared_ptr<state>, shared_acceptor, door);
    static asio::awaitable<void> connect(std::shared_ptr<state>, shared_passage, door);
    static asio::awaitable<void> carry(std::shared_ptr<state>, shared_passage, bool inwards);

    void pass_on(const shared_passage&);
    void listen(passage&, std::string_view bytes);
    void translate(passage&, char* bytes, std::size_t count) const;
    bool is_cut(const passage&) const;
    place place_of(std::uint16_t server) const {
        const auto found = side_of_.find(server);
        return found == side_of_.end() ? place{} : found->second;
    }

    asio::io_context& io_;
    std::vector<shared_acceptor> doors_;
    std::set<shared_passage> open_;
    std::map<std::string, std::uint16_t, std::less<>> signs_;
    std::map<std::uint16_t, std::vector<std::pair<std::string, std::string>>> words_;
    std::map<std::uint16_t, place> side_of_;
    int sides_ = 0;
    bool has_stopped_ = false;
};

bool partition::state::is_cut(const passage& each) const {
    const place there = place_of(each.to);
    return each.from ? place_of(*each.from) != there
                     : there.side != 0 && there.outside == clients::cut_off;
}

/// Finds out which server has connected, from the first bytes of the connection. In a packet of the
/// cluster bus, only the name at the fixed position is the sender's.
void partition::state::listen(passage& at, std::string_view bytes) {
    constexpr std::size_t name_at = 40, name_size = 40;
    if (at.from || at.said.size() >= first_bytes)
        return;
    at.said.append(bytes.substr(0, first_bytes - at.said.size()));
    if (at.said.starts_with("RCmb")) {
        if (at.said.size() < name_at + name_size)
            return;
        if (const auto who = signs_.find(at.said.substr(name_at, name_size)); who != signs_.end())
            at.from = who->second;
        return;
    }
    for (const auto& [sign, who] : signs_)
        if (at.said.find(sign) != at.said.npos)
            at.from = who;
}

void partition::state::translate(passage& at, char* bytes, std::size_t count) const {
    const auto words = words_.find(at.at);
    if (std::exchange(at.has_begun, true) || words == words_.end())
        return;
    for (const auto& [from, to] : words->second)
        if (const std::size_t where = std::string_view{bytes, count}.find(from);
            where != std::string_view::npos)
            to.copy(bytes + where, to.size());
}

asio::awaitable<void> partition::state::accept(std::shared_ptr<state> self, shared_acceptor at,
                                               door through) {
    for (;;) {
        const auto made = std::make_shared<passage>(self->io_, through);
        co_await at->async_accept(made->near, asio::use_awaitable);
        asio::co_spawn(self->io_, connect(self, made, through), asio::detached);
    }
}

/// Connects to the server behind the port. If the port is for one connecting server only, retries
/// until the server behind it listens, so that the connecting server is not refused.
asio::awaitable<void> partition::state::connect(std::shared_ptr<state> self, shared_passage made,
                                                door through) {
    constexpr int attempts_for_one = 500;
    constexpr std::chrono::milliseconds pause{10};
    asio::steady_timer timer{self->io_};
    for (int left = through.who ? attempts_for_one : 1;; --left) {
        boost::system::error_code nobody_there;
        co_await made->far.async_connect(local(through.port),
                                         asio::redirect_error(asio::use_awaitable, nobody_there));
        if (!nobody_there)
            break;
        if (left == 1 || self->has_stopped_)
            co_return;
        made->far.close();
        timer.expires_after(pause);
        co_await timer.async_wait(asio::use_awaitable);
    }
    if (self->has_stopped_)
        co_return;
    made->near.set_option(tcp::no_delay{true});
    made->far.set_option(tcp::no_delay{true});
    self->pass_on(made);
}

void partition::state::pass_on(const shared_passage& made) {
    open_.insert(made);
    for (const bool inwards : {true, false})
        asio::co_spawn(io_, carry(shared_from_this(), made, inwards),
                       [self = shared_from_this(), made](const std::exception_ptr&) {
                           // While the network is cut, the other end must not notice the end of the
                           // connection.
                           made->has_lost = made->has_lost || self->is_cut(*made);
                           if (made->has_lost)
                               return;
                           made->close();
                           self->open_.erase(made);
                       });
}

/// Passes bytes on in one direction. Ends with an exception when the socket that it reads from is
/// closed.
asio::awaitable<void> partition::state::carry(std::shared_ptr<state> self, shared_passage at,
                                              bool inwards) {
    tcp::socket& from = inwards ? at->near : at->far;
    tcp::socket& to = inwards ? at->far : at->near;
    std::array<char, 64 * 1024> bytes;
    for (;;) {
        boost::system::error_code trouble;
        const std::size_t count = co_await from.async_read_some(
            asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, trouble));
        if (trouble == asio::error::operation_aborted && from.is_open())
            continue; // stop_writing() has cancelled only the write
        if (trouble)
            throw boost::system::system_error{trouble};
        if (inwards) {
            self->listen(*at, {bytes.data(), count});
            self->translate(*at, bytes.data(), count);
        }
        at->has_lost = at->has_lost || self->is_cut(*at);
        if (at->has_lost)
            continue;
        co_await asio::async_write(to, asio::buffer(bytes, count),
                                   asio::redirect_error(asio::use_awaitable, trouble));
        at->has_lost = at->has_lost || (trouble && self->is_cut(*at));
        if (trouble && !at->has_lost)
            throw boost::system::system_error{trouble};
    }
}

partition::partition()
    : state_{std::make_shared<state>(loop_.io())} {}

partition::~partition() {
    ask([](state& s) { s.stop(); });
    loop_.finish();
}

template <typename Work>
void partition::ask(Work work) const {
    std::promise<void> done;
    asio::post(loop_.io(), [&] {
        try {
            work(*state_);
            done.set_value();
        } catch (...) {
            done.set_exception(std::current_exception());
        }
    });
    done.get_future().get();
}

std::uint16_t partition::open(std::optional<std::uint16_t> who, std::uint16_t whom,
                              std::uint16_t port) {
    const std::uint16_t at = ports_.emplace_back().number();
    ask([&](state& s) { s.open({.at = at, .whom = whom, .port = port, .who = who}); });
    return at;
}
std::uint16_t partition::way_to(std::uint16_t whom, std::uint16_t port) {
    return open({}, whom, port);
}
std::uint16_t partition::way(std::uint16_t who, std::uint16_t whom, std::uint16_t port) {
    return open(who, whom, port);
}
void partition::translate(std::uint16_t way, const std::string& from, const std::string& to) {
    ask([&](state& s) { s.translate(way, from, to); });
}
void partition::know(std::uint16_t who, const std::string& sign) {
    ask([&](state& s) { s.know(who, sign); });
}
void partition::cut(const std::vector<std::uint16_t>& side, clients outside) {
    ask([&](state& s) { s.cut(side, outside); });
}
void partition::heal() {
    ask([](state& s) { s.heal(); });
}

std::string sign_of_replica(std::uint16_t port) {
    const std::string digits = std::to_string(port);
    return "listening-port\r\n$" + std::to_string(digits.size()) + "\r\n" + digits + "\r\n";
}
std::string sign_of_sentinel(const std::string& its_id) {
    return "sentinel-" + its_id.substr(0, 8) + "-";
}

} // namespace holdfast::support
