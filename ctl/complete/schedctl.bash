# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Completion of schedctl for bash. What there is to choose from the program says (ctl/complete/complete.h).

_schedctl() {
        local line=${COMP_LINE:0:COMP_POINT} words=() at=() lines=() word skip i
        # Bash breaks words at = and : as well. Those that no blank separates are one.
        for ((i = 0; i <= COMP_CWORD; i++)); do
                word=${COMP_WORDS[i]}
                [ "$i" -lt "$COMP_CWORD" ] || word=${line#"${line%%[![:blank:]]*}"} # up to the cursor
                if [ "$i" = 0 ] || [[ $line == [[:blank:]]* ]]; then
                        words+=("$word") at+=("$i")
                else
                        words[-1]+=$word
                fi
                line=${line#*"$word"}
        done
        mapfile -t lines < <(schedctl __complete "${words[@]:1}" 2>/dev/null)
        word=${words[-1]} skip=${COMP_WORDBREAKS//[!=:]/}
        skip=${word%"${word##*["$skip"]}"} # of the word: bash replaces only what is behind it
        case ${lines[0]-} in
        command*)
                i=${lines[0]#* }
                if declare -F _command_offset >/dev/null; then
                        _command_offset "${at[i]}"
                elif [ "$i" = $((${#words[@]} - 1)) ]; then
                        mapfile -t COMPREPLY < <(compgen -c -- "$word")
                fi
                ;;&
        command* | files*) compopt -o bashdefault -o default ;; # files, where there is nothing else
        words)
                COMPREPLY=()
                for i in "${lines[@]:1}"; do
                        [[ $i == "$word"* ]] || continue
                        i=${i%%$'\t'*}
                        COMPREPLY+=("${i#"$skip"}")
                done
                [[ ${COMPREPLY[0]-} != *[=:] ]] || compopt -o nospace
                ;;
        esac
}

complete -F _schedctl schedctl
