# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Completion of schedctl for bash. Verbs and options are what --help says, jobs and classes what the
# governor says, so that this file knows of neither; no governor, no completion of those.

_schedctl_verbs() { schedctl help --json 2>/dev/null | grep -o '"name":"[^"]*"' | cut -d'"' -f4; }
_schedctl_options() { schedctl "$@" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u; }
_schedctl_jobs() { schedctl list -o id --no-legend --no-pager 2>/dev/null; }
_schedctl_classes() { schedctl policy show --no-pager 2>/dev/null | sed -n 's/^Name=//p'; }
# "Share=", "Objective=", …
_schedctl_keys() {
        schedctl policy show "$1" --no-pager 2>/dev/null |
                sed -n '/^\[Class\]/,/^$/d; /^Order=/d; /^Backfill=/d; s/^\([A-Z][A-Za-z]*=\).*/\1/p'
}

# What may stand in place N behind the verb; the words are those before it.
_schedctl_arguments() { # VERB WORD...
        local verb=$1
        shift
        case $verb in
        status | plot | logs | wait | cancel | hold | release | suspend | resume | requeue | signal | set | \
                explain | events) _schedctl_jobs ;;
        help) _schedctl_verbs ;;
        config) [ $# -gt 0 ] || echo cat verify reload ;;
        policy)
                case $#:${1-} in
                0:) echo list show set reload ;;
                1:show | 1:set) _schedctl_classes ;;
                *:set) _schedctl_keys "$2" ;;
                esac
                ;;
        esac
}

_schedctl() {
        local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb="" i words=() choice
        for ((i = 1; i < COMP_CWORD; i++)); do
                case ${COMP_WORDS[i]} in
                --) return ;; # what is behind it is somebody else's
                -*) ;;
                *) if [ -n "$verb" ]; then words+=("${COMP_WORDS[i]}"); else verb=${COMP_WORDS[i]}; fi ;;
                esac
        done
        case $before:$word in
        --class:*) choice=$(_schedctl_classes) ;;
        *:-*) choice=$(_schedctl_options ${verb:+"$verb"}) ;;
        *) if [ -n "$verb" ]; then choice=$(_schedctl_arguments "$verb" "${words[@]}"); else choice=$(_schedctl_verbs); fi ;;
        esac
        mapfile -t COMPREPLY < <(compgen -W "$choice" -- "$word")
        [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null || true
}

# Files, where there is nothing better.
complete -o bashdefault -o default -F _schedctl schedctl
