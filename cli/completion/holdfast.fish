# SPDX-License-Identifier: Apache-2.0
# Completion of holdfast(1) for fish. Verbs and options come from --help. Lock names come from the
# server if HOLDFAST_URL is set or the private server runs. The server must reply within a second.

# Prints the verbs. With the name of a verb, prints the words that the verb accepts.
function __holdfast_words
    holdfast $argv --help 2>/dev/null | string replace -rf '^  ([a-z]{2,})  +(.*)' '$1\t$2'
end

# Prints each option of the verb with its description, up to the first part of its first sentence.
# In the help, a description may begin on the line after the option, and has several lines.
function __holdfast_options
    set -l words (commandline -opc)
    holdfast $words[2] --help 2>/dev/null | awk '
        function finish() {
            if (option == "") return
            if (match(text, /(;|\.|, but) | \(/)) text = substr(text, 1, RSTART - 1)
            sub(/[.;:,]$/, "", text)
            print option "\t" text
            option = ""
        }
        /^ +(-[a-zA-Z0-9], )?--[a-z-]+/ && match($0, /^ +/) && RLENGTH <= 6 {
            finish()
            match($0, /--[a-z-]+/)
            option = substr($0, RSTART, RLENGTH)
            text = substr($0, RSTART + RLENGTH)
            sub(/^(\[[^ ]*)?( [A-Z][^ a-z]*)?( |$)/, "", text)
            sub(/^ +/, "", text)
            next
        }
        /^        *[^ ]/ && option != "" {
            line = $0
            sub(/^ +/, "", line)
            text = text (text == "" ? "" : " ") line
            next
        }
        { finish() }
        END { finish() }'
end

# Prints the names of locks, except names that look like options. With `--type latch`, prints the
# names of latches.
function __holdfast_locks
    set -q HOLDFAST_URL; or timeout 1 holdfast server status &>/dev/null
    and timeout 1 holdfast ls --names --limit 200 $argv 2>/dev/null | string match -rv '^-'
end

# Tests whether the word before the cursor is this option.
function __holdfast_is_after
    set -l words (commandline -opc)
    test (count $words) -ge 3; and test "$words[-1]" = $argv[1]
    and not __holdfast_runs_a_command
end

# Prints the values of --type for the verb.
function __holdfast_types
    printf '%s\n' semaphore permits latch rate
    set -l words (commandline -opc)
    test "$words[2]" = unlock; and echo token
end

function __holdfast_names_a_latch
    set -l words (commandline -opc)
    test (count $words) -ge 3; and test "$words[2]" = latch
    and not contains -- $words[-1] $__holdfast_takes_value
end

# Tests whether the option takes the next word as its value.
set -g __holdfast_takes_value --url --with --limit --count --sort --threads --lease --longest-lease --hold-for --slots --rate --replicas --on-loss --on-ask --reason --while --metrics-textfile --time -t \
    --type --wait -w --conflict-exit-code -E

# Prints the position where the command of 'holdfast run' begins. The command begins after the --,
# or with the second word that is not an option. Fails and prints nothing if the command has not
# begun yet.
function __holdfast_command_start
    set -l words (commandline -opc)
    test "$words[2]" = run; or return 1
    set -l named no
    set -l value no
    for i in (seq 3 (count $words))
        if test $value = yes
            set value no
        else if test "$words[$i]" = --
            echo (math $i + 1)
            return 0
        else if contains -- "$words[$i]" $__holdfast_takes_value
            set value yes
        else if not string match -q -- '-*' "$words[$i]"
            if test $named = yes
                echo $i
                return 0
            end
            set named yes
        end
    end
    test $named = yes -a $value = no; or return 1
    string match -q -- '-*' (commandline -ct); and return 1
    echo (math (count $words) + 1)
end

function __holdfast_names_a_lock
    set -l words (commandline -opc)
    test (count $words) -ge 2; and contains -- $words[2] run ls inspect wait ask take unlock
    and not contains -- $words[-1] $__holdfast_takes_value
    and not __holdfast_runs_a_command
end

function __holdfast_runs_a_command
    __holdfast_command_start >/dev/null
end

function __holdfast_command
    set -l words (commandline -opc)
    set -l start (__holdfast_command_start)
    complete -C (string join ' ' -- (string escape -- $words[$start..]) (commandline -ct))
end

complete -c holdfast -f
complete -c holdfast -n 'test (count (commandline -opc)) -eq 1' -a '(__holdfast_words) --help --version'
complete -c holdfast -n 'test (count (commandline -opc)) -gt 1; and not __holdfast_runs_a_command; and string match -q -- "-*" (commandline -ct)' -a '(__holdfast_options)'
complete -c holdfast -n __holdfast_names_a_lock -a '(__holdfast_locks)'
complete -c holdfast -n 'contains -- (commandline -opc)[2] server' -a '(__holdfast_words server)'
complete -c holdfast -n 'test (count (commandline -opc)) -eq 2; and contains -- (commandline -opc)[2] latch' -a '(__holdfast_words latch)'
complete -c holdfast -n __holdfast_runs_a_command -a '(__holdfast_command)'
complete -c holdfast -n __holdfast_names_a_latch -a '(__holdfast_locks --type latch)'
complete -c holdfast -n '__holdfast_is_after --type' -a '(__holdfast_types)'
complete -c holdfast -n '__holdfast_is_after --sort' -a 'wait held name'
complete -c holdfast -n '__holdfast_is_after --on-loss; or __holdfast_is_after --on-ask' -a 'TERM INT HUP QUIT USR1 USR2 ABRT KILL'
complete -c holdfast -n '__holdfast_is_after --metrics-textfile' -F
