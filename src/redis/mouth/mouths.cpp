// SPDX-License-Identifier: Apache-2.0
#include "redis/mouth/mouths.hpp"

#include "redis/mutants.hpp"

#include <utility>

namespace holdfast::redis {

mouths::mouths(std::shared_ptr<node_context> context)
    : context_{std::move(context)}
    , first_{std::make_shared<mouth>(context_, purpose::commands)} {}

mouth& mouths::pick(const call_wishes& wishes) {
    if (!wishes.elsewhere || closed_ || !first_->silent() || planted(mutant::never_elsewhere))
        return *first_;
    if (!spare_)
        spare_ = std::make_shared<mouth>(context_, purpose::more_commands);
    else if (spare_->silent() && !planted(mutant::silent_spare_kept))
        spare_->cut({errc::outcome_unknown, context_->address + " does not answer here either"});
    return *spare_;
}

void mouths::cut(const net::failure& why) {
    first_->cut(why);
    if (spare_ && !planted(mutant::spare_stays))
        spare_->cut(why);
}

void mouths::distrust(const reply& said, const net::failure& why) {
    if (first_->gave(said) && !planted(mutant::distrust_ignored))
        first_->cut(why);
    if (spare_ && spare_->gave(said))
        spare_->cut(why);
}

void mouths::close() {
    if (closed_) // nothing is written then: whoever destroys the last reference is on any thread
        return;
    closed_ = true;
    first_->close();
    if (spare_)
        spare_->close();
}

} // namespace holdfast::redis
