// SPDX-License-Identifier: Apache-2.0
#include "config/errors.hpp"
#include "config/url.hpp"
#include "config/validation.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

options of(std::string url) {
    options how;
    how.url = std::move(url);
    return resolve_url(std::move(how));
}

std::string refusal_of(std::string_view url) {
    try {
        (void)of(std::string{url});
    } catch (const boost::system::system_error& e) {
        EXPECT_EQ(e.code(), errc::invalid_argument) << url;
        return e.what();
    }
    ADD_FAILURE() << url << " was taken";
    return {};
}

struct mistake {
    const char* url;
    const char* said;
};
constexpr mistake malformed[] = {
    {"", "it is empty; for example redis://127.0.0.1:6379"},
    {"localhost",
     "does not begin with a scheme; redis://, rediss://, unix:// (or redis+unix://), "
     "redis+sentinel://, rediss+sentinel://, redis+cluster://, rediss+cluster://, zk:// (or "
     "zookeeper://) and memory: are allowed"},
    {"//localhost", "does not begin with a scheme"},
    {"1redis://localhost", "does not begin with a scheme"},
    {"localhost:6379", "there is no scheme \"localhost\"; redis://, rediss://, unix://"},
    {"http://localhost", "there is no scheme \"http\""},
    {"http://localhost",
     "redis+sentinel://, rediss+sentinel://, redis+cluster://, rediss+cluster://, "
     "zk:// (or zookeeper://) and memory: are allowed"},
    {"redis://local host", "a space or a control character"},
    {"redis://localhost\n", "a space or a control character"},
    {"redis://localhost?prefix=a\x7f", "a space or a control character"},

    {"redis:", "two slashes and a host must follow"},
    {"redis:localhost", "two slashes and a host must follow"},
    {"redis:/localhost", "two slashes and a host must follow"},
    {"redis://", "it names no host"},
    {"redis:///2", "it names no host"},
    {"redis://:6379", "it names no host"},
    {"redis://user@", "it names no host"},
    {"redis://%zz", "the host has a '%' that is not followed by two hexadecimal digits"},
    {"redis://host%2", "the host has a '%'"},
    {"redis://[::1", "the host has a '[' without a ']'"},
    {"redis://[::1]x", "after the host's ']', only a ':' and a port"},
    {"redis://[localhost]", "the host [\"localhost\"] is not an IPv6 address"},
    {"redis://[]", "the host [\"\"] is not an IPv6 address"},
    {"redis://::1", "it names no host"},
    {"redis://fe80::1", "write an IPv6 address in brackets"},

    {"redis://host:", "the port"},
    {"redis://host:0", "the port (the text after the host's ':') must be a number from 1 to 65535"},
    {"redis://host:65536", "from 1 to 65535"},
    {"redis://host:99999999999999999999", "from 1 to 65535"},
    {"redis://host:port", "the port"},
    {"redis://host:-1", "the port"},
    {"redis://host:6379x", "the port"},
    {"redis://host:%36", "the port"},
    {"redis://[::1]:", "the port"},

    {"redis://us%er@host", "the user has a '%'"},
    {"redis://user:p%%@host", "the password has a '%'"},
    {"redis://us@er:word@host", "the user or the password contains an '@'"},

    {"redis://host/x", "the database \"x\" is not a number; give it as redis://host/2"},
    {"redis://host/-1", "the database \"-1\" is not a number"},
    {"redis://host/2/", "the database \"2/\" is not a number"},
    {"redis://host//2", "the database \"/2\" is not a number"},
    {"redis://host/4294967296", "the database \"4294967296\" is not a number"},
    {"redis://host/%4", "the path has a '%'"},
    {"redis://host?database=two", "the database \"two\" is not a number"},
    {"redis://host?database=", "the database \"\" is not a number"},
    {"redis://host/1?database=2", "the database is given twice"},

    {"redis://host#part", "'#'"},
    {"redis://host/0?prefix=a#b", "'#'"},
    {"memory:name#part", "'#'"},

    {"redis://host?prefix", "the parameter \"prefix\" has no value"},
    {"redis://host?prefix=a&&label=b", "the parameter \"\" has no value"},
    {"redis://host?prefix=%a", "the value of a parameter has a '%'"},
    {"redis://host?%=a", "the name of a parameter has a '%'"},
    {"redis://host?leese_time=1s", "unknown parameter \"leese_time\"; do you mean lease_time?"},
    {"redis://host?Prefix=a", "do you mean prefix?"},
    {"redis://host?comand_timeout=1s", "do you mean command_timeout?"},
    {"redis://host?colour=red",
     "unknown parameter \"colour\"; the allowed parameters are lease_time, "},
    {"redis://host?=1s", "unknown parameter \"\"; the allowed parameters are"},
    {"redis://host?prefix=a&prefix=b", "prefix is given twice"},
    {"redis://host?lease_time=10", "lease_time \"10\" has no unit; a duration is"},
    {"redis://host?lease_time=s", "lease_time \"s\" does not begin with a number"},
    {"redis://host?lease_time=", "lease_time \"\" does not begin with a number"},
    {"redis://host?max_hold=1d", "max_hold \"1d\" has an unknown unit \"d\""},
    {"redis://host?poll_bound=-1s", "poll_bound \"-1s\" does not begin with a number"},
    {"redis://host?polling=100",
     "polling \"100\" is not a whole number followed by us, as in 100us"},
    {"redis://host?polling=-1us", "polling \"-1us\" is not a whole number"},
    {"redis://host?blocking_connections_max=many",
     "blocking_connections_max \"many\" is not a whole number, as in 100"},
    {"redis://host?announce=perhaps", "announce must be yes or no, not \"perhaps\""},
    {"redis://host?close_timeout=9999999999999999h", "is too large"},
    {"redis://host?connect_timeout=0s", "connect_timeout is 0 ms; allowed are 1 ms to 1 day"},
    {"redis://host?command_timeout=2h3", "has an unknown unit \"h3\""},

    {"rediss:", "two slashes and a host must follow"},
    {"rediss://host?tls_cafile=a", "do you mean tls_ca_file?"},
    {"rediss://host?tls_ca_file=/no/such/file", "tls_ca_file /no/such/file: No such file or dir"},
    {"rediss://host?tls_certificate_file=/a", "certificate_file and tls.key_file belong together"},
    {"rediss://host?tls_key_file=/a", "tls.certificate_file and tls.key_file belong together"},
    {"rediss://host?tls_insecure_skip_verification=1",
     "verification must be yes or must be left out, not \"1\""},
    {"redis://host?tls_ca_file=/a", "tls_ca_file is for rediss://; without the second s nothing"},
    {"redis://host?tls_insecure_skip_verification=yes", "is for rediss://"},
    {"unix:///run/redis.sock?tls_server_name=a", "tls_server_name is for rediss://"},
    {"memory:a?tls_ca_file=/a", "unknown parameter \"tls_ca_file\""},

    {"redis://a,b", "redis:// has one host, and here are several; Sentinels are written "
                    "redis+sentinel://HOST,HOST/SERVICE and a cluster redis+cluster://HOST,HOST"},
    {"rediss://a:1,b:2/0", "rediss:// has one host, and here are several"},
    {"redis://host?sentinel_user=a", "sentinel_user is for redis+sentinel://"},
    {"redis+cluster://host?sentinel_password=a", "sentinel_password is for redis+sentinel://"},
    {"redis://host?pubsub=loud",
     "pubsub \"loud\" is not allowed; allowed are auto, plain, sharded and both"},
    {"redis://host?pubsub=sharded", "outside of a cluster, automatic and plain are allowed"},
    {"redis+sentinel://host/s?pubsub=both", "outside of a cluster, automatic and plain are"},
    {"redis://host?replica_timeout=1001ms",
     "replica_timeout is 1001 ms; the limit is a third of command_timeout, which is 1000 ms"},
    {"redis://host?topology_check=99ms", "topology_check is 99 ms; allowed are 100 ms to 1 day"},
    {"redis+cluster://host?topologycheck=1s", "do you mean topology_check?"},

    {"redis+sentinel:", "after redis+sentinel: two slashes and a host must follow, as in "
                        "redis+sentinel://127.0.0.1:26379/SERVICE"},
    {"redis+sentinel:///s", "it names no host, as in redis+sentinel://127.0.0.1:26379/SERVICE"},
    {"redis+sentinel://", "it names no host"},
    {"redis+sentinel://a,,b/s", "one of its hosts is empty; write one ',' between two hosts"},
    {"redis+sentinel://a,b,/s", "one of its hosts is empty"},
    {"redis+sentinel://,a/s", "one of its hosts is empty"},
    {"redis+sentinel://a:1,b:0/s", "from 1 to 65535"},
    {"redis+sentinel://a:1;b:2/s", "from 1 to 65535"},
    {"redis+sentinel://a b/s", "a space"},
    {"redis+sentinel://a", "it names no service; after the hosts, give the name that the"},
    {"redis+sentinel://a/", "it names no service"},
    {"redis+sentinel://a//1", "it names no service"},
    {"redis+sentinel://a/s/1/2", "after the service, only a '/' and a database may follow;"},
    {"redis+sentinel://me:1/secret@host", "the service (not shown, because it may be a part of"},
    {"redis+sentinel://a/s%40x", "has an '@' in its name, which Sentinels do not allow"},
    {"redis+sentinel://a/s/x", "the database \"x\" is not a number; give it as redis://host/2, "
                               "redis+sentinel://host/SERVICE/2 or ?database=2"},
    {"redis+sentinel://a/s/1?database=2", "the database is given twice"},
    {"redis+sentinel://a,a/s", "sentinel.addresses contains the same server twice: number 1 and 2"},
    {"redis+sentinel://a,b,a:26379/s", "twice: number 1 and 3"},
    {"rediss+sentinel://a/s?tls_ca_file=/no/such/file", "tls_ca_file /no/such/file: No such file"},
    {"redis+sentinel://a/s?tls_ca_file=/a", "tls_ca_file is for rediss://"},
    {"redis+cluster://", "it names no host, as in redis+cluster://127.0.0.1:6379"},
    {"redis+cluster:a", "after redis+cluster: two slashes and a host must follow"},
    {"redis+cluster://a,", "one of its hosts is empty"},
    {"redis+cluster://a/2", "database is 2; a cluster has database 0 alone"},
    {"redis+cluster://a?database=2", "database is 2; a cluster has database 0 alone"},
    {"redis+cluster://a/orders", "the database \"orders\" is not a number"},
    {"redis+cluster://a/orders/2", "the database \"orders/2\" is not a number"},
    {"redis+cluster://a,a:6379", "cluster.addresses contains the same server twice"},
    {"unix://a,b/run/redis.sock", "begins at the third slash"},

    {"unix:", "names no socket"},
    {"unix://", "names no socket"},
    {"unix:///", "names no socket"},
    {"unix:run/redis.sock", "names no socket"},
    {"unix://run/redis.sock", "begins at the third slash"},
    {"redis+unix://:1/run/redis.sock", "a unix socket has no host"},
    {"unix:///a%", "the path has a '%'"},
    {"unix:///run/redis.sock?database=x", "the database \"x\" is not a number"},

    {"memory:", "needs a name after it"},
    {"memory:?prefix=a", "needs a name after it"},
    {"memory://name", "followed by a name and no slashes"},
    {"memory:a%0", "the path has a '%'"},
    {"memory:a?database=1", "unknown parameter \"database\""},
    {"memory:a?connect_timeout=1s", "unknown parameter \"connect_timeout\""},
};

