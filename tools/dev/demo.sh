# ./dev demo: the shipped program against a redis-server of its own, which nobody else can reach.
# shellcheck shell=bash

verb_demo() {
  need build server
  export_servers
  [[ -x $HOLDFAST_REDIS_SERVER ]] || die "the demo needs a redis-server, and there is none"
  stage "Building (release)" build release --target holdfast_cli
  with_server "$HOLDFAST_REDIS_SERVER" build/release/cli/holdfast demo "$@"
}

# with_server <server> <command>...: runs the command with --url of a server on a socket in a
# folder of ours, and ends that server with it, however it ends.
with_server() (
  server=$1
  shift
  folder=$(mktemp -d /tmp/holdfast-demo.XXXXXX) # 0700, and short: a socket's path has 107 bytes
  # A session of its own: Ctrl-C is for the command, which still needs the server to stop well.
  setsid "$server" --port 0 --unixsocket "$folder/redis.sock" --unixsocketperm 700 \
    --save '' --appendonly no --dir "$folder" > "$folder/log" 2>&1 &
  pid=$!
  trap 'kill "$pid" 2> /dev/null; wait "$pid" || true; rm -rf "$folder"' EXIT
  for ((tries = 0; tries < 100; tries++)); do
    [[ -S $folder/redis.sock ]] && break
    sleep 0.05
  done
  [[ -S $folder/redis.sock ]] || {
    cat "$folder/log" >&2
    die "$server did not start"
  }
  "$@" --url "unix://$folder/redis.sock"
)
