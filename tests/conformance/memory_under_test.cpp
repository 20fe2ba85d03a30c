// SPDX-License-Identifier: Apache-2.0
#include "conformance/store_under_test.hpp"

#include <atomic>

namespace holdfast::conformance {
namespace {

class memory_under_test final : public store_under_test {
public:
    void reach(options& how) override {
        how.store = server_.connect([this](const memory::request&) {
            memory::fate what;
            what.refused = silent_;
            return what;
        });
    }
    void pass(duration by) override { server_.step_clock(by); }
    void restart_empty() override { server_.restart_empty(); }
    void stop_answering() override { silent_ = true; }
    void evict(const std::string& name) override { server_.evict(name); }
    void stranger_takes(const std::string& name, duration lease) override {
        server_.occupy(name, lease);
    }
    void stranger_releases(const std::string& name) override { server_.vacate(name); }
    std::size_t held() override { return server_.held_count(); }
    std::size_t listeners() override { return server_.listener_count(); }
    bool put_something_else(const std::string&) override { return false; }

private:
    memory::server server_;
    std::atomic<bool> silent_ = false;
};

} // namespace

std::unique_ptr<store_under_test> make_memory() {
    return std::make_unique<memory_under_test>();
}

} // namespace holdfast::conformance