TEST(Url, EachMalformedPartIsNamedWithWhatIsAllowed) {
    for (const mistake& each : malformed)
        EXPECT_THAT(refusal_of(each.url), HasSubstr(each.said)) << each.url;
}

// lettuce, go-redis, asynq, fred, kombu.
constexpr mistake others[] = {
    {"redis-sentinel://a:26379,b/0?sentinelMasterId=orders",
     "redis-sentinel:// belongs to another client; holdfast writes it as "
     "redis+sentinel://a:26379,b/orders/0"},
    {"redis-sentinel://user:word@a,[::1]:5#orders",
     "holdfast writes it as redis+sentinel://USER:PASSWORD@a,[::1]:5/orders"},
    {"rediss-sentinel://a?timeout=1s&sentinelMasterId=a%2Fb", "rediss+sentinel://a/a%2Fb"},
    {"redis-sentinel://:word@a:1,b:2?master=orders",
     "redis+sentinel://USER:PASSWORD@a:1,b:2/orders"},
    {"redis-sentinel://a?node=b:2&node=[::1]:3&sentinelServiceName=orders",
     "redis+sentinel://a,b:2,[::1]:3/orders"},
    {"redis-sentinel://a", "redis+sentinel://a/SERVICE"},
    {"redis-sentinel://a?sentinelMasterId=%1B%5B1m", "redis+sentinel://a/%1B%5B1m"},
    {"redis-cluster://user@a:7000?node=b:7001", "redis+cluster://USER:PASSWORD@a:7000,b:7001"},
    {"rediss-cluster://a,b", "rediss+cluster://a,b"},
    {"valkeys-cluster://a", "rediss+cluster://a"},
    {"redis://user:word@a:6379?dial_timeout=3&addr=b:6380&addr=c",
     "the parameter addr belongs to another client; holdfast writes it as "
     "redis+cluster://USER:PASSWORD@a:6379,b:6380,c"},
    {"rediss://a:26379?master_name=orders&addr=b:26379",
     "holdfast writes it as rediss+sentinel://a:26379,b:26379/orders"},
    {"sentinel://localhost:26379;sentinel://localhost:26380",
     "holdfast writes it as redis+sentinel://HOST:PORT,HOST:PORT/SERVICE"},
    {"redis-cluster://a/p@b", "holdfast writes it as redis+cluster://HOST:PORT,HOST:PORT"},
    {"redis-cluster://", "holdfast writes it as redis+cluster://HOST:PORT,HOST:PORT"},
};

