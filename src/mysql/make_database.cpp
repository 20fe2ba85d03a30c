// SPDX-License-Identifier: Apache-2.0
#include "mysql/make_database.hpp"

#include "mysql/library.hpp"
#include "mysql/link_maker.hpp"
#include "mysql/pool.hpp"

#include <utility>

namespace holdfast::mysql {
namespace {

class pooled_database final : public database {
public:
    pooled_database(options how, store_context home)
        : pool_{std::make_shared<pool>(std::move(how), std::move(home), make_links)} {}
    ~pooled_database() override { pool_->close(); }
    pooled_database(const pooled_database&) = delete;

    asio::awaitable<answers> run(statements& what, call_wishes wishes) override {
        return pool_->run(what, std::move(wishes));
    }
    asio::awaitable<std::shared_ptr<carrier>> connection_to_wait_on(time_point limit) override {
        return pool_->connection_to_wait_on(limit);
    }
    std::optional<server_facts> facts() const override { return pool_->facts(); }
    bool has_bells() const override { return pool_->has_bells(); }
    void no_bells_here() noexcept override { pool_->no_bells_here(); }
    duration command_timeout() const noexcept override { return pool_->how().command_timeout; }
    std::string address() const override { return pool_->address(); }
    void close() noexcept override { pool_->close(); }

private:
    static std::unique_ptr<line_maker> make_links(const store_context& home, const options& how) {
        return std::make_unique<link_maker>(home, how);
    }

    const std::shared_ptr<pool> pool_;
};

} // namespace

std::unique_ptr<database> make_database(options how, store_context home) {
    prepare_library();
    return std::make_unique<pooled_database>(std::move(how), std::move(home));
}

} // namespace holdfast::mysql
