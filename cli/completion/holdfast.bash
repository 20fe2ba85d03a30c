# SPDX-License-Identifier: Apache-2.0
# Completion of holdfast(1) for bash. Verbs and options come from --help. Lock names come from the
# server if HOLDFAST_URL is set or the private server runs. The server must reply within a second.

# Prints the verbs. With the name of a verb, prints the words that the verb accepts.
_holdfast_words() {
    holdfast "$@" --help 2>/dev/null | sed -n 's/^  \([a-z]\{2,\}\)  .*/\1/p'
}

_holdfast_options() {
    holdfast "$1" --help 2>/dev/null |
        sed -n 's/^ \{2,6\}\(-[a-zA-Z0-9], \)\{0,1\}\(--[a-z-]*\).*/\2/p'
}

# Prints the names of locks, except names that look like options. With `--type latch`, prints the
# names of latches.
_holdfast_locks() {
    [[ -n ${HOLDFAST_URL-} ]] || timeout 1 holdfast server status &>/dev/null &&
        timeout 1 holdfast ls --names --limit 200 "$@" 2>/dev/null | sed '/^-/d'
}

# Prints the values of an option that has few of them.
_holdfast_values() {
    case $1 in
    --type)
        echo semaphore permits latch rate
        [[ $2 == unlock ]] && echo token
        ;;
    --sort) echo wait held name ;;
    --on-loss | --on-ask) echo TERM INT HUP QUIT USR1 USR2 ABRT KILL ;;
    esac
}

# Tests whether the option takes the next word as its value.
_holdfast_needs_value() {
    case $1 in
    --url | --with | --limit | --count | --sort | --threads | --lease | --longest-lease | --hold-for | --slots | --rate | --replicas | --on-loss | --on-ask | --reason | --while | --metrics-textfile | --time | -t | --type | --wait | \
        -w | --conflict-exit-code | -E) return 0 ;;
    esac
    return 1
}

# Prints the position where the command of 'holdfast run' begins. The command begins after the --,
# or with the second word that is not an option. Prints nothing if the command has not begun yet.
_holdfast_command_start() {
    local i named=
    for ((i = 2; i < COMP_CWORD; ++i)); do
        if [[ ${COMP_WORDS[i]} == -- ]]; then
            echo $((i + 1))
            return
        elif [[ ${COMP_WORDS[i]} == [:=]* ]] || _holdfast_needs_value "${COMP_WORDS[i]}"; then
            ((++i)) # bash splits a:b into three words
        elif [[ ${COMP_WORDS[i]} != -* ]]; then
            if [[ $named ]]; then
                echo "$i"
                return
            fi
            named=yes
        fi
    done
    if [[ $named ]] && ((i == COMP_CWORD)) && [[ ${COMP_WORDS[i]} != [-:=]* ]]; then
        echo "$i"
    fi
}

# Offers the names that `_holdfast_locks` prints. A name may contain spaces.
_holdfast_offer_names() {
    local name
    while IFS= read -r name; do
        [[ $name == "$current"* ]] && COMPREPLY+=("$(printf '%q' "$name")")
    done < <(_holdfast_locks "$@")
}

_holdfast() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local verb=${COMP_WORDS[1]-} start
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "$(_holdfast_words) --help --version" -- "$current")
        return
    fi
    [[ $verb == run ]] && start=$(_holdfast_command_start)
    if [[ $start ]]; then
        # Complete the words of the other program with bash-completion, if it is installed.
        if declare -F _command_offset >/dev/null; then
            _command_offset "$start"
        elif ((COMP_CWORD == start)); then
            mapfile -t COMPREPLY < <(compgen -c -- "$current")
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
        fi
        return
    fi
    if [[ $previous == --metrics-textfile ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        return
    fi
    if _holdfast_needs_value "$previous"; then
        mapfile -t COMPREPLY < <(compgen -W "$(_holdfast_values "$previous" "$verb")" -- "$current")
        return
    fi
    case $current in
    -*) mapfile -t COMPREPLY < <(compgen -W "$(_holdfast_options "$verb")" -- "$current") ;;
    *)
        case $verb in
        run | ls | inspect | wait | ask | take | unlock) _holdfast_offer_names ;;
        server | latch)
            # Offer the words of the verb first, and then the name of a latch.
            if [[ $verb == latch && $COMP_CWORD -gt 2 ]]; then
                _holdfast_offer_names --type latch
            else
                mapfile -t COMPREPLY < <(compgen -W "$(_holdfast_words "$verb")" -- "$current")
            fi
            ;;
        esac
        ;;
    esac
}

complete -F _holdfast holdfast
