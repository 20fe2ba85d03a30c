// SPDX-License-Identifier: Apache-2.0
#include "support/redis_connection.hpp"

#include "support/eventually.hpp"

#include <hiredis/hiredis.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <utility>

#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>

namespace holdfast::support {
namespace {

constexpr timeval answer_limit{10, 0};

redis::reply::kind kind_of(const redisReply& raw) {
    switch (raw.type) {
    case REDIS_REPLY_INTEGER:
        return redis::reply::kind::integer;
    case REDIS_REPLY_STRING:
        return redis::reply::kind::text;
    case REDIS_REPLY_STATUS:
        return redis::reply::kind::status;
    case REDIS_REPLY_ERROR:
        return redis::reply::kind::error;
    case REDIS_REPLY_ARRAY:
        return redis::reply::kind::array;
    default:
        return redis::reply::kind::nil;
    }
}

redis::reply copy_of(const redisReply& raw) {
    redis::reply copy;
    copy.type = kind_of(raw);
    copy.integer = raw.integer;
    if (raw.str != nullptr)
        copy.text.assign(raw.str, raw.len);
    for (std::size_t i = 0; i < raw.elements; ++i)
        copy.items.push_back(copy_of(*raw.element[i]));
    return copy;
}

/// Guard that blocks SIGPIPE on this thread, because hiredis may write to a closed connection, and
/// the signal would end the test program. (If the process ignored the signal, its child processes
/// would ignore it, too.)
class no_broken_pipe {
public:
    no_broken_pipe() {
        sigemptyset(&pipe_);
        sigaddset(&pipe_, SIGPIPE);
        pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    }
    ~no_broken_pipe() {
        const timespec at_once{};
        while (sigtimedwait(&pipe_, nullptr, &at_once) > 0) {
        }
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    no_broken_pipe(const no_broken_pipe&) = delete;

private:
    sigset_t pipe_{}, before_{};
};

} // namespace

void redis_connection::closer::operator()(redisContext* context) const noexcept {
    redisFree(context);
}

redis_connection::redis_connection(const std::string& socket_path, const std::string& password)
    : context_{redisConnectUnix(socket_path.c_str())} {
    if (!context_ || context_->err != 0)
        throw std::runtime_error{"cannot connect to " + socket_path};
    redisSetTimeout(context_.get(), answer_limit);
    if (!password.empty())
        command({"AUTH", password}); // a refusal appears in the reply to the next command
}

redis::reply redis_connection::command(const std::vector<std::string>& words) {
    const no_broken_pipe guard;
    append(words);
    return receive();
}

void redis_connection::begin(const std::vector<std::string>& words) {
    const no_broken_pipe guard;
    append(words);
    int sent = 0;
    while (sent == 0 && redisBufferWrite(context_.get(), &sent) == REDIS_OK) {
    }
    const auto was_read = [this] {
        int unread = 0; // bytes that the server has not read from the unix socket yet
        return ::ioctl(context_->fd, SIOCOUTQ, &unread) == 0 && unread == 0;
    };
    if (sent == 0 || !eventually(was_read))
        throw std::runtime_error{"the server did not begin with " + words.front()};
}

void redis_connection::append(const std::vector<std::string>& words) {
    std::vector<const char*> starts;
    std::vector<std::size_t> sizes;
    for (const std::string& word : words) {
        starts.push_back(word.data());
        sizes.push_back(word.size());
    }
    redisAppendCommandArgv(context_.get(), static_cast<int>(words.size()), starts.data(),
                           sizes.data());
}

redis::reply redis_connection::receive() {
    void* raw = nullptr;
    if (redisGetReply(context_.get(), &raw) != REDIS_OK)
        fail();
    const std::unique_ptr<void, decltype(&freeReplyObject)> owned{raw, &freeReplyObject};
    return copy_of(*static_cast<const redisReply*>(raw));
}

void redis_connection::fail() const {
    const int error = errno;
    const std::string what = std::string{"no answer from the server: "} + context_->errstr;
    const bool is_broken = context_->err == REDIS_ERR_IO && (error == EPIPE || error == ECONNRESET);
    if (is_broken || context_->err == REDIS_ERR_EOF)
        throw connection_closed{what};
    throw std::runtime_error{what};
}

std::optional<redis::reply> redis_connection::next_message(duration timeout) {
    void* read_already = nullptr;
    if (redisGetReplyFromReader(context_.get(), &read_already) != REDIS_OK)
        throw std::runtime_error{context_->errstr};
    if (read_already != nullptr) {
        const std::unique_ptr<void, decltype(&freeReplyObject)> owned{read_already,
                                                                      &freeReplyObject};
        return copy_of(*static_cast<const redisReply*>(read_already));
    }
    pollfd waiting{context_->fd, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(timeout.count())) <= 0)
        return std::nullopt;
    return receive();
}

std::vector<message> listener::take() {
    ask({"PING"}, "pong");
    return std::exchange(heard_, {});
}

void listener::ask(const std::vector<std::string>& words, const std::string& answered_with) {
    redis::reply next = connection_.command(words);
    while (is_message(next)) {
        std::optional<redis::reply> more = connection_.next_message(duration{10'000});
        if (!more)
            throw std::runtime_error{"no answer to " + words.front()};
        next = std::move(*more);
    }
    const std::string& said = next.items.empty() ? next.text : next.items.front().text;
    // Before the first subscription, the reply to PING is PONG.
    if (said != answered_with && said != "PONG")
        throw std::runtime_error{"not an answer to " + words.front() + ": " + next.text};
}

bool listener::is_message(const redis::reply& push) {
    if (push.items.empty())
        return false;
    const std::string& what = push.items.front().text;
    if (what == "message")
        heard_.push_back({push.items[1].text, push.items[2].text});
    if (what == "pmessage")
        heard_.push_back({push.items[2].text, push.items[3].text});
    return what == "message" || what == "pmessage";
}

} // namespace holdfast::support
