// SPDX-License-Identifier: Apache-2.0
// `holdfast doctor`: checks whether a server is suitable for locks. Reports as text or as JSON.
#include "cli/exit_status.hpp"
#include "cli/look/diagnoses.hpp"
#include "cli/look/lock_json.hpp"
#include "cli/look/looking.hpp"
#include "cli/look/nodes.hpp"
#include "cli/verbs.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <iterator>
#include <vector>

namespace cli {
namespace {

using holdfast::diagnosis;
using holdfast::severity;

constexpr std::string_view doctor_help =
    R"(Examines a server: whether it can be reached, which rights this user has (a lock
is taken and released to find out), what happens when memory or disk is full,
and whether replicas and the clock are a danger for locks.

Behind Sentinels and in a cluster all servers are examined, replicas and
Sentinels too: which server is the primary, what is missing, how long a failover
takes compared with the lease, whether clocks differ, and whether other clients
use another form of Pub/Sub. What this user may not ask is reported.

In a database, its settings, the user's rights and the tables that locks need
are examined. In ZooKeeper, each server of the ensemble and the session that it
gives are examined.

Usage: holdfast doctor [OPTIONS] [NAME]

  NAME                 the lock that is taken (default holdfast-doctor); choose
                       one that this user may take
      --create-tables  for mysql:// and mariadb://: make the missing tables,
                       for which the user needs the rights CREATE, SELECT and
                       INSERT; existing tables do not change
      --json           for programs: {"worst": ..., "findings": [{"severity",
                       "topic", "what", "remedy"}, ...]}
      --url URL        the server, as for 'holdfast run'. For a quorum, each
                       node is examined, and a lock is taken on all of them. For
                       programs there is then also {"nodes": [{"server",
                       "worst", "findings"}, ...]}, and "findings" is about the
                       quorum as a whole
  -h, --help           print this text

The severity of a finding is 'fine', 'note', 'warning' or 'danger'. A warning:
locks work, but not as expected in some event; or something could not be
examined. A danger: locks do not work, or everyday events end them.

Exit status:
    0   no finding is worse than a note
    1   there is a warning or a danger
   64   the command line or a variable is wrong
   69   the server cannot be reached, or refuses

Examples:
  holdfast doctor --url 'redis+cluster://node-a,node-b?required_replicas=1'
  holdfast doctor --create-tables --url mysql://admin@db.internal/shop
  holdfast doctor --json |
      jq -r '.findings[] | select(.severity == "danger") | .remedy'
)";

/// Creates the tables, and then checks them.
std::vector<holdfast::finding> tables_made(holdfast::client& home) {
    try {
        return home.set_up().findings;
    } catch (const boost::system::system_error& failure) {
        if (failure.code() != holdfast::errc::invalid_argument)
            throw;
        throw usage_error{"--create-tables is for mysql:// and mariadb://: other stores need no "
                          "tables"};
    }
}

int status_of(const diagnosis& found) {
    if (found.worst() < severity::warning)
        return success;
    const bool reached = std::ranges::none_of(found.findings, [](const holdfast::finding& each) {
        return each.topic == "reach" && each.how_bad == severity::danger;
    });
    return reached ? found_trouble : unavailable;
}

} // namespace

int doctor(const inheritance& inherited, arguments all) {
    look_options given;
    given.name = "holdfast-doctor";
    bool create_tables = false;
    CLI::App expected{"", "doctor"};
    expected.add_flag("--create-tables", create_tables);
    if (!parse_look(expected, given, lock_word::optional, std::move(all), doctor_help))
        return success;

    if (asks_quorum(given)) {
        if (create_tables)
            throw usage_error{"--create-tables is for one URL: give that of each database by "
                              "itself"};
        return examine_quorum(given);
    }
    return ask_server(inherited, given, [&](holdfast::client& home) {
        diagnosis found;
        if (create_tables)
            found.findings = tables_made(home);
        std::ranges::move(home.doctor({given.name}).findings, std::back_inserter(found.findings));
        given.json ? write_json(diagnosis_to_json(found)) : print_findings(found);
        return status_of(found);
    });
}

} // namespace cli
