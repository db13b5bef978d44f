package cli

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"birthmark/internal/cli/command"
)

// The examples in the help are valid command lines of the commands that they explain.
func TestExamplesInTheHelpAreValid(t *testing.T) {
	t.Parallel()
	invocation := regexp.MustCompile(`\bbirthmark [^|>)]*`)
	for _, page := range manPages(testProgram(nil, nil, nil).app()) {
		if len(page.Examples) == 0 {
			t.Errorf("%s has no example", page.Name)
		}
		for _, example := range page.Examples {
			p := testProgram(nil, nil, nil)
			app, ran := p.app(), ""
			var check func(cs []*cli.Command)
			check = func(cs []*cli.Command) {
				for _, c := range cs {
					if len(c.Subcommands) == 0 {
						c.Action = func(ctx *cli.Context) error {
							ran = ctx.Command.HelpName
							return command.CheckArguments(ctx)
						}
					}
					check(c.Subcommands)
				}
			}
			check(app.Commands)
			line, err := p.Reorder(app, strings.Fields(invocation.FindString(example)))
			if err == nil {
				err = app.RunContext(context.Background(), line)
			}
			if err != nil || !strings.HasPrefix(ran, page.Name) {
				t.Errorf("%s: the example %q runs %q: %v", page.Name, example, ran, err)
			}
		}
	}
}

// Help fits the width of the terminal. Only words longer than a line exceed it, and no word is missing.
func TestHelpFitsTheTerminal(t *testing.T) {
	t.Parallel()
	for _, page := range manPages(testProgram(nil, nil, nil).app()) {
		var words []string
		for _, width := range []int{10_000, 100, 80, 40} {
			var b strings.Builder
			if err := page.Print(&b, width); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(b.String()) {
				line = strings.TrimRight(line, "\n")
				text := strings.TrimSuffix(strings.TrimLeft(line, " "), " \\")
				name := strings.HasPrefix(text, "--") && strings.Count(text, " ") == 1 // --flag VALUE
				if utf8.RuneCountInString(line) > width && strings.Contains(text, " ") && !name {
					t.Errorf("%s: wider than %d: %q", page.Name, width, line)
				}
			}
			got := slices.DeleteFunc(strings.Fields(b.String()), func(w string) bool { return w == "\\" })
			if words == nil {
				words = got
			}
			if !slices.Equal(got, words) {
				t.Errorf("%s: the help for width %d has different words:\n%s", page.Name, width, b.String())
			}
		}
	}
}

// The help names the values of flags and the environment variables that set them.
func TestHelpNamesValuesAndVariables(t *testing.T) {
	t.Parallel()
	text := strings.Join(strings.Fields(birthmark("sync", "--help").stdout), " ")
	for _, want := range []string{
		"--chain CHAIN", "birthmark help chains", "[$BIRTHMARK_CHAIN]", "[$BIRTHMARK_NETWORK]", "birthmark help indexes",
		"[$BIRTHMARK_INDEXES]", "DATABASE FLAGS:", "--raw[=keep|files|node]", "[$BIRTHMARK_CONFIG]", "[$BIRTHMARK_PASSWORD_FILE]",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the help of sync lacks %q:\n%s", want, text)
		}
	}
	for topic, want := range map[string]string{"chains": "ergo: mainnet, testnet", "indexes": "bitcoin: address, script_hash"} {
		r := birthmark("help", topic)
		if r.status != exitDone || !strings.Contains(r.stdout, want) {
			t.Errorf("help %s lacks %q: %+v", topic, want, r)
		}
		if strings.Contains(text, want) {
			t.Errorf("the help of sync repeats that of %s", topic)
		}
	}
	if text := birthmark("schema", "--help").stdout; strings.Contains(text, "BIRTHMARK") {
		t.Errorf("schema does not depend on the environment:\n%s", text)
	}
}

// Every command has a man page, with requests that man(7) defines.
func TestManPagesAreComplete(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "man1")
	if r := birthmark("man", dir); r.status != exitDone {
		t.Fatalf("%+v", r)
	}
	request := regexp.MustCompile(`^\.(TH|SH|SS|TP|PP|B|BR|br|nf|fi)\b`)
	for _, page := range manPages(testProgram(nil, nil, nil).app()) {
		name := strings.ReplaceAll(page.Name, " ", "-")
		text, err := os.ReadFile(filepath.Join(dir, name+".1"))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, want := range []string{".SH NAME\n" + strings.ReplaceAll(name, "-", `\-`) + ` \- `, "\n.SH OPTIONS\n", "\n.SH EXAMPLES\n", "\n.SH SEE ALSO\n"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s.1 lacks %q", name, want)
			}
		}
		for line := range strings.Lines(string(text)) {
			if (line[0] == '.' || line[0] == '\'') && !request.MatchString(line) {
				t.Errorf("%s.1: unknown request %q", name, line)
			}
		}
	}
}
