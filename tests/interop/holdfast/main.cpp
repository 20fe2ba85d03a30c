// SPDX-License-Identifier: Apache-2.0
// Our side of the interoperability tests: does with holdfast what its standard input says, one JSON
// object a line, each answered by one with the same id when it is done (tests/interop/README.md).
#include "interop/holdfast/calls.hpp"
#include "interop/holdfast/worker.hpp"

#include <boost/asio/cancellation_signal.hpp>

#include <chrono>
#include <iostream>

#include <unistd.h>

namespace holdfast::interop {
namespace {

std::string text(const json::object& command, const char* key) {
    return json::value_to<std::string>(command.at(key));
}

/// The tests tell these apart, by words as the JVM's exceptions have.
std::string kind_of(const error_code& failure) {
    if (failure == errc::lease_lost || failure == errc::not_owner)
        return "not_held";
    if (failure == errc::already_held)
        return "already_held";
    return failure == asio::error::operation_aborted ? "cancelled" : "failed";
}

class peer {
public:
    void obey(const json::object& command) {
        const std::string verb = text(command, "do");
        if (verb == "call")
            return call_by(command);
        if (verb == "time")
            return actor_of(command).run([this, command](const std::stop_token&) {
                answer(command, [&] { return round_trips(command); });
            });
        if (verb == "close" || verb == "stop") // which wait, and the next command need not
            return aside_.run([this, command, verb](const std::stop_token&) {
                answer(command, [&] { return verb == "close" ? close(command) : stop(command); });
            });
        if (verb == "cancel") // by the actor that made the call, so that the call has been made
            return actor_of(command).run([this, command](const std::stop_token&) {
                answer(command, [&] { return cancel(command); });
            });
        answer(command, [&]() -> json::value {
            if (verb == "connect")
                return connect(command);
            if (verb == "combine")
                return combine(command);
            if (verb == "thread")
                return nullptr; // what we write as an owner's number is no thread's
            if (verb == "interrupt")
                return actor_of(command).interrupt(), true;
            if (verb == "asleep")
                return true; // no matter what it does, it can be interrupted
            if (verb == "work")
                return start_work(command);
            throw std::invalid_argument{verb};
        });
    }

private:
    json::value connect(const json::object& command) {
        auto made = std::make_unique<home>(settings_of(command));
        const std::string id = made->get().id();
        const std::scoped_lock guard{mutex_};
        homes_[text(command, "client")] = std::move(made);
        return json::value(id);
    }
    json::value combine(const json::object& command) {
        std::vector<part> parts;
        for (const json::value& each : command.at("over").as_array()) {
            const json::object& one = each.as_object();
            parts.push_back({home_of(one), text(one, "object"), text(one, "name")});
        }
        const std::string getter = text(command, "object");
        home_of(command).keep(getter, text(command, "name"), combined(getter, parts));
        return nullptr;
    }
    json::value close(const json::object& command) {
        std::unique_ptr<home> last;
        {
            const std::scoped_lock guard{mutex_};
            last = std::move(homes_.at(text(command, "client")));
            homes_.erase(text(command, "client"));
        }
        return nullptr;
    }
    home& home_of(const json::object& command) {
        const std::scoped_lock guard{mutex_};
        return *homes_.at(text(command, "client"));
    }
    actor& actor_of(const json::object& command) { return actors_[text(command, "actor")]; }

    call call_in(const json::object& command, std::stop_token interrupted) {
        call made{home_of(command),
                  text(command, "actor"),
                  text(command, "object"),
                  text(command, "name"),
                  text(command, "method"),
                  {},
                  {},
                  std::move(interrupted),
                  {}};
        if (const json::value* given = command.if_contains("args"))
            for (const json::value& each : given->as_array())
                take_argument(made, each);
        return made;
    }
    static void take_argument(call& made, const json::value& given) {
        if (given.is_int64())
            made.lengths.emplace_back(given.as_int64());
        else if (given.is_string())
            made.words.push_back(json::value_to<std::string>(given));
        else if (given.is_array())
            for (const json::value& each : given.as_array())
                take_argument(made, each);
        else if (given.is_object()) // an object of Java's
            take_argument(made, given.at("ms"));
    }

