# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of schedctl for fish. What there is to choose from the program says (ctl/complete/complete.h).

function __schedctl_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l lines (schedctl __complete $words[2..-1] "$word" 2>/dev/null)
    set -l kind (string split -m 1 ' ' -- $lines[1])
    switch "$kind[1]"
        case words
            printf '%s\n' $lines[2..-1]
        case files
            set -l begun (string sub -s (math 1 + (string length -- "$kind[2]")) -- "$word")
            printf "$kind[2]"'%s\n' (__fish_complete_path "$begun")
        case command
            set -l command $words[(math 1 + $kind[2])..-1] "$word"
            complete -C "$command"
    end
end

complete -c schedctl -f -k -a '(__schedctl_complete)'
