#compdef schedctl
# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of schedctl for zsh. What there is to choose from the program says (ctl/complete/complete.h).

local line word
local -a lines closed open
lines=("${(@f)$(schedctl __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
case $lines[1] in
    (files*)
        compset -p ${#${lines[1]#files }}
        _files
        ;;
    (command*)
        shift ${lines[1]#* } words
        (( CURRENT -= ${lines[1]#* } ))
        _normal
        ;;
    (words)
        for line in "${(@)lines[2,-1]}"; do
            word=${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}
            # Behind = or : it goes on.
            if [[ ${line%%$'\t'*} == *[=:] ]]; then open+=("$word"); else closed+=("$word"); fi
        done
        _describe -t words schedctl closed -- open -S ''
        ;;
esac
