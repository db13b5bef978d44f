package help

import (
	_ "embed"
	"maps"
	"slices"
)

var (
	//go:embed shell/bash.sh
	bash string
	//go:embed shell/zsh.sh
	zsh string
	//go:embed shell/fish.fish
	fish string
)

var scripts = map[string]string{"bash": bash, "zsh": zsh, "fish": fish}

// Shells returns the shells that have a completion script.
func Shells() []string { return slices.Sorted(maps.Keys(scripts)) }

// Script returns the completion script of a shell. It calls the hidden command __complete; ok is false if there is none.
func Script(shell string) (script string, ok bool) {
	script, ok = scripts[shell]
	return script, ok
}
