package command

import (
	"slices"
	"strings"

	"birthmark/chains"
	"birthmark/internal/config"
	"birthmark/model"

	"github.com/urfave/cli/v2"
)

// Choice is the values of a flag that depend on the chain.
type Choice struct {
	Chain  string
	Values []string
}

// Choices returns the values of --network and --index for each chain, nil for other flags.
func Choices(flag string) (list []Choice) {
	for _, name := range chains.Names() {
		switch flag {
		case "network":
			list = append(list, Choice{name, chains.Networks(name)})
		case "index":
			indexes := builtIn(name)
			list = append(list, Choice{name, slices.Concat(indexes, config.PresetsOf(indexes))})
		}
	}
	return list
}

func builtIn(name string) (names []string) {
	chain, err := chains.New(name, "")
	if err != nil {
		return nil // a registered chain has its default network
	}
	for _, ix := range model.AllIndexes(chain) {
		names = append(names, ix.Name)
	}
	return names
}

// Alternatives returns the literal words of a placeholder: tip for HASH|HEIGHT|tip, text and json for text|json.
func Alternatives(placeholder string) []string {
	words := strings.Split(strings.Trim(placeholder, "[]"), "|")
	return slices.DeleteFunc(words, func(w string) bool { return w == "" || w != strings.ToLower(w) || w == "-" })
}

// Variable returns the environment variable that sets the same as a flag of c, empty if there is none.
func Variable(c *cli.Command, f cli.Flag) string {
	name := f.Names()[0]
	if _, ok := f.(*cli.BoolFlag); ok || !has(c, "config") || !has(c, "db") && !has(c, "node") {
		return ""
	}
	if name == "config" {
		return configVariable
	}
	return variables()[name]
}

func has(c *cli.Command, flag string) bool {
	return slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return f.Names()[0] == flag })
}
