# SPDX-License-Identifier: Apache-2.0
# Completion of holdfast(1) for bash. Verbs and options are what --help tells, and names of locks
# what the server does, if there is a HOLDFAST_URL or the private server runs, and it answers within a
# second.

# The verbs, or the words that a verb knows.
_holdfast_words() {
    holdfast "$@" --help 2>/dev/null | sed -n 's/^  \([a-z]\{2,\}\)  .*/\1/p'
}

_holdfast_options() {
    holdfast "$1" --help 2>/dev/null |
        sed -n 's/^ \{2,6\}\(-[a-zA-Z0-9], \)\{0,1\}\(--[a-z-]*\).*/\2/p'
}

# Without names that would be read as options.
_holdfast_locks() {
    [[ -n ${HOLDFAST_URL-} ]] || timeout 1 holdfast server status &>/dev/null &&
        timeout 1 holdfast ls --names --limit 200 2>/dev/null | sed '/^-/d'
}

# Options whose value is the next word.
_holdfast_needs_value() {
    case $1 in
    --url | --with | --limit | --threads | --lease | --longest-lease | --hold-for | --slots | --rate | --replicas | --on-loss | --time | -t | --type | --wait | \
        -w | --conflict-exit-code | -E) return 0 ;;
    esac
    return 1
}

# Where the command of 'holdfast run' begins: behind the --, or with the second word that is no
# option. Nothing: not yet.
_holdfast_command_start() {
    local i named=
    for ((i = 2; i < COMP_CWORD; ++i)); do
        if [[ ${COMP_WORDS[i]} == -- ]]; then
            echo $((i + 1))
            return
        elif [[ ${COMP_WORDS[i]} == [:=]* ]] || _holdfast_needs_value "${COMP_WORDS[i]}"; then
            ((++i)) # bash takes a:b for three words
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

_holdfast() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local verb=${COMP_WORDS[1]-} start i
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "$(_holdfast_words) --help --version" -- "$current")
        return
    fi
    [[ $verb == run ]] && start=$(_holdfast_command_start)
    if [[ $start ]]; then
        # Another program's words; bash-completion, where it is there, knows them.
        if declare -F _command_offset >/dev/null; then
            _command_offset "$start"
        elif ((COMP_CWORD == start)); then
            mapfile -t COMPREPLY < <(compgen -c -- "$current")
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
        fi
        return
    fi
    _holdfast_needs_value "$previous" && return
    case $current in
    -*) mapfile -t COMPREPLY < <(compgen -W "$(_holdfast_options "$verb")" -- "$current") ;;
    *)
        case $verb in
        run | ls | inspect | wait | unlock)
            # Name by name, for a name may have spaces in it.
            while IFS= read -r i; do
                [[ $i == "$current"* ]] && COMPREPLY+=("$(printf '%q' "$i")")
            done < <(_holdfast_locks)
            ;;
        server | latch)
            # Their own words come first; the name of a latch is nobody's to guess.
            [[ $verb == latch && $COMP_CWORD -gt 2 ]] ||
                mapfile -t COMPREPLY < <(compgen -W "$(_holdfast_words "$verb")" -- "$current")
            ;;
        esac
        ;;
    esac
}

complete -F _holdfast holdfast
