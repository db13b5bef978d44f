# bash completion of birthmark: source <(birthmark completion bash)
_birthmark() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            compopt -o default
            return
        fi
        COMPREPLY+=("${line%%$'\t'*}")
    done < <("${COMP_WORDS[0]/#\~/$HOME}" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _birthmark birthmark
