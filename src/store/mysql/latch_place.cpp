// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/latch_place.hpp"

#include "store/mysql/counter_texts.hpp"
#include "store/mysql/other_kinds.hpp"
#include "store/mysql/packed_answer.hpp"

namespace holdfast::mysql {
namespace {

ask asked_by(const counter_ask& want) {
    ask same{want.name, want.request, lock_kind::plain};
    same.give_up_at = want.give_up_at;
    return same;
}

} // namespace

latch_place::latch_place(site& at, poller& polls, const counter_ask& want, alarm& wake)
    : at_{at}
    , poller_{polls}
    , want_{asked_by(want)}
    , wake_{wake}
    , attempts_{at.context, want_, at.server.command_timeout()} {}

asio::awaitable<answer> latch_place::look() {
    if (attempts_.found_busy() && !poll_)
        poll_ = poller_.enrol(latch_is_open(at_.named, want_.name), wake_);
    remote::attempts::sender send = [this](time_point) { return request(); };
    co_return co_await attempts_.look(std::move(send), at_.context.poll_bound, duration::zero());
}

asio::awaitable<attempt> latch_place::request() {
    const auto make = [this](const runtime::remote_clock&, const server_facts&) {
        return std::vector<std::string>{latch_look(at_.named, want_.name),
                                        kinds_there(at_.named, want_.name)};
    };
    composing text{make};
    const answers said = co_await at_.server.run(text);
    if (const char* const other = other_kind_in(answer_at(said, 1), latch_reason))
        throw_wrong_type(other, words_for(counter_kind::latch));
    attempt got;
    got.said = answer_at(said, 0).rows.empty() ? verdict::granted : verdict::busy;
    got.sent_at = said.sent_at;
    got.received_at = said.received_at;
    co_return got;
}

asio::awaitable<void> latch_place::leave() {
    poll_.reset();
    co_return;
}

} // namespace holdfast::mysql