TEST(Url, WhatOtherClientsWriteIsRefusedWithWhatToWriteInstead) {
    for (const mistake& each : others)
        EXPECT_THAT(refusal_of(each.url), testing::EndsWith(each.said)) << each.url;
    const std::string many = refusal_of("redis-cluster://" + std::string(1000, 'a'));
    EXPECT_THAT(many, testing::EndsWith("redis+cluster://HOST:PORT,HOST:PORT"));
}

TEST(Url, WhatIsOfferedInsteadIsTaken) {
    for (const mistake& each : others) {
        const std::string words = refusal_of(each.url);
        const std::string offered = words.substr(words.rfind(' ') + 1);
        if (offered.find("PORT") != offered.npos)
            continue;
        EXPECT_TRUE(of(offered).store) << offered;
    }
}

TEST(Url, APasswordIsNeverShown) {
    // Wherever a separator that should have been escaped cuts it, and where the host is missing.
    for (const char* url : {
             "redis://user:SECRET@",
             "redis://user:SECRET@host:x",
             "redis://user:SECRET@host/x",
             "redis://user:SECRET@host?x=y",
             "redis://user:SECRET@host#x",
             "redis://user:SECRET%@host",
             "redis://user:SECRET@x@host",
             "redis://user:a@SECRET@host",
             "redis://user:SECRET@[x]",
             "redis://user:SECRET",
             "redis://user:SECRET/x",
             "redis://:SECRET",
             "redis://user:SECRET/b@host",
             "redis://user:a/SECRET@host",
             "redis://user:1/SECRET@host",
             "redis://user:SECRET?b@host",
             "redis://user:1?SECRET@host",
             "redis://user:1?SECRET=a@host",
             "redis://user:1?lease_time=SECRET@host",
             "redis://user:1?lease_time=1SECRET@host",
             "redis://user:1?prefix=a&SECRET=1&b@host",
             "redis://user:SECRET#b@host",
             "redis://user:1#SECRET@host",
             "redis://user:[SECRET@host:x",
             "redis://[SECRET]/a@host",
             "rediss://user:SECRET@host:x",
             "rediss://user:SECRET@host?tls_ca_file=/no/such/file",
             "reds://user:SECRET@host",
             "redis:user:SECRET@host",
             "unix://user:SECRET@host/path",
             "unix://user:SECRET@/path?x=y",
             "memory://user:SECRET@host",
             "redis://user:1,SECRET",
             "redis://user:SECRET,b",
             "redis+sentinel://user:SECRET@a,b:x/s",
             "redis+sentinel://user:SECRET",
             "redis+sentinel://user:SECRET,a/s",
             "redis+sentinel://user:a,SECRET@",
             "redis+sentinel://user:SECRET@a,user:SECRET@b/s",
             "redis+sentinel://user:a/SECRET@b,c/s",
             "redis+sentinel://user:a/b/SECRET/c@b/s",
             "redis+sentinel://a/s?sentinel_password=SECRET&lease_time=1",
             "redis+sentinel://a/s?sentinel_password=a&SECRET",
             "redis+sentinel://a/s?sentinel_password=a&SECRET=b",
             "redis+sentinel://a/s?sentinel_password=a&lease_time=SECRET",
             "redis+sentinel://a/s?sentinel_password=SECRET%",
             "redis+sentinel://a/s?sentinel_password=a#SECRET",
             "redis+sentinel://a/s?sentinel_password=SECRET&sentinel_password=SECRET",
             "redis+sentinel://a/s?sentinel_pasword=SECRET",
             "redis+sentinel://a/s?lease_time=1s?sentinel_password=SECRET",
             "redis+cluster://a?sentinel_password=SECRET",
             "redis-sentinel://user:SECRET@a?sentinelMasterId=b",
             "redis-sentinel://user:SECRET?sentinelMasterId=b",
             "redis-sentinel://user:a/SECRET@b?sentinelMasterId=c",
             "redis-sentinel://a?sentinelPassword=SECRET&sentinelServiceName=b",
             "redis-sentinel://a?sentinelPassword=b&node=SECRET",
             "redis-cluster://user:SECRET",
             "redis://user:SECRET@a?addr=b:1",
             "redis://user:SECRET?addr=b:1",
             "redis://user:a?SECRET@b&addr=c:1",
             "sentinel://:SECRET@a:1;sentinel://:SECRET@b:2",
         })
        EXPECT_THAT(refusal_of(url), Not(HasSubstr("SECRET"))) << url;
}

