// SPDX-License-Identifier: Apache-2.0
#include "cli/server/server_access.hpp"

#include "cli/command_line.hpp"
#include "cli/server/private_server.hpp"
#include "cli/terminal/output.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <utility>

#ifdef HOLDFAST_WITH_MYSQL
#include <holdfast/mysql/options.hpp>
#else
#include <holdfast/schemes.hpp>
#endif

namespace cli {

#ifdef HOLDFAST_WITH_MYSQL

void add_schemes() {
    holdfast::mysql::add_schemes();
}

#else

void add_schemes() {
    for (const char* scheme : {"mysql", "mariadb", "mysql+unix", "mariadb+unix"})
        holdfast::add_store_scheme(scheme, [](holdfast::store_url& url) -> holdfast::store_factory {
            url.refuse("this program was built without libmariadb, so it has no " + url.scheme() +
                       "://");
        });
}

#endif

namespace {

/// Returns whether HOLDFAST_REQUIRE_SERVER forbids the private server. A deployment can set this
/// variable for all its jobs: if somebody forgets HOLDFAST_URL, a job then fails, instead of
/// running once on each machine.
bool shared_server_is_required() {
    const char* const told = std::getenv("HOLDFAST_REQUIRE_SERVER");
    if (told == nullptr)
        return false;
    const std::string_view value{told};
    if (value != "0" && value != "1")
        throw usage_error{"HOLDFAST_REQUIRE_SERVER: '" + printable(value) +
                          "' is not allowed; give 1 (refuse to use the private server) or 0"};
    return value == "1";
}

/// Returns the URL from --url or HOLDFAST_URL. Returns nothing if neither is given.
std::optional<std::string> given_url(const std::optional<std::string>& option) {
    if (option && option->empty())
        throw usage_error{"--url is empty; give redis://HOST:PORT or unix:///PATH"};
    if (option)
        return option;
    const char* const environment = std::getenv("HOLDFAST_URL");
    if (environment == nullptr)
        return std::nullopt;
    if (each_url(environment).empty())
        throw usage_error{"HOLDFAST_URL is set, but empty; give redis://HOST:PORT or unix:///PATH, "
                          "or unset it to use this machine's private server"};
    return environment;
}

/// Returns whether the text begins a new URL. A space alone does not separate URLs, because a path
/// may contain a space.
bool begins_url(std::string_view text) {
    constexpr std::array<std::string_view, 14> schemes{
        "redis:", "rediss:", "redis+",   "rediss+",  "unix:", "memory:",    "valkey:",
        "mysql:", "mysql+",  "mariadb:", "mariadb+", "zk:",   "zookeeper:", "valkeys:"};
    return std::ranges::any_of(schemes,
                               [&](std::string_view each) { return text.starts_with(each); });
}

/// Decodes the escapes (`%3A`) in a part of a URL. The library has checked them before.
std::string decoded(std::string_view text) {
    std::string whole;
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned char byte = 0;
        const char* const digits = text.data() + i + 1;
        if (text[i] == '%' && i + 2 < text.size() &&
            std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
            whole += static_cast<char>(byte);
            i += 2;
        } else {
            whole += text[i];
        }
    }
    return whole;
}

/// Returns the value of a parameter in the query of a URL, without decoding the value.
std::string_view parameter(std::string_view url, std::string_view name) {
    std::size_t start = url.find('?');
    while (start != url.npos) {
        const std::string_view rest = url.substr(start + 1);
        const std::string_view one = rest.substr(0, rest.find('&'));
        const std::size_t equals = one.find('=');
        if (equals != one.npos && decoded(one.substr(0, equals)) == name)
            return one.substr(equals + 1);
        start = url.find('&', start + 1);
    }
    return {};
}

void check_alike(const std::vector<std::string>& urls, std::string_view name) {
    for (const std::string& each : urls)
        if (parameter(each, name) != parameter(urls.front(), name))
            throw usage_error{"the URLs of a quorum set different values of " + std::string{name} +
                              "; give all nodes of the quorum the same value"};
}

void check_quorum(const std::vector<std::string>& urls) {
    constexpr std::size_t least = 3, most = 15;
    if (urls.size() % 2 == 0 || urls.size() < least || urls.size() > most)
        throw usage_error{std::to_string(urls.size()) +
                          " URLs are given, but a quorum needs an odd number of servers from 3 to "
                          "15. A server that makes the number even does not help in any failure"};
    for (auto one = urls.begin(); one != urls.end(); ++one)
        if (const auto again = std::find(urls.begin(), one, *one); again != one)
            throw usage_error{"URLs " + std::to_string(again - urls.begin() + 1) + " and " +
                              std::to_string(one - urls.begin() + 1) +
                              " are the same server. Each node of a quorum must be a different "
                              "server"};
    check_alike(urls, "lease_time");
    check_alike(urls, "prefix");
}

} // namespace

