// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/site.hpp"

#include <holdfast/store.hpp>

#include <memory>

namespace holdfast::mysql {

/// Deletes rows that nobody has used for a day, a few at a time, every now and then. A lock whose
/// row was deleted has greater tokens all the same: they follow the server's clock.
class sweep : public std::enable_shared_from_this<sweep> {
public:
    /// It must live until stop().
    explicit sweep(site& at)
        : at_{at}
        , sleep_{at.context.time.make_alarm()} {}

    void start();
    void stop() noexcept;

private:
    static asio::awaitable<void> loop(std::shared_ptr<sweep>);
    asio::awaitable<void> once();

    site& at_;
    const std::unique_ptr<alarm> sleep_;
    bool stopped_ = false;
};

/// Pure: what one step deletes, behind that name; the names of a step are what its SELECT tells.
std::string unused_names(const tables&, const std::string& behind);
std::vector<std::string> unused_deleted(const tables&, const std::vector<std::string>& names);

} // namespace holdfast::mysql
