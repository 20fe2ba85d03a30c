# SPDX-License-Identifier: Apache-2.0
# Completion of holdfast(1) for fish. Verbs and options are what --help tells, and names of locks
# what the server does, if there is a HOLDFAST_URL or the private server runs, and it answers within a
# second.

# The verbs, or the words that a verb knows.
function __holdfast_words
    holdfast $argv --help 2>/dev/null | string replace -rf '^  ([a-z]{2,})  +(.*)' '$1\t$2'
end

function __holdfast_options
    set -l words (commandline -opc)
    holdfast $words[2] --help 2>/dev/null |
        string replace -rf '^ {2,6}(?:-[a-zA-Z0-9], )?(--[a-z-]*)(?: [A-Z]+)?(?:  +(.*))?$' '$1\t$2'
end

function __holdfast_locks
    set -q HOLDFAST_URL; or timeout 1 holdfast server status &>/dev/null
    and timeout 1 holdfast ls --names --limit 200 2>/dev/null
end

function __holdfast_names_a_lock
    set -l words (commandline -opc)
    set -l takes_value --url --limit --threads --lease --time -t --wait -w --conflict-exit-code -E
    test (count $words) -ge 2; and contains -- $words[2] run ls inspect wait unlock
    and not contains -- -- $words
    and not contains -- $words[-1] $takes_value
end

function __holdfast_runs_a_command
    contains -- -- (commandline -opc)
end

function __holdfast_command
    set -l words (commandline -opc)
    set -l dashes (contains -i -- -- $words)
    complete -C (string join ' ' -- (string escape -- $words[(math $dashes + 1)..]) (commandline -ct))
end

complete -c holdfast -f
complete -c holdfast -n 'test (count (commandline -opc)) -eq 1' -a '(__holdfast_words) --help --version'
complete -c holdfast -n 'test (count (commandline -opc)) -gt 1; and not __holdfast_runs_a_command; and string match -q -- "-*" (commandline -ct)' -a '(__holdfast_options)'
complete -c holdfast -n __holdfast_names_a_lock -a '(__holdfast_locks)'
complete -c holdfast -n 'contains -- (commandline -opc)[2] server' -a '(__holdfast_words server)'
complete -c holdfast -n __holdfast_runs_a_command -a '(__holdfast_command)'