std::string server_url(const std::optional<std::string>& option) {
    const bool required = shared_server_is_required();
    const std::optional<std::string> given = given_url(option);
    if (!given && required)
        throw usage_error{"no server is given, and HOLDFAST_REQUIRE_SERVER=1 forbids this "
                          "machine's private server; give redis://HOST:PORT or unix:///PATH as "
                          "--url or HOLDFAST_URL"};
    // If HOLDFAST_URL is the private server's URL, an outer `holdfast run` has set it, and the
    // server may have ended since then.
    const bool is_private = given && is_private_server(*given);
    if (is_private && required)
        throw usage_error{
            "the given server is this machine's private server (an outer 'holdfast run' without a "
            "server sets it), and HOLDFAST_REQUIRE_SERVER=1 forbids it; give redis://HOST:PORT or "
            "unix:///PATH as --url or HOLDFAST_URL"};
    if (!given || is_private)
        return use_private_server();
    if (given->starts_with("valkey:") || given->starts_with("valkeys:"))
        throw usage_error{"valkey:// is written redis://, and valkeys:// is written rediss://, "
                          "because Valkey uses the protocol of Redis"};
    if (given->starts_with("memory:"))
        throw usage_error{"a memory: store lives inside one process, so its locks keep nobody out; "
                          "give the URL of a server"};
    return *given;
}

std::vector<std::string> each_url(const std::string& urls) {
    constexpr std::string_view blanks = " \t\r\n";
    std::vector<std::string> all;
    for (std::size_t start = urls.find_first_not_of(blanks); start < urls.size();) {
        std::size_t end = start;
        std::size_t next = start;
        do { // a URL ends at blanks before another URL
            end = urls.find_first_of(blanks, next);
            next = urls.find_first_not_of(blanks, end);
        } while (next != urls.npos && !begins_url(std::string_view{urls}.substr(next)));
        all.push_back(urls.substr(start, end - start));
        start = next;
    }
    return all;
}

void require_one_url(const std::string& urls) {
    if (each_url(urls).size() > 1)
        throw usage_error{"this verb asks one server: give one URL"};
}

std::string server_urls(const std::vector<std::string>& options) {
    if (options.size() == 1 && options.front().empty())
        return server_url(options.front()); // throws an error with the right message
    std::vector<std::string> all;
    for (const std::string& option : options)
        for (std::string& each : each_url(option))
            all.push_back(std::move(each));
    if (options.empty())
        all = each_url(server_url(std::nullopt));
    if (all.size() <= 1)
        return server_url(all.empty() ? std::string{} : all.front()); // throws for an empty text
    check_quorum(all);
    std::string joined;
    for (const std::string& each : all)
        joined += (joined.empty() ? "" : " ") + server_url(each);
    return joined;
}

std::string parameter_of(const std::string& url, std::string_view name) {
    return decoded(parameter(url, name));
}

std::optional<std::chrono::duration<double>> time_in(const std::string& url,
                                                     std::string_view name) {
    const std::string text = parameter_of(url, name);
    try {
        return text.empty() ? std::nullopt : std::optional{parse_time(name, text)};
    } catch (const usage_error&) {
        return std::nullopt;
    }
}

std::string prefix_of(const std::string& urls) {
    return parameter_of(each_url(urls).front(), "prefix");
}