TEST(Url, APasswordOfAnotherStoreIsNeverShown) {
    for (const char* url : {
             "zk://user:SECRET@a,,b",
             "zk://user:SECRET",
             "zk://user:1/SECRET@a?acl=b",
             "zk://user:SECRET@a?acl=b",
             "mysql://user:SECRET@a/b",
             "mysql://user:a/SECRET@b/c",
         })
        EXPECT_THAT(refusal_of(url), Not(HasSubstr("SECRET"))) << url;
}

TEST(Url, EveryAllowedFormIsTaken) {
    for (const char* url : {
             "redis://127.0.0.1",
             "redis://127.0.0.1/",
             "redis://127.0.0.1:6379/15",
             "redis://[::1]:6379",
             "redis://db.internal?database=3",
             "redis://user@host",
             "redis://:password@host",
             "redis://user:pass:word@host/0?",
             "redis://host?prefix=a@b",
             "rediss://host",
             "rediss://user:word@host:6380/1?tls_server_name=db&tls_insecure_skip_verification=yes",
             "unix:///run/redis.sock",
             "unix:///run/a@b.sock?database=2",
             "unix:/run/redis.sock",
             "redis+unix://user:word@/run/redis.sock",
             "redis+sentinel://user:word@s1:26379,s2,[::1]:26380/orders/2?sentinel_password=a",
             "rediss+sentinel://s1/orders?tls_server_name=db",
             "redis+cluster://user:word@c1:7000,c2/0?pubsub=both&topology_check=1s",
             "rediss+cluster://c1",
             "redis://host?command_timeout=40ms", // and replicas have a third of it
             "zk://zk1",
             "zookeeper://user:word@zk1:2182,zk2,[::1]:2181/shop?root=/locks&session_timeout=8s",
             "zk://zk1?tls=yes&tls_server_name=zk&form=kazoo&acl=open&names_are_paths=yes",
             "memory:test",
             "memory:a/b%20c",
         })
        EXPECT_TRUE(of(url).store) << url;
}

