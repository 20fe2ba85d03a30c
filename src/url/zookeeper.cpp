// SPDX-License-Identifier: Apache-2.0
#include "url/zookeeper.hpp"

namespace holdfast::url {
namespace {

/// Returns the chroot in the format of ZooKeeper's connection strings, without a slash at its end.
std::string chroot_of(const store_url& url) {
    const std::string& path = url.path();
    return path.ends_with('/') ? path.substr(0, path.size() - 1) : path;
}

} // namespace

zookeeper::options read_ensemble(store_url& url) {
    using zookeeper::node_acl;
    using zookeeper::node_form;
    zookeeper::options how;
    how.servers = url.servers("zk://127.0.0.1:2181/chroot");
    how.chroot = chroot_of(url);
    how.user = url.user();
    how.password = url.password();
    how.credentials = url.credentials();
    url.read("connect_timeout", how.connect_timeout);
    url.read("command_timeout", how.command_timeout);
    url.read("session_timeout", how.session_timeout);
    url.read("root", how.root);
    url.read("names_are_paths", how.names_are_paths);
    url.read_one_of("form", how.form,
                    {{"curator", node_form::curator}, {"kazoo", node_form::kazoo}});
    url.read_one_of("acl", how.acl, {{"open", node_acl::open}, {"creator", node_acl::creator}});
    url.read_tls(how.tls);
    url.refuse_unknown();
    return how;
}

} // namespace holdfast::url