std::string without_prefix(std::string name, std::string_view prefix) {
    return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

bool keeps_sessions(const std::string& url) {
    return url.starts_with("zk:") || url.starts_with("zookeeper:");
}

bool is_of_cluster(std::string_view url) {
    return url.starts_with("redis+cluster:") || url.starts_with("rediss+cluster:");
}

bool has_failover(std::string_view url) {
    return is_of_cluster(url) || url.starts_with("redis+sentinel:") ||
           url.starts_with("rediss+sentinel:");
}

bool is_on_redis(const std::string& url) {
    return url.starts_with("redis") || url.starts_with("unix:");
}

bool is_private_server(const std::string& url) {
    return url == private_server_url();
}

namespace {

std::string in_lower_case(std::string_view text) {
    std::string lower{text};
    for (char& c : lower)
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    return lower;
}

/// Hides the value of each query parameter that may be a password, also of each parameter with an
/// escape (`%`) in its name.
std::string without_passwords_in_query(std::string url) {
    for (std::size_t start = url.find('?'); start != url.npos; start = url.find('&', start + 1)) {
        const std::size_t end = std::min(url.find('&', start + 1), url.size());
        const std::size_t equals = std::min(url.find('=', start), end);
        const std::string name = in_lower_case(std::string_view{url}.substr(start, equals - start));
        const bool may_be = name.find("pass") != name.npos || name.find('%') != name.npos;
        if (may_be && equals < end)
            url.replace(equals + 1, end - equals - 1, "***");
    }
    return url;
}

/// Returns whether the text before the '@' is a user name (MySQL). In other URLs it may be a
/// password: many Redis clients accept `password@host`.
bool has_plain_user_names(std::string_view url) {
    const std::string scheme = in_lower_case(url.substr(0, url.find(':')));
    return scheme.starts_with("mysql") || scheme.starts_with("mariadb");
}

std::string one_without_password(std::string url) {
    const std::size_t scheme_end = url.find("://");
    if (scheme_end == std::string::npos)
        return url;
    const std::size_t start = scheme_end + 3;
    const std::size_t end = std::min(url.find_first_of("/?#", start), url.size());
    const bool has_host = end > start;
    // An '@' after the host may belong to a password with an unencoded '/', '?' or '#'.
    if (has_host && url.find('@', end) != url.npos)
        return url.replace(start, url.npos, "***");
    const std::size_t at = url.substr(0, end).rfind('@');
    const std::size_t colon = url.find(':', start);
    if (at != std::string::npos && at > start && colon < at)
        url.replace(colon + 1, at - colon - 1, "***");
    else if (at != std::string::npos && at > start && !has_plain_user_names(url))
        url.replace(start, at - start, "***");
    return without_passwords_in_query(std::move(url));
}

} // namespace

std::string without_password(std::string urls) {
    std::string all;
    for (std::string& each : each_url(urls))
        all += (all.empty() ? "" : ", ") + one_without_password(std::move(each));
    return all;
}

std::string server_in_words(const std::string& url) {
    return is_private_server(url) ? "this machine's private server"
                                  : printable(without_password(url));
}

holdfast::options reaching(std::string url) {
    holdfast::options how;
    how.url = std::move(url);
    how.credentials = holdfast::credentials_from_environment();
    return how;
}

namespace {

/// Shortens a message, which ends with the general sentence of its error code and with
/// `[category:number]`. Removes the number. Also removes the general sentence if the text before it
/// is from holdfast, because that text is more precise. If the text before it is from the server,
/// the general sentence stays, because it says what the user can do.
std::string for_people(std::string text, const holdfast::error_code& code) {
    if (const std::size_t bracket = text.rfind(" ["); text.ends_with(']') && bracket != text.npos)
        text.erase(bracket);
    using holdfast::store_errc;
    const bool of_server = code.category() == make_error_code(store_errc::other).category();
    if (const std::string general = ": " + code.message(); !of_server && text.ends_with(general))
        text.erase(text.size() - general.size());
    // The SQL statements that create the tables are too long for this message. `holdfast doctor`
    // prints them.
    if (const std::size_t statements = text.find(", and so do these statements");
        code == store_errc::not_set_up && statements != text.npos)
        text.erase(statements);
    // Remove the full stop between the server's sentence and a text of this library.
    if (const std::size_t joint = text.find(".: "); joint != text.npos)
        text.erase(joint + 1, 1);
    return printable(on_one_line(text), 1000);
}

/// Puts the source of a wrong URL, `--url` or `HOLDFAST_URL`, in front of the message instead of
/// `url`. The user may have forgotten the variable.
std::string with_source(const std::string& why, const std::string& url) {
    constexpr std::string_view subject = "url: ";
    if (!why.starts_with(subject))
        return why;
    const char* const variable = std::getenv("HOLDFAST_URL");
    const bool of_environment = variable != nullptr && each_url(url) == each_url(variable);
    return (of_environment ? "HOLDFAST_URL: " : "--url: ") + why.substr(subject.size());
}

/// Replaces the C++ name of an option in a message by the URL parameter or the command-line option.
std::string in_shell_words(std::string why, const std::string& url) {
    for (const std::string_view before :
         {"redis::options: ", "mysql::options: ", "zookeeper::options: ", "quorum_options.",
          "fair_options.", "options."})
        if (why.starts_with(before))
            why.erase(0, before.size());
    constexpr std::pair<std::string_view, std::string_view> options[] = {
        {"required_replicas is ", "--replicas is "},
        {"longest_lease is ", "--longest-lease is "},
        {"the lease time is ", "the lease is "}};
    for (const auto& [name, option] : options)
        if (const std::string word = std::string{name.substr(0, name.size() - 4)};
            why.starts_with(name) && parameter(url, word).empty())
            return std::string{option} + why.substr(name.size());
    const std::string_view first = std::string_view{why}.substr(0, why.find(' '));
    return parameter(url, first).empty() ? why : "url: " + why;
}

/// Returns advice if the URL is for a cluster, but the server's error says that the server is not a
/// cluster node.
std::string advice_on_scheme(const std::string& why, const std::string& url) {
    const bool of_cluster = is_of_cluster(url);
    if (of_cluster && why.find("cluster support disabled") != why.npos)
        return "The server is not a node of a cluster: write redis:// instead of redis+cluster://";
    return {}; // in the reverse case, the library's error names the scheme
}

/// Removes the sentence `general` everywhere. In an error of a quorum, this sentence follows the
/// reason of each node.
std::string without(const std::string& general, std::string text) {
    for (std::size_t at = text.find(general); at != text.npos; at = text.find(general))
        text.erase(at, general.size());
    return printable(on_one_line(text), 1000);
}

/// Returns whether the event is about the whole quorum. The observer also gets events about single
/// nodes.
bool is_of_quorum(const holdfast::event& event) {
    return std::string_view{event.text, event.text_size}.starts_with("no majority of ");
}

} // namespace

std::string reason_in_words(const boost::system::system_error& failure) {
    return for_people(failure.what(), failure.code());
}

void last_words::notify(const holdfast::event& event) noexcept {
    const bool failed = event.kind == holdfast::event_kind::waited &&
                        event.cause != holdfast::event_cause::cancelled;
    if (failed && event.text_size > 0)
        (is_of_quorum(event) ? quorums_ : text_).assign(event.text, event.text_size);
    if (event.cause == holdfast::event_cause::max_hold)
        max_hold_reached_ = true;
    if (event.kind == holdfast::event_kind::moved && tells_)
        say("locks have moved to " + printable({event.name, event.name_size}) + ": " +
            printable({event.text, event.text_size}) + " reported it");
    if (event.kind == holdfast::event_kind::impaired && tells_)
        say(printable({event.text, event.text_size}, 1000));
}

int last_words::report(const boost::system::system_error& failure, const std::string& url,
                       std::string_view refusal) const {
    // For a quorum, do not use the last event: it may be about one node, or about a cancelled
    // request.
    const bool of_many = each_url(url).size() > 1 && failure.code() == holdfast::errc::unreachable;
    const std::string why =
        of_many ? (quorums_.empty()
                       ? "too few of them answer, and a majority is needed"
                       : without(": " + failure.code().message() + " [holdfast:1]", quorums_))
                : for_people(text_.empty() ? failure.what() : text_, failure.code());
    const std::string server = printable(without_password(url));
    if (failure.code() == holdfast::errc::invalid_argument) {
        say(with_source(in_shell_words(why, url), url));
        return usage;
    }
    const std::string advice = advice_on_scheme(why, url);
    const std::string told =
        advice.empty() ? why : why + (why.ends_with('.') ? " " : ". ") + advice;
    if (failure.code() == holdfast::errc::unreachable)
        say("cannot reach " + server + ": " + told);
    else
        say(server + " " + std::string{refusal} + ": " + told);
    return failure.code() == holdfast::store_errc::wrong_type ? no_lock : unavailable;
}

} // namespace cli
