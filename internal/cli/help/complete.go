package help

import (
	"fmt"
	"slices"
	"strings"

	"birthmark/internal/cli/command"

	"github.com/urfave/cli/v2"
)

// Files is the completion of a word that names a file.
const Files = ":files"

// Complete returns the completions of the last word of a command line, without the name of the program: words with a
// description after a tab, or [Files].
func Complete(commands []*cli.Command, words []string) []string {
	line := &commandLine{at: &cli.Command{Subcommands: commands}}
	last := ""
	if n := len(words); n > 0 {
		last, words = words[n-1], words[:n-1]
	}
	if last == "=" { // bash makes it a word of its own
		last = ""
	}
	for _, word := range words {
		line.read(word)
	}
	var found []string
	switch name, _, given := strings.Cut(last, "="); {
	case line.flag != nil:
		found = line.values()
	case given && strings.HasPrefix(name, "-") && !line.closed:
		if line.read(name); line.flag == nil {
			return nil
		}
		for _, value := range line.values() {
			if value != Files { // shells complete only whole words as files
				found = append(found, name+"="+value)
			}
		}
	case strings.HasPrefix(last, "-") && !line.closed:
		found = line.flags()
	case len(line.at.Subcommands) > 0:
		found = subcommands(line.at)
	default:
		found = line.arguments(commands)
	}
	return slices.DeleteFunc(found, func(f string) bool { return f != Files && !strings.HasPrefix(f, last) })
}

// commandLine is the words before the one to complete.
type commandLine struct {
	at     *cli.Command
	args   []string
	chain  string
	flag   cli.Flag // its value follows; nil: none
	closed bool     // after "--"
}

func (l *commandLine) read(word string) {
	switch {
	case word == "=":
	case l.flag != nil:
		l.value(word)
	case !l.closed && word == "--":
		l.closed = true
	case !l.closed && len(word) > 1 && word[0] == '-':
		name, value, given := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if l.flag = flagNamed(l.at, name); l.flag != nil && given {
			l.value(value)
		}
	case len(l.args) == 0 && l.at.Command(word) != nil:
		l.at = l.at.Command(word)
	default:
		l.args = append(l.args, word)
	}
}

// value ends a flag.
func (l *commandLine) value(word string) {
	if l.flag.Names()[0] == "chain" {
		l.chain = word
	}
	l.flag = nil
}

// flagNamed returns the flag of a name if it takes a value, searching subcommands too, because flags can precede the
// command.
func flagNamed(c *cli.Command, name string) cli.Flag {
	for _, f := range c.Flags {
		if doc := f.(cli.DocGenerationFlag); f.Names()[0] == name && doc.TakesValue() {
			return f
		}
	}
	for _, sub := range c.Subcommands {
		if f := flagNamed(sub, name); f != nil {
			return f
		}
	}
	return nil
}

// values returns the values of the flag before the word.
func (l *commandLine) values() []string {
	name := l.flag.Names()[0]
	if list := l.choices(name); list != nil {
		return list
	}
	word, _ := placeholder(l.flag)
	if words := command.Alternatives(word); len(words) > 0 {
		return words
	}
	if word == "FILE" || word == "DIR" || word == "URI" {
		return []string{Files}
	}
	return nil
}

// choices returns the values that depend on the chain, of all chains if none is selected.
func (l *commandLine) choices(flag string) (list []string) {
	for _, c := range command.Choices(flag) {
		for _, value := range c.Values {
			if (l.chain == "" || l.chain == c.Chain) && !slices.Contains(list, value) {
				list = append(list, value)
			}
		}
	}
	return list
}

func (l *commandLine) flags() (list []string) {
	for _, f := range l.at.Flags {
		list = append(list, fmt.Sprintf("--%s\t%s", f.Names()[0], unquoted(f)))
	}
	return append(list, "--help\tshow help")
}

func subcommands(c *cli.Command) (list []string) {
	for _, sub := range c.Subcommands {
		if !sub.Hidden {
			list = append(list, sub.Name+"\t"+sub.Usage)
		}
	}
	return list
}

// arguments returns the completions of the argument at the position of the word.
func (l *commandLine) arguments(commands []*cli.Command) []string {
	if l.at.Name == "help" {
		at := &cli.Command{Subcommands: commands}
		if len(l.args) == 0 {
			return append(subcommands(at), Topics()...)
		}
		for _, word := range l.args {
			if at = at.Command(word); at == nil {
				return nil
			}
		}
		return subcommands(at)
	}
	expected := strings.Fields(l.at.ArgsUsage)
	if len(l.args) >= len(expected) {
		return nil
	}
	switch word := expected[len(l.args)]; {
	case strings.Trim(word, "[]") == "INDEX", word == "NAME" && strings.HasPrefix(l.at.UsageText, "birthmark index "):
		return l.choices("index")
	case strings.Contains(word, "FILE"), strings.Contains(word, "DIR"):
		return []string{Files}
	default:
		return command.Alternatives(word)
	}
}
