package help

import (
	_ "embed"
	"slices"
	"strings"

	"birthmark/internal/cli/command"

	"github.com/urfave/cli/v2"
)

// helpText has the description and the examples of each command.
//
//go:embed help.txt
var helpText string

// Page is the help of a command.
type Page struct {
	Name       string // birthmark index add
	Usage      string // one phrase
	Synopsis   string // birthmark index add [flags] NAME
	Paragraphs []string
	Groups     []Group
	Flags      []Flag
	Examples   []string // command lines
}

// Group is subcommands under a heading; the heading can be empty.
type Group struct {
	Name     string
	Commands []*cli.Command
}

// Flag is a flag as the help shows it.
type Flag struct {
	Text     string // --limit N
	Usage    string
	Values   string // by chain: of network and index
	Topic    string // the help topic that lists the values
	Default  string
	Database bool   // selects a database and its settings
	Variable string // the environment variable that sets it too
}

// Of returns the help of a command with the name of its parents, such as "birthmark index add".
func Of(name string, c *cli.Command) *Page {
	p := &Page{Name: name, Usage: c.Usage, Synopsis: c.UsageText}
	_, text, _ := strings.Cut(helpText, "\n# "+name+"\n")
	text, _, _ = strings.Cut(text, "\n# ")
	var description strings.Builder
	for line := range strings.Lines(text) {
		if example, ok := strings.CutPrefix(line, "   $ "); ok {
			p.Examples = append(p.Examples, strings.TrimSpace(example))
		} else {
			description.WriteString(line)
		}
	}
	for paragraph := range strings.SplitSeq(strings.TrimSpace(description.String()), "\n\n") {
		if paragraph != "" {
			p.Paragraphs = append(p.Paragraphs, paragraph)
		}
	}
	for _, sub := range c.Subcommands {
		if sub.Hidden {
			continue
		}
		i := slices.IndexFunc(p.Groups, func(g Group) bool { return g.Name == sub.Category })
		if i < 0 {
			i, p.Groups = len(p.Groups), append(p.Groups, Group{Name: sub.Category})
		}
		p.Groups[i].Commands = append(p.Groups[i].Commands, sub)
	}
	if len(p.Groups) == 1 {
		p.Groups[0].Name = ""
	}
	for _, f := range c.Flags {
		if f.Names()[0] != "help" { // package cli adds it to commands that run
			p.Flags = append(p.Flags, flagOf(c, f))
		}
	}
	p.Flags = append(p.Flags, Flag{Text: "--help, -h", Usage: "show help"})
	return p
}

func flagOf(c *cli.Command, f cli.Flag) Flag {
	names := f.Names()
	doc := f.(cli.DocGenerationFlag)
	value, quoted := placeholder(f)
	show := Flag{Text: "--" + names[0], Usage: unquoted(f), Variable: command.Variable(c, f)}
	for _, alias := range names[1:] {
		show.Text += ", -" + alias
	}
	if doc.TakesValue() {
		show.Default = doc.GetDefaultText()
	}
	show.Values, show.Topic = strings.Join(valuesByChain(names[0]), "; "), topicOf[names[0]]
	show.Database = slices.Contains(ofDatabases, names[0])
	switch {
	case names[0] == "chain":
		show.Text, show.Values = "--chain CHAIN", strings.ReplaceAll(value, "|", ", ")
	case quoted && doc.TakesValue():
		show.Text += " " + value
	case quoted: // the value can be omitted
		show.Text += "[=" + value + "]"
	}
	return show
}

// ofDatabases are the flags of almost all commands, which the help lists last.
var ofDatabases = []string{"db", "memory", "chain", "network", "config"}

// topicOf has the topics of flags whose values depend on the chain.
var topicOf = map[string]string{"chain": "chains", "network": "chains", "index": "indexes"}

// valuesByChain returns the values of a flag for each chain.
func valuesByChain(flag string) (lines []string) {
	for _, choice := range command.Choices(flag) {
		lines = append(lines, choice.Chain+": "+strings.Join(choice.Values, ", "))
	}
	return lines
}

// Topics are the words other than commands that help explains.
func Topics() []string { return []string{"chains", "indexes"} }

// Topic returns the page of a topic.
func Topic(name string) *Page {
	p := &Page{Name: "birthmark help " + name, Synopsis: "birthmark help " + name}
	flag := "network"
	p.Usage = "the chains (--chain) and their networks (--network), the default first"
	if name == "indexes" {
		flag = "index"
		p.Usage = "the built-in indexes of each chain and its presets, for --index and the setting indexes"
	}
	p.Paragraphs = []string{" " + strings.Join(valuesByChain(flag), "\n ")}
	return p
}

// placeholder returns the word of a flag's usage in backquotes, which names its value.
func placeholder(f cli.Flag) (word string, ok bool) {
	_, rest, _ := strings.Cut(f.(cli.DocGenerationFlag).GetUsage(), "`")
	word, _, ok = strings.Cut(rest, "`")
	return word, ok
}

// unquoted returns the usage of a flag without the list of its values, which the name shows.
func unquoted(f cli.Flag) string {
	usage := f.(cli.DocGenerationFlag).GetUsage()
	if values, _ := placeholder(f); strings.Contains(values, "|") {
		usage = strings.Replace(usage, ", `"+values+"`", "", 1)
	}
	return strings.ReplaceAll(usage, "`", "")
}

// note returns the usage of a flag with its values, its default and its environment variable.
func (f *Flag) note(values string) string {
	text := f.Usage
	if values != "" {
		text += ": " + values
	}
	if f.Default != "" {
		text += " (default: " + f.Default + ")"
	}
	if f.Variable != "" {
		text += " [$" + f.Variable + "]"
	}
	return text
}