TEST(Url, ItsParametersWinOverTheFields) {
    options how;
    how.lease_time = 1s;
    how.label = "field";
    how.url = "redis://host?lease_time=10s&max_hold=1h&unavailable_timeout=500ms"
              "&release_timeout=0s&close_timeout=5m&poll_bound=2s&prefix=shop:"
              "&required_replicas=2&connect_timeout=1s&command_timeout=4s";
    const options set = resolve_url(std::move(how));
    EXPECT_EQ(set.lease_time, 10s);
    EXPECT_EQ(set.max_hold, 1h);
    EXPECT_EQ(set.unavailable_timeout, 500ms);
    EXPECT_EQ(set.release_timeout, 0s);
    EXPECT_EQ(set.close_timeout, 5min);
    EXPECT_EQ(set.poll_bound, 2s);
    EXPECT_EQ(set.required_replicas, 2u);
    EXPECT_EQ(set.prefix, "shop:");
    EXPECT_EQ(set.label, "field");
    EXPECT_EQ(of("memory:a?label=L%C3%A9a").label, "L\xC3\xA9"
                                                   "a");
}

std::string refusal_of(const std::function<void()>& act) {
    try {
        act();
    } catch (const boost::system::system_error& e) {
        EXPECT_EQ(e.code(), errc::invalid_argument);
        return e.what();
    }
    return "taken";
}

