// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/mysql_store.hpp"

#include "mysql/check_options.hpp"
#include "mysql/make_database.hpp"

#include <utility>

namespace holdfast::mysql {

store_factory make_store(options how) {
    return [how = checked(std::move(how))](store_context context) -> std::unique_ptr<store> {
        std::unique_ptr<database> server = make_database(how, context);
        return std::make_unique<mysql_store>(std::move(server), how, std::move(context));
    };
}

} // namespace holdfast::mysql
