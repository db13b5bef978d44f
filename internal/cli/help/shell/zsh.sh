#compdef birthmark
# zsh completion of birthmark: source <(birthmark completion zsh), after compinit
_birthmark() {
    local line
    local -a found
    for line in "${(@f)$("${words[1]/#\~/$HOME}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        if [[ $line == :files ]]; then
            _files
            return
        fi
        [[ -n $line ]] && found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    _describe 'birthmark' found
}
# As a file in fpath, this script is the body of the function on its first call.
if [[ ${funcstack[1]} == _birthmark ]]; then
    _birthmark "$@"
else
    compdef _birthmark birthmark
fi
