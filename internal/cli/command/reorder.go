package command

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"birthmark/internal/suggest"

	"github.com/urfave/cli/v2"
)

// renamedFlags maps former names of flags to their present ones. Former names are accepted with a warning until the
// first tagged release.
var renamedFlags = map[string]string{
	"rate": "rate-limit", "cors": "cors-origins", "proxies": "trusted-proxies", "to-tip": "until-tip",
	"keep": "reuse-db", "pace": "rps", "kinds": "per-kind", "fresh": "no-cache", "cursor": "follower",
}

// renamedCommands maps former names of commands likewise.
var renamedCommands = map[string]string{"cursor": "follower"}

// replacedCommands maps commands of earlier releases to the commands that replace them.
var replacedCommands = map[string]string{
	"raw": "birthmark index add raw, with --raw=files for the places in the node's block files",
}

// Reorder brings arguments into the order that urfave/cli requires: commands, flags, "--", arguments. Users can place
// flags anywhere before "--". It reads --json, which every command accepts and which applies to errors too.
func (p *Env) Reorder(app *cli.App, args []string) (line []string, err error) {
	at := &cli.Command{Subcommands: app.Commands}
	line = []string{app.Name}
	takesValue := flagsWithValue(at.Subcommands)
	var flags, rest []string
	for i := 1; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--":
			rest = append(rest, args[i+1:]...)
			i = len(args)
		case len(a) > 1 && a[0] == '-':
			if strings.Trim(a[1:], "0123456789") == "" {
				err = cmp.Or(err, UsageError("bad_value", "%s: negative numbers are not supported; tip%s is that many blocks below the tip", a, a))
				break
			}
			name, value, hasValue := strings.Cut(strings.TrimPrefix(a[1:], "-"), "=")
			if present, ok := renamedFlags[name]; ok && !hasFlag(at, name) {
				w := fmt.Sprintf("flag --%s is now called --%s; the old name will be removed", name, present)
				p.Warnings = append(p.Warnings, w)
				name = present
			}
			if takesValue[name] && !hasValue {
				if i++; i == len(args) {
					err = cmp.Or(err, UsageError("missing_value", "flag --%s needs a value", name))
					break
				}
				value, hasValue = args[i], true
				if len(value) > 2 && value[:2] == "--" {
					err = cmp.Or(err, UsageError("missing_value",
						"flag --%s needs a value; %s follows it (write --%s=%s if that is the value)", name, value, name, value))
				}
			}
			switch {
			case name == "json":
				var wrong error
				if p.JSON, wrong = strconv.ParseBool(cmp.Or(value, "true")); wrong != nil {
					err = cmp.Or(err, UsageError("bad_value", "--json: expected true or false, not %q", value))
				}
			case hasValue:
				flags = append(flags, "--"+name+"="+value)
			default:
				flags = append(flags, "--"+name)
			}
		case len(rest) == 0 && at.Command(a) != nil:
			at, line = at.Command(a), append(line, a)
		case len(rest) == 0 && len(line) == 1 && renamedCommands[a] != "":
			p.Warnings = append(p.Warnings, fmt.Sprintf("command %s is now called %s; the old name will be removed", a, renamedCommands[a]))
			at, line = at.Command(renamedCommands[a]), append(line, renamedCommands[a])
		default:
			rest = append(rest, a)
		}
	}
	if len(line) == 1 && len(rest) > 0 && replacedCommands[rest[0]] != "" {
		err = cmp.Or(err, UsageError("unknown_command", "the command %s was replaced: run %s", rest[0], replacedCommands[rest[0]]))
	}
	if len(at.Subcommands) > 0 && len(rest) > 0 {
		err = cmp.Or(err, UsageError("unknown_command", "unknown command %q%s (run %s --help)",
			rest[0], suggest.Hint(rest[0], CommandsOf(at)), strings.Join(line, " ")))
	}
	if slices.Contains(flags, "--help") || slices.Contains(flags, "--h") {
		rest = nil // urfave/cli would look for help about the first argument
	}
	return append(append(append(line, flags...), "--"), rest...), err
}

// flagsWithValue returns the names of flags that need a value. A flag has the same type in every command.
func flagsWithValue(commands []*cli.Command) map[string]bool {
	names := map[string]bool{}
	for _, c := range commands {
		for _, f := range c.Flags {
			if d, ok := f.(cli.DocGenerationFlag); ok && d.TakesValue() {
				names[f.Names()[0]] = true
			}
		}
		maps.Copy(names, flagsWithValue(c.Subcommands))
	}
	return names
}

// hasFlag reports whether a command has a flag, which may have the former name of another command's.
func hasFlag(c *cli.Command, name string) bool {
	return slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
}

func CommandsOf(c *cli.Command) map[string]*cli.Command {
	names := map[string]*cli.Command{}
	for _, sub := range c.Subcommands {
		names[sub.Name] = sub
	}
	return names
}

// FlagError returns the error of the command line for an error of package flag. flags are the flags of the command.
func FlagError(name string, flags []cli.Flag, err error) error {
	if flag, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); ok {
		known := map[string]bool{"--help": true}
		for _, f := range flags {
			known["--"+f.Names()[0]] = true
		}
		dashes := "--"
		if len(flag) == 1 {
			dashes = "-"
		}
		return UsageError("unknown_flag", "unknown flag %s%s of %s%s (run %s --help)",
			dashes, flag, name, suggest.Hint("--"+flag, known), name)
	}
	text := strings.NewReplacer(" for -", " for --", "parse error", "expected true or false").Replace(err.Error())
	return UsageError("bad_value", "%s", text)
}

// AnyArguments is the ArgsUsage of a command with any number of arguments, which can be empty.
const AnyArguments = "..."

// ValuesFile is the flag that makes all arguments of its command optional.
const ValuesFile = "values-file"

// CheckArguments checks the number of arguments against the command's ArgsUsage, which has a word per argument, in
// brackets if it is optional.
func CheckArguments(c *cli.Context) error {
	if c.Command.ArgsUsage == AnyArguments {
		return nil
	}
	expected := strings.Fields(c.Command.ArgsUsage)
	var required []string
	for _, name := range expected {
		if !strings.HasPrefix(name, "[") {
			required = append(required, name)
		}
	}
	for i, arg := range c.Args().Slice()[:min(c.NArg(), len(expected))] {
		if arg == "" {
			return UsageError("missing_argument", "%s is empty: expected %s", expected[i], c.Command.UsageText)
		}
	}
	if c.NArg() < len(required) && !c.IsSet(ValuesFile) {
		return UsageError("missing_argument", "missing argument %s: expected %s", required[c.NArg()], c.Command.UsageText)
	}
	if c.NArg() > len(expected) {
		return UsageError("unexpected_argument", "unexpected argument %q: expected %s",
			c.Args().Get(len(expected)), c.Command.UsageText)
	}
	return nil
}
