package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"birthmark/internal/suggest"
	"birthmark/model"

	"github.com/urfave/cli/v2"
)

// renamedFlags maps former names of flags to their present ones. Former names are accepted with a warning until the first
// tagged release.
var renamedFlags = map[string]string{
	"rate": "rate-limit", "cors": "cors-origins", "proxies": "trusted-proxies", "to-tip": "until-tip",
	"keep": "reuse-db", "pace": "rps", "kinds": "per-kind", "fresh": "no-cache",
}

// arrange brings the arguments into the order that urfave/cli requires: command, flags, "--", arguments. Users can place
// flags anywhere before "--". It returns errors for unknown commands and flags, missing values of flags and a wrong number
// of arguments, and warnings for former names of flags.
func arrange(app *cli.App, args []string) (line, warnings []string, err error) {
	root := &cli.Command{Name: app.Name, Subcommands: app.Commands, Flags: []cli.Flag{cli.HelpFlag}}
	words, err := split(root, args[1:])
	if err != nil {
		return nil, nil, err
	}
	for i, w := range words {
		if present, ok := renamedFlags[w.flag]; ok {
			warnings = append(warnings, fmt.Sprintf("flag --%s is now called --%s; the old name will be removed", w.flag, present))
			words[i].flag = present
		}
	}
	line, err = arranged(root, args[0], words)
	return line, warnings, err
}

func arranged(root *cli.Command, program string, words []word) ([]string, error) {
	line := []string{program}
	path := []*cli.Command{root}
	var rest []string
	for _, w := range words {
		c := path[len(path)-1]
		switch {
		case w.flag != "":
		case rest != nil || len(c.Subcommands) == 0 || w.literal:
			rest = append(rest, w.text)
		default:
			sub := c.Command(w.text)
			if sub == nil {
				return nil, unknownCommand(path, w.text)
			}
			path = append(path, sub)
			line = append(line, sub.Name)
		}
	}
	c := path[len(path)-1]
	help := false
	var flags []string
	for _, w := range words {
		if w.flag == "" {
			continue
		}
		switch {
		case w.flag == "help":
			help = true
			continue
		case w.flag == "version" && c == root:
			return append(line, "version"), nil
		}
		f := findFlag(c, w.flag)
		if f == nil && w.flag == "json" {
			continue // selects the format of errors for every command
		}
		if f == nil {
			return nil, unknownFlag(path, w.flag)
		}
		value, err := flagValue(f, w)
		if err != nil {
			return nil, err
		}
		flags = append(flags, "--"+w.flag+"="+value)
	}
	switch {
	case c == root:
		return append(line, "help"), nil
	case help:
		return append(line, "--help"), nil
	}
	if err := countArguments(path, rest); err != nil {
		return nil, err
	}
	return append(append(append(line, flags...), "--"), rest...), nil
}

// word is a flag with its value, or an argument.
type word struct {
	flag     string // its name, "" for an argument
	text     string // the flag's value or the argument
	hasValue bool
	literal  bool // after "--"
}

// split pairs flags with their values. A flag has the same type in every command, so that this does not need the command.
func split(root *cli.Command, args []string) ([]word, error) {
	var words []word
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			for _, a := range args[i+1:] {
				words = append(words, word{text: a, literal: true})
			}
			break
		}
		if len(a) < 2 || a[0] != '-' {
			words = append(words, word{text: a})
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimPrefix(a[1:], "-"), "=")
		w := word{flag: name, text: value, hasValue: hasValue}
		if name == "h" {
			w.flag = "help"
		}
		if present, ok := renamedFlags[name]; ok {
			name = present
		}
		if f := anyFlag(root, name); f != nil && takesValue(f) && !hasValue {
			if i+1 == len(args) {
				return nil, usageError("missing_value", "flag --%s needs a value", name)
			}
			i++
			if next := args[i]; len(next) > 2 && next[:2] == "--" {
				return nil, usageError("missing_value", "flag --%s needs a value; %s follows it (write --%s=%s if that is the value)",
					name, next, name, next)
			}
			w.text, w.hasValue = args[i], true
		}
		words = append(words, w)
	}
	return words, nil
}

