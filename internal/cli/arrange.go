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

// arrange brings arguments into the one order that urfave/cli understands: command, flags, "--", arguments. Users may
// write flags anywhere; what stands after "--" is no flag. Unknown commands and flags, flags without their value and a
// wrong number of arguments are found here.
func arrange(app *cli.App, args []string) ([]string, error) {
	root := &cli.Command{Name: app.Name, Subcommands: app.Commands, Flags: []cli.Flag{cli.HelpFlag}}
	words, err := split(root, args[1:])
	if err != nil {
		return nil, err
	}
	line := []string{args[0]}
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
		if w.flag == "help" {
			help = true
			continue
		}
		f := findFlag(c, w.flag)
		if f == nil && w.flag == "json" {
			continue // says how errors are told, whatever the command
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

// word is one thing on the command line: a flag with its value, or an argument.
type word struct {
	flag     string // its name, "" for an argument
	text     string // the flag's value or the argument
	hasValue bool
	literal  bool // after "--"
}

// split pairs flags with their values. A flag means the same in every command that has it, so that this can be known
// before the command is.
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
		if f := anyFlag(root, w.flag); f != nil && takesValue(f) && !hasValue {
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
		return "", usageError("bad_value", "flag --%s is either there or not: expected no value or true or false, not %q", w.flag, w.text)
	}
	return w.text, nil
}

func unknownCommand(path []*cli.Command, name string) error {
	known := map[string]bool{}
	for _, c := range path[len(path)-1].Subcommands {
		known[c.Name] = true
	}
	return usageError("unknown_command", "unknown command %q%s (%s help lists them)", name, suggest.Hint(name, known), path[0].Name)
}

func unknownFlag(path []*cli.Command, name string) error {
	c := path[len(path)-1]
	known := map[string]bool{"--help": true}
	for _, f := range c.Flags {
		known["--"+f.Names()[0]] = true
	}
	if len(path) == 1 {
		return usageError("unknown_flag", "unknown flag --%s, and no command (birthmark help lists them)", name)
	}
	return usageError("unknown_flag", "unknown flag --%s of %s%s (%s --help lists them)", name, pathName(path),
		suggest.Hint("--"+name, known), pathName(path))
}

func pathName(path []*cli.Command) string {
	names := make([]string, len(path))
	for i, c := range path {
		names[i] = c.Name
	}
	return strings.Join(names, " ")
}

// countArguments compares what is there with the command's ArgsUsage: a word for each argument, in brackets where it
// may be left out.
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

// asksForJSON finds the flag before anything is known to be right, so that what is wrong is told as JSON too.
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

// usageError is an error of the user, who is told what was expected.
func usageError(code, format string, args ...any) error {
	return model.Errorf(model.Usage, code, format, args...)
}

// badFlag is the error of a value that urfave/cli could not read.
func badFlag(err error) error {
	return usageError("bad_value", "%s", strings.Replace(fmt.Sprint(err), " for flag -", " for flag --", 1))
}