struct store_that_objects : lock_store {
    bool offers(lock_kind) const noexcept override { return true; }
    limits bounds() const noexcept override { return {}; }
    std::optional<std::string> objection_to(const lock_name& name) const override {
        if (name.text == "good")
            return std::nullopt;
        return "it is not good";
    }
    std::unique_ptr<place> line_up(ask, alarm&) override { return nullptr; }
    asio::awaitable<void> renew(hold_list, const renewal_options&, renewal_sink&) override {
        co_return;
    }
    asio::awaitable<release_answer> release(hold) override { co_return release_answer{}; }
    std::unique_ptr<watch> watch_over(const hold&, revalidator&) override { return nullptr; }
};

TEST(Validation, TheDefaultsAreAllowed) {
    EXPECT_EQ(refusal_of([] { check(options{}); }), "taken");
}

TEST(Validation, EachFieldIsNamedWithWhatIsWrong) {
    using change = void (*)(options&);
    const std::pair<change, const char*> rows[] = {
        {[](options& o) { o.lease_time = 0s; }, "options.lease_time is 0 ms; allowed are 1 ms to "
                                                "3652 days"},
        {[](options& o) { o.lease_time = -1s; }, "options.lease_time is -1000 ms"},
        {[](options& o) { o.lease_time = 24h * 3653; }, "options.lease_time is 3653 days"},
        {[](options& o) { o.max_hold = 0s; }, "options.max_hold is 0 ms; allowed are 1 ms to "
                                              "for ever"},
        {[](options& o) { o.unavailable_timeout = -1ms; }, "options.unavailable_timeout is -1"},
        {[](options& o) { o.release_timeout = -1ms; }, "options.release_timeout is -1 ms"},
        {[](options& o) { o.close_timeout = duration::min(); }, "options.close_timeout is -9"},
        {[](options& o) { o.poll_bound = 0s; }, "options.poll_bound is 0 ms; allowed are 1 ms to "
                                                "1 day"},
        {[](options& o) { o.poll_bound = duration::max(); },
         "options.poll_bound is for ever (duration::max()); allowed are 1 ms to 1 day"},
        {[](options& o) { o.hand_off.within = -1ms; },
         "options.hand_off.within is -1 ms; allowed are 0 ms to 1 day"},
        {[](options& o) { o.hand_off.within = 24h + 1ms; }, "options.hand_off.within is 86400001"},
        {[](options& o) { o.waiters_max = 0; }, "options.waiters_max is 0"},
        {[](options& o) { o.required_replicas = 101; },
         "options.required_replicas is 101; allowed are 0 to 100"},
        {[](options& o) {
             o.prefix = "a";
             o.name_mapper = [](std::string_view name) { return std::string{name}; };
         },
         "options.prefix and options.name_mapper are both given"},
    };
    for (const auto& [spoil, said] : rows) {
        options how;
        spoil(how);
        EXPECT_THAT(refusal_of([&] { check(how); }), HasSubstr(said));
    }
}