func findFlag(c *cli.Command, name string) cli.Flag {
	for _, f := range c.Flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

func anyFlag(c *cli.Command, name string) cli.Flag {
	if f := findFlag(c, name); f != nil {
		return f
	}
	for _, sub := range c.Subcommands {
		if f := anyFlag(sub, name); f != nil {
			return f
		}
	}
	return nil
}

func takesValue(f cli.Flag) bool {
	_, isBool := f.(*cli.BoolFlag)
	return !isBool
}

func flagValue(f cli.Flag, w word) (string, error) {
	if takesValue(f) {
		return w.text, nil
	}
	if !w.hasValue {
		return "true", nil
	}
	if _, err := strconv.ParseBool(w.text); err != nil {
		return "", usageError("bad_value", "flag --%s takes no value other than true or false, not %q", w.flag, w.text)
	}
	return w.text, nil
}

func unknownCommand(path []*cli.Command, name string) error {
	known := map[string]bool{}
	for _, c := range path[len(path)-1].Subcommands {
		known[c.Name] = true
	}
	return usageError("unknown_command", "unknown command %q%s (run %s help)", name, suggest.Hint(name, known), path[0].Name)
}

func unknownFlag(path []*cli.Command, name string) error {
	c := path[len(path)-1]
	known := map[string]bool{"--help": true}
	for _, f := range c.Flags {
		known["--"+f.Names()[0]] = true
	}
	if len(path) == 1 {
		return usageError("unknown_flag", "unknown flag --%s, and no command (run birthmark help)", name)
	}
	return usageError("unknown_flag", "unknown flag --%s of %s%s (run %s --help)", name, pathName(path),
		suggest.Hint("--"+name, known), pathName(path))
}

func pathName(path []*cli.Command) string {
	names := make([]string, len(path))
	for i, c := range path {
		names[i] = c.Name
	}
	return strings.Join(names, " ")
}

// countArguments checks the number of arguments against the command's ArgsUsage, which has a word per argument, in brackets
// if it is optional.
func countArguments(path []*cli.Command, args []string) error {
	c := path[len(path)-1]
	if len(c.Subcommands) > 0 {
		names := make([]string, len(c.Subcommands))
		for i, sub := range c.Subcommands {
			names[i] = sub.Name
		}
		return usageError("missing_argument", "%s needs one of %s", pathName(path), strings.Join(names, ", "))
	}
	expected := strings.Fields(c.ArgsUsage)
	for i, name := range expected {
		if i < len(args) && args[i] == "" {
			return usageError("missing_argument", "%s is empty: expected %s", name, c.UsageText)
		}
		if i >= len(args) && !strings.HasPrefix(name, "[") {
			return usageError("missing_argument", "missing argument %s: expected %s", name, c.UsageText)
		}
	}
	if len(args) > len(expected) {
		return usageError("unexpected_argument", "unexpected argument %q: expected %s", args[len(expected)], c.UsageText)
	}
	return nil
}

// asksForJSON finds --json before the arguments are checked, so that errors in them are printed as JSON too.
func asksForJSON(args []string) bool {
	asks := false
	for _, a := range args[min(1, len(args)):] {
		switch a {
		case "--":
			return asks
		case "--json", "-json", "--json=true", "-json=true":
			asks = true
		case "--json=false", "-json=false":
			asks = false
		}
	}
	return asks
}

// usageError returns an error of kind Usage.
func usageError(code, format string, args ...any) error {
	return model.Errorf(model.Usage, code, format, args...)
}

// badFlag returns the error of a value that urfave/cli cannot parse.
func badFlag(err error) error {
	return usageError("bad_value", "%s", strings.Replace(fmt.Sprint(err), " for flag -", " for flag --", 1))
}
