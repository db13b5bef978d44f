package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"birthmark/bench/benchcmd"

	"github.com/urfave/cli/v2"
)

// Wrong usage returns exit status 2 and an error with the expected form.
func TestWrongUsageNamesTheExpectedForm(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "birthmark.yaml")
	write(t, file, "memory: 1GiB\nchane: bitcoin\n")
	indexes := filepath.Join(dir, "indexes.yaml")
	write(t, indexes, "chain: bitcoin\n\nindexes:\n  adress: {}\n")
	network := filepath.Join(dir, "network.yaml")
	write(t, network, "chain: bitcoin\nnetwork: tesnet3\n")
	several := filepath.Join(dir, "several.yaml")
	write(t, several, "chains:\n- {chain: bitcoin, db: a}\n- {chain: bitcoin, network: signet, db: b}\n")
	q := regexp.QuoteMeta
	for _, c := range []struct {
		args          string
		code, message string
	}{
		{"blcok tip", "unknown_command", `^unknown command "blcok"; did you mean "block"\?`},
		{"zebra", "unknown_command", `^unknown command "zebra" \(run birthmark --help\)$`},
		{"index foo", "unknown_command", `^unknown command "foo" \(run birthmark index --help\)$`},
		{"block -1", "bad_value", `^-1: negative numbers are not supported; tip-1 is that many blocks below the tip$`},
		{"help fnd", "unknown_command", `^unknown command "fnd"; did you mean "find"\?`},
		{"bench apend", "unknown_command", `^unknown command "apend"; did you mean "append"\?`},
		{"bench", "missing_argument", `^birthmark bench needs one of append`},
		{"--frob", "unknown_flag", `^unknown flag --frob of birthmark \(run birthmark --help\)$`},
		{"find --limt 3 address X", "unknown_flag", `^unknown flag --limt of birthmark find; did you mean "--limit"\?`},
		{"status --unspent", "unknown_flag", `^unknown flag --unspent of birthmark status \(run birthmark status --help\)$`},
		{"find -x", "unknown_flag", `^unknown flag -x of birthmark find`},
		{"status --db", "missing_value", `^flag --db needs a value$`},
		{"status --db --memory 1GiB", "missing_value", `^flag --db needs a value; --memory follows it \(write --db=--memory if that is the value\)$`},
		{"-x", "unknown_flag", `^unknown flag -x of birthmark `},
		{"completion csh", "bad_value", `^unknown shell "csh": expected bash, fish, zsh$`},
		{"find --unspent=perhaps address X", "bad_value", `^invalid boolean value "perhaps" for --unspent: expected true or false$`},
		{"tx", "missing_argument", `^missing argument HASH: expected birthmark tx \[flags\] HASH$`},
		{"find", "missing_argument", `^missing argument VALUE: expected birthmark find \[flags\] \[INDEX\] VALUE$`},
		{"block tip tip", "unexpected_argument", `^unexpected argument "tip": expected birthmark block \[flags\] HASH\|HEIGHT\|tip\|tip-N\|genesis$`},
		{"status here", "unexpected_argument", `^unexpected argument "here": expected birthmark status \[flags\]$`},
		{"status", "missing_flag", `^missing --db DIR`},
		{"sync --db " + dir, "missing_flag", `^missing --source URI`},
		{"sync --db " + dir + "/new --source file:///x", "missing_flag", `^missing --chain: expected .*bitcoin`},
		{"sync --db " + dir + "/new --source file:///x --chain doge", "unknown_chain", `^--chain: unknown chain "doge": expected .*bitcoin`},
		{"sync --db " + dir + "/new --source file:///x --chain bitcoin --network mars", "unknown_network", `^--network: .*mars.*mainnet.*regtest`},
		{"sync --db " + dir + "/new --source file:///x --chain bitcoin --index address,adress", "unknown_index", `^--index: bitcoin has no index "adress"; it offers address, `},
		{"sync --db " + dir + "/new --source file:///x --chain bitcoin --index address,,", "bad_setting", `^--index: "address,," is not a list`},
		{"sync --db " + dir + "/new --source gopher://x --chain bitcoin", "bad_source", `gopher`},
		{"sync --db " + dir + "/new --source file:///x --chain bitcoin --to-height -1", "bad_value", `^--to-height: expected a height from 0 to 41943039, not "-1"$`},
		{"sync --db " + dir + "/new --source file:///x --chain bitcoin --to-height 41943040", "bad_value", `^--to-height: expected a height`},
		{"sync --db " + dir + "/new --source file:///x --chain bitcoin --wal=maybe", "bad_setting", `^--wal: "maybe" is not on or off$`},
		{"sync --db " + dir + "/new --source file:///x --chain bitcoin --memory 10MiB", "bad_setting", `^--memory: 10MiB is too little: expected at least 64MiB$`},
		{"sync --db " + dir + "/new --source file:///x --chain bitcoin --memory much", "bad_setting", `^--memory: "much" is not a size such as 4GiB`},
		{"sync --db " + dir + "/new --source file:///x --chain bitcoin --cpuprofile " + dir, "bad_value", `^--cpuprofile: `},
		{"sync --db " + dir + "/new --source file:///x --chain bitcoin --proxy tor", "bad_setting", `^--proxy: "tor" is not a SOCKS5 proxy such as socks5://`},
		{"sync --db " + dir + "/new --source file:///x --chain bitcoin --password-file " + dir + "/none", "bad_setting", `^--password-file: open .*no such file`},
		{"rollback --db " + dir, "missing_flag", `^missing --to-height H`},
		{"rollback --db " + dir + " --to-height top", "bad_value", `^--to-height: expected a height from 0 to 41943039, not "top"$`},
		{"decode -", "missing_flag", `^missing --chain: expected `},
		{"decode - --chain bitcoin --index pubkye", "unknown_index", `^--index: bitcoin has no index "pubkye"`},
		{"decode - --chain bitcoin --height x", "bad_value", `^--height: expected a height`},
		{"dump --db " + dir + " --json", "bad_value", `^--json needs --digest: rows are not printed as JSON$`},
		{"config --config " + dir + "/none.yaml", "no_settings", `^--config: open .*none.yaml: no such file or directory: expected a YAML file, as birthmark init writes it$`},
		{"config --config " + file, "bad_setting", `^` + q(file) + `:2: unknown setting "chane"; did you mean "chain"\?$`},
		{"config --config " + indexes, "unknown_index", `^` + q(indexes) + `:4: bitcoin has no index "adress"; it offers address, `},
		{"config --config " + network, "unknown_network", `^` + q(network) + `:2: .*tesnet3`},
		{"status --config " + several, "which_chain", `^the settings have 2 chains \(bitcoin, bitcoin/signet\): select one with --chain`},
		{"status --chain bitcoi", "unknown_chain", `^--chain: unknown chain "bitcoi": expected bitcoin, `},
		{"serve --chain bitcoin --network mainet", "unknown_network", `^--network: unknown network "mainet" of bitcoin: expected mainnet, `},
		{"config --memory 1KiB", "bad_setting", `^--memory: 1KiB is too little: expected at least 64MiB$`},
		{"schema --chain moon", "unknown_chain", `^--chain: unknown chain "moon"`},
	} {
		args := strings.Fields(c.args)
		if slices.Contains(args, "--json") {
			args = slices.DeleteFunc(args, func(a string) bool { return a == "--json" })
			r := birthmark(append(args, "--json")...)
			if r.status != exitUsage || !regexp.MustCompile(`"code":"`+c.code).MatchString(r.stdout) {
				t.Errorf("birthmark %s: %+v", c.args, r)
			}
			continue
		}
		wantFailure(t, exitUsage, c.code, c.message, args...)
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "new")); err == nil {
		t.Errorf("wrong use left %v behind", entries)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Users can place flags before and after arguments.
func TestFlagsCanBeAnywhere(t *testing.T) {
	t.Parallel()
	const want = "birthmark find --db=D --limit=5 -- address X"
	for _, line := range []string{
		"find --db D --limit 5 --json address X",
		"find address X --db D --limit 5 --json",
		"--db D find address --limit=5 X --json",
		"find --db=D address --limit 5 X --json=true",
		"find -db D -limit 5 -json address X",
		"find --db D address X --limit 5 --json --",
		"--db D --limit 5 --json find address -- X",
	} {
		p := testProgram(nil, nil, nil)
		got, err := p.Reorder(p.app(), append([]string{"birthmark"}, strings.Fields(line)...))
		if err != nil || strings.Join(got, " ") != want || !p.JSON {
			t.Errorf("%s: %v, %v, JSON %v", line, got, err, p.JSON)
		}
	}
}

// After "--" there are no flags, and "-" is an argument.
func TestArgumentsCanBeginWithADash(t *testing.T) {
	t.Parallel()
	p := testProgram(nil, nil, nil)
	got, err := p.Reorder(p.app(), []string{"birthmark", "find", "address", "--db=D", "--", "--json"})
	if err != nil || !slices.Equal(got, []string{"birthmark", "find", "--db=D", "--", "address", "--json"}) || p.JSON {
		t.Errorf("%q, %v, JSON %v", got, err, p.JSON)
	}
	got, err = p.Reorder(p.app(), []string{"birthmark", "decode", "-", "--chain", "bitcoin"})
	if err != nil || !slices.Equal(got, []string{"birthmark", "decode", "--chain=bitcoin", "--", "-"}) {
		t.Errorf("%q, %v", got, err)
	}
}

// reorder pairs flags with values before it parses the command, so a name must have the same type in all commands.
func TestAFlagHasOneTypeInAllCommands(t *testing.T) {
	t.Parallel()
	boolean := map[string]bool{}
	var visit func(c *cli.Command)
	visit = func(c *cli.Command) {
		for _, f := range c.Flags {
			d, ok := f.(cli.DocGenerationFlag)
			is := ok && !d.TakesValue()
			for _, name := range f.Names() {
				if before, ok := boolean[name]; ok && before != is {
					t.Errorf("--%s of %s differs from that of another command", name, c.Name)
				}
				boolean[name] = is
			}
		}
		for _, sub := range c.Subcommands {
			visit(sub)
		}
	}
	for _, c := range testProgram(nil, nil, nil).app().Commands {
		visit(c)
	}
}

func TestHelpShowsEveryCommandOfTheContract(t *testing.T) {
	t.Parallel()
	r := birthmark()
	if r.status != exitDone || r.stderr != "" {
		t.Errorf("birthmark alone: %+v", r)
	}
	for _, same := range [][]string{{"help"}, {"--help"}, {"-h"}} {
		if other := birthmark(same...); other != r {
			t.Errorf("birthmark %s differs from birthmark alone: %+v", same, other)
		}
	}
	for _, name := range strings.Fields(`sync status block tx output find history balance asset asset-events asset-holders
		rollback check index decode schema config richest blocks values assets follower dump version bench`) {
		if !strings.Contains(r.stdout, " "+name+" ") {
			t.Errorf("help does not show %s", name)
		}
		h := birthmark("help", name)
		if h.status != exitDone || !strings.HasPrefix(h.stdout, "birthmark "+name+" ") {
			t.Errorf("help %s: %+v", name, h)
		}
		if other := birthmark(name, "--help"); other != h {
			t.Errorf("%s --help differs from help %s: %+v", name, name, other)
		}
	}
	for _, line := range [][]string{{"find", "address", "X", "--help"}, {"find", "--limit=5", "-h", "address", "X"}} {
		if r := birthmark(line...); r != birthmark("help", "find") {
			t.Errorf("%s differs from the help of find: %+v", line, r)
		}
	}
	for _, c := range testProgram(nil, nil, nil).app().Commands {
		for _, sub := range c.Subcommands {
			if h := birthmark("help", c.Name, sub.Name); h.status != exitDone || h != birthmark(c.Name, sub.Name, "--help") {
				t.Errorf("help %s %s: %+v", c.Name, sub.Name, h)
			}
		}
	}
	if r := birthmark("help", "bench", "tip"); !strings.Contains(r.stdout, fmt.Sprintf("%d transactions", benchcmd.TipTxs)) {
		t.Errorf("help bench tip has another number of transactions: %s", r.stdout)
	}
	if r, other := birthmark("--version"), birthmark("version"); r != other || r != birthmark("-V") || r.status != exitDone {
		t.Errorf("--version: %+v, %+v", r, other)
	}
	golden(t, "help_find.txt", birthmark("find", "--help").stdout)
}