TEST(Validation, TimeoutMayBeNothingAndForEver) {
    options how;
    how.unavailable_timeout = how.release_timeout = how.close_timeout = 0s;
    EXPECT_EQ(refusal_of([&] { check(how); }), "taken");
    how.unavailable_timeout = how.release_timeout = how.close_timeout = duration::max();
    how.poll_bound = how.hand_off.within = 24h;
    how.max_hold = duration::max();
    EXPECT_EQ(refusal_of([&] { check(how); }), "taken");
}

TEST(Validation, ReplicasAreRequiredOnlyWhereTheStoreAsksSome) {
    limits asks_none, asks_some;
    asks_some.replicas_max = 100;
    EXPECT_EQ(checked_replicas(0, asks_none), 0u);
    EXPECT_EQ(checked_replicas(100, asks_some), 100u);
    EXPECT_THAT(refusal_of([&] { (void)checked_replicas(1, asks_none); }),
                HasSubstr("required_replicas is 1; the store of this client does not wait for "
                          "replicas, so only 0 is allowed"));
    EXPECT_THAT(refusal_of([&] { (void)checked_replicas(101, asks_some); }),
                HasSubstr("required_replicas is 101; allowed are 0 to 100"));
    asks_some.replicas_max = 2;
    EXPECT_THAT(refusal_of([&] { (void)checked_replicas(3, asks_some); }),
                HasSubstr("required_replicas is 3; allowed are 0 to 2"));
}

TEST(Validation, AFairPlaceLastsByDefaultForAsLongAsTheUsualOutageNeeds) {
    const options how;
    limits one_server, with_failover;
    with_failover.usual_outage = 30s;
    EXPECT_EQ(checked_waiter_timeout(std::nullopt, how, one_server), 30s);
    EXPECT_EQ(checked_waiter_timeout(std::nullopt, how, with_failover), 41s);
    EXPECT_THAT(refusal_of([&] { (void)checked_waiter_timeout(30s, how, with_failover); }),
                HasSubstr("fair_options.waiter_timeout is 30000 ms; allowed are 41000 ms to"));
}

TEST(Validation, ALeaseLastsFromOneMillisecondToTenYears) {
    EXPECT_EQ(checked_lease(1ms, limits{}), 1ms);
    EXPECT_EQ(checked_lease(24h * 3652, limits{}), 24h * 3652);
    for (const duration wrong :
         {duration{0}, duration{-1}, duration::min(), duration::max(), duration{24h * 3652} + 1ms})
        EXPECT_THAT(refusal_of([&] { (void)checked_lease(wrong, limits{}); }),
                    HasSubstr("allowed are 1 ms to 3652 days, in whole milliseconds"));
    // Rounded down before it comes here.
    EXPECT_THAT(refusal_of([] {
                    (void)checked_lease(lease_time{std::chrono::microseconds{999}}.value, limits{});
                }),
                HasSubstr("the lease time is 0 ms"));
}

TEST(Validation, ANameIsGivenBackOrQuotedWithTheStoresObjection) {
    const store_that_objects store;
    EXPECT_EQ(checked_name("good", store), "good");
    EXPECT_THAT(refusal_of([&] { (void)checked_name("bad", store); }),
                HasSubstr("lock name \"bad\": it is not good"));
}

TEST(InQuotes, IsCutAndSafeForATerminal) {
    EXPECT_EQ(in_quotes(""), R"("")");
    EXPECT_EQ(in_quotes("stock:42"), R"("stock:42")");
    EXPECT_EQ(in_quotes(std::string_view{"a\0b\n\x1b[31m\"\\\xC3\xA9", 13}),
              R"("a\x00b\x0A\x1B[31m\"\\\xC3\xA9")");
    const std::string cut = in_quotes(std::string(10'000'000, 'x'));
    EXPECT_EQ(cut, '"' + std::string(64, 'x') + "\"... (10000000 bytes)");
}

} // namespace
} // namespace holdfast
