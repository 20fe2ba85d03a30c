// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/examination.hpp"
#include "store/mysql/guarded_database.hpp"
#include "store/mysql/inspector.hpp"
#include "store/mysql/mysql_counters.hpp"
#include "store/mysql/mysql_locks.hpp"
#include "store/mysql/poller.hpp"
#include "store/mysql/sweep.hpp"
#include "store/mysql/who.hpp"
#include "store/remote/diagnostics.hpp"

#include <holdfast/mysql/options.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace holdfast::mysql {

/// Store in one schema. It works on any database: the pool in production, a model in tests.
class mysql_store final : public store {
public:
    mysql_store(std::unique_ptr<database> server, const options& how, store_context context)
        : context_{std::move(context)}
        , server_{std::make_shared<guarded_database>(std::move(server), context_,
                                                     tables{how.table})}
        , site_{*server_,   context_,  tables{how.table},
                how.schema, how.table, context_.announce ? written(remote::card_of(context_)) : ""}
        , poller_{site_}
        , locks_{site_, poller_}
        , counters_{site_, poller_}
        , inspector_{site_, poller_}
        , sweeper_{how.sweep ? std::make_shared<sweep>(site_) : nullptr} {
        if (sweeper_)
            sweeper_->start();
    }
    mysql_store(const mysql_store&) = delete;
    ~mysql_store() override { close(); }

    lock_store& locks() noexcept override { return locks_; }
    counter_store* counters() noexcept override { return &counters_; }
    inspector& operators_view() noexcept override { return inspector_; }
    server_identity identity(const lock_name&) const override { return server_->identity(); }
    asio::awaitable<std::vector<finding>> examine(ask trial) override {
        return examine_server(site_, std::move(trial));
    }
    asio::awaitable<std::vector<finding>> set_up() override {
        return make_tables(site_, server_->unguarded());
    }
    void close() noexcept override {
        poller_.stop();
        if (sweeper_)
            sweeper_->stop();
        server_->close();
    }

private:
    store_context context_;
    const std::shared_ptr<guarded_database> server_;
    site site_;
    poller poller_;
    mysql_locks locks_;
    mysql_counters counters_;
    row_inspector inspector_;
    const std::shared_ptr<sweep> sweeper_;
};

} // namespace holdfast::mysql
