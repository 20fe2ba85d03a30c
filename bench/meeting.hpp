// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/redisson.hpp"
#include "bench/contests.hpp"
#include "bench/duel.hpp"
#include "bench/record.hpp"
#include "bench/server/onlooker.hpp"
#include "bench/wishes.hpp"

#include <functional>
#include <optional>
#include <string>

namespace holdfast::bench {

/// Runs all contests, and has their common state. Writes the figures to the record. Skips a contest
/// if the machine lacks something that the contest needs, and records that. Throws the errors of
/// the contests.
class meeting {
public:
    meeting(const wishes&, const server& home);

    void hold(const contest&);
    void hold(const rivalry&);
    void hold(const failover&); ///< compares with Redisson, if Redisson is installed
    void hold(const vigil&);
    void hold(const shared_vigil&);
    void hold(const standstill&);

    void close();

private:
    void hold(const std::string& name, const char* first, const std::function<void()>& all_of_it);
    void keep(const std::vector<figure>&);
    void skip(const std::string& name, const not_here& missing);

    arena arena_for(std::optional<transport>, const std::string& query, int at_once);
    course course_of(const std::string& name, int slowness) const;

    const wishes& how_;
    const server& home_;
    accounts books_;
    more_servers more_;
    server_groups groups_;
    redisson java_;
    const onlooker watching_;
    record record_;
};

} // namespace holdfast::bench
