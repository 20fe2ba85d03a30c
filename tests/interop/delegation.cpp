// SPDX-License-Identifier: Apache-2.0
#include "interop/delegation.hpp"

namespace holdfast::interop {
namespace {

constexpr std::chrono::seconds timeout{90};

} // namespace

delegation::delegation(peer& where, bool is_jvm, const std::vector<std::string>& urls,
                       const client_settings& how) {
    for (const std::string& url : urls)
        clients_.push_back(std::make_unique<remote_client>(where, is_jvm, url, how));
}

// The first one's last lock may be made of all others.
delegation::~delegation() {
    for (auto& each : clients_)
        each.reset();
}

remote_lock delegation::one(const std::string& actor, const member& which,
                            const std::string& getter) {
    return client(which.server).thread(actor).lock(which.name, getter).patient(timeout);
}

remote_lock delegation::all(const std::string& actor, const std::vector<member>& members) {
    return combined(actor, "getMultiLock", members, "getLock");
}

remote_lock delegation::majority(const std::string& actor, const std::string& name,
                                 const std::string& getter) {
    std::vector<member> everywhere;
    for (std::size_t server = 0; server < clients_.size(); ++server)
        everywhere.push_back({server, name});
    return combined(actor, "getRedLock", everywhere, getter);
}

remote_lock delegation::combined(const std::string& actor, const std::string& object,
                                 const std::vector<member>& members, const std::string& getter) {
    std::string name = object;
    json::array over;
    for (const member& each : members) {
        name += " " + each.name;
        over.push_back(json::object{
            {"client", client(each.server).label()}, {"object", getter}, {"name", each.name}});
    }
    if (known_.emplace(object, name).second)
        process().ask({{"do", "combine"},
                       {"client", clients_.front()->label()},
                       {"object", object},
                       {"name", name},
                       {"over", std::move(over)}});
    return clients_.front()->thread(actor).lock(name, object).patient(timeout);
}

json::value patiently(ongoing call) {
    return support::soon(std::move(call.answer), timeout);
}

} // namespace holdfast::interop
