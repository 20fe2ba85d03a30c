// SPDX-License-Identifier: Apache-2.0
#include "bench/record.hpp"

#include <cstdio>
#include <stdexcept>

namespace holdfast::bench {

record::record(const wishes& how)
    : json_{how.json} {
    if (how.record.empty())
        return;
    file_.open(how.record);
    if (!file_)
        throw std::runtime_error{how.record + " cannot be written"};
}

void record::begin(const std::map<std::string, std::string>& conditions) {
    keep(json_line(conditions));
    if (json_)
        return;
    for (const auto& [name, value] : conditions)
        std::printf("%-9s %s\n", name.c_str(), value.c_str());
    std::printf("\n%s\n", table_head().c_str());
}

void record::end(const std::map<std::string, std::string>& what_else_is_known) {
    keep(json_line(what_else_is_known));
}

void record::figures_of(const std::vector<figure>& all) {
    for (const figure& each : all)
        say(table_line(each), json_line(each));
}

void record::distribution_of(const std::string& contest, const outcome& all) {
    keep(json_line(contest, all));
}

void record::skipped(const std::string& contest, const std::string& reason) {
    say(table_line_of_skipped(contest, reason), json_line_of_skipped(contest, reason));
}

void record::say(const std::string& table_line, const std::string& json_line) {
    std::printf("%s\n", json_ ? json_line.c_str() : table_line.c_str());
    std::fflush(stdout);
    keep(json_line);
}

void record::keep(const std::string& line) {
    if (file_.is_open() && !(file_ << line << std::endl))
        throw std::runtime_error{"the record cannot be written"};
}

} // namespace holdfast::bench
