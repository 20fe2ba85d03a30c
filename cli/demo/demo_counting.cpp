// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/demo_counting.hpp"

#include "cli/demo/demo_board.hpp"
#include "cli/descriptor.hpp"
#include "cli/run/child_process.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace cli {
namespace {

/// Creates a file and removes its name at once. So the demo leaves no file behind, even if it is
/// killed.
descriptor make_number_file() {
    std::string path = std::filesystem::temp_directory_path() / "holdfast-demo-XXXXXX";
    descriptor file{::mkostemp(path.data(), O_CLOEXEC)};
    ::unlink(path.c_str());
    return file;
}

long read_number(const descriptor& file) {
    char text[16] = {};
    if (::pread(file.get(), text, sizeof text - 1, 0) < 0)
        throw std::system_error{errno, std::system_category(), "the demo's file"};
    return std::strtol(text, nullptr, 10);
}

struct worker {
    worker(asio::io_context& loop, const inheritance& inherited,
           const std::vector<std::string>& command, const descriptor& file, pipe_ends reports)
        : process{loop,
                  inherited,
                  command,
                  {.standard = {.in = file.get(), .out = reports.write.get()}}}
        , progress{loop, reports.read.release()} {}

    child_process process;
    asio::posix::stream_descriptor progress;
};

asio::awaitable<bool> follow(worker& one, std::size_t index, const descriptor& file,
                             demo_board& board) {
    std::array<char, 256> reports;
    for (;;) {
        holdfast::error_code end;
        const std::size_t adds = co_await one.progress.async_read_some(
            asio::buffer(reports), asio::redirect_error(asio::use_awaitable, end));
        if (end)
            break;
        board.advance(index, static_cast<int>(adds), read_number(file));
    }
    co_await one.process.ended();
    co_return one.process.status() == 0;
}

} // namespace

counted count_with_processes(demo_screen& screen, const counting& how,
                             const inheritance& inherited) {
    const descriptor file = make_number_file();
    std::vector<std::string> command{"/proc/self/exe", "demo-worker",
                                     std::to_string(how.adds_each)};
    if (!how.lock.empty())
        command.push_back(how.lock);

    asio::io_context loop{1};
    demo_board board{screen, static_cast<std::size_t>(how.workers), how.adds_each,
                     !how.lock.empty()};
    counted result;
    std::vector<std::unique_ptr<worker>> workers;
    for (int i = 0; i < how.workers; ++i) {
        workers.push_back(std::make_unique<worker>(loop, inherited, command, file, make_pipe()));
        asio::co_spawn(loop, follow(*workers.back(), workers.size() - 1, file, board),
                       [&result](std::exception_ptr thrown, bool finished) {
                           if (thrown)
                               std::rethrow_exception(thrown);
                           result.all_finished = result.all_finished && finished;
                       });
    }
    loop.run();
    result.number = read_number(file);
    board.finish(result.number);
    return result;
}

} // namespace cli