    void call_by(const json::object& command) {
        actor_of(command).run([this, command](std::stop_token interrupted) {
            call made = call_in(command, std::move(interrupted));
            if (is_asynchronous(made.method))
                return begin(command, std::move(made));
            answer(command, [&] { return interop::answer(made); });
        });
    }

    /// On the loop, where it can be cancelled too.
    void begin(const json::object& command, call made) {
        const std::int64_t id = command.at("id").as_int64();
        auto signal = std::make_shared<asio::cancellation_signal>();
        made.cancelled = signal->slot();
        {
            const std::scoped_lock guard{mutex_};
            cancellable_[id] = {signal, &made.at.loop()};
        }
        asio::post(made.at.loop(), [this, command, id, made] {
            answer_later(made, [this, command, id](error_code failure, json::value result) {
                {
                    const std::scoped_lock guard{mutex_};
                    cancellable_.erase(id);
                }
                answer(command, [&] {
                    if (failure)
                        throw boost::system::system_error{failure};
                    return result;
                });
            });
        });
    }

    json::value cancel(const json::object& command) {
        const std::scoped_lock guard{mutex_};
        const auto found = cancellable_.find(command.at("target").as_int64());
        if (found == cancellable_.end())
            return false;
        asio::post(*found->second.loop, [signal = found->second.signal] {
            signal->emit(asio::cancellation_type::terminal);
        });
        return true;
    }

    /// Returns the duration of each of a number of calls, in microseconds, without other code
    /// between the calls.
    json::value round_trips(const json::object& command) {
        const call made = call_in(command, {});
        json::array took;
        for (std::int64_t i = command.at("count").as_int64(); i > 0; --i) {
            const auto began = std::chrono::steady_clock::now();
            (void)interop::answer(made);
            took.emplace_back(std::chrono::duration_cast<std::chrono::microseconds>(
                                  std::chrono::steady_clock::now() - began)
                                  .count());
        }
        return took;
    }

    json::value start_work(const json::object& command) {
        auto made =
            std::make_unique<crew>(home_of(command), work_of(command.at("work").as_object()));
        const std::scoped_lock guard{mutex_};
        crews_[text(command, "crew")] = std::move(made);
        return nullptr;
    }
    json::value stop(const json::object& command) {
        std::unique_ptr<crew> last;
        {
            const std::scoped_lock guard{mutex_};
            last = std::move(crews_.at(text(command, "crew")));
            crews_.erase(text(command, "crew"));
        }
        return last->stop();
    }

    template <typename Deed>
    void answer(const json::object& command, Deed deed) {
        json::object said{{"id", command.at("id")}};
        try {
            said["result"] = deed();
        } catch (const boost::system::system_error& failure) {
            said["error"] = kind_of(failure.code()) + ": " + failure.what();
        } catch (const std::exception& failure) {
            said["error"] = failure.what();
        }
        const std::scoped_lock guard{output_};
        std::cout << json::serialize(said) << std::endl;
    }

    struct cancellable {
        std::shared_ptr<asio::cancellation_signal> signal;
        asio::io_context* loop;
    };

    std::mutex output_;
    std::mutex mutex_; // guards the homes, the crews and what is cancellable
    std::map<std::string, std::unique_ptr<home>> homes_;
    std::map<std::int64_t, cancellable> cancellable_;
    std::map<std::string, std::unique_ptr<crew>> crews_;
    std::map<std::string, actor> actors_;
    actor aside_;
};

} // namespace
} // namespace holdfast::interop

int main() {
    static holdfast::interop::peer self;
    for (std::string line; std::getline(std::cin, line);)
        self.obey(boost::json::parse(line).as_object());
    ::_exit(0); // whoever commanded is gone
}
