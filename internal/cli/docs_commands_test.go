package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/bench/generate/cardanogen"
	"birthmark/bench/generate/coingen"
	"birthmark/bench/generate/ergogen"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/core/query"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testnode/cointest"
	"birthmark/internal/testnode/coretest"
	"birthmark/internal/testnode/ergotest"
	"birthmark/internal/testnode/ouroborostest"
)

// Keys of the following tables that end with … match the lines that begin so.

// notRun are command lines in pages that no test can run, with the reason. The flags of those of birthmark are checked
// nevertheless.
var notRun = map[string]string{
	"git clone <this repository>…":    "the repository has no address yet; the rest of the line changes the folder",
	"sha256sum --check…":              "checks files of a release",
	"minisign -Vm…":                   "checks files of a release",
	"apt-get install ./birthmark…":    "installs a release",
	"tar xf birthmark…":               "unpacks a release",
	"gunzip -c birthmark…":            "needs Docker",
	"docker …":                        "needs Docker",
	"useradd --system…":               "changes the users of the machine",
	"install -m 755 bin/birthmark …":  "writes into a folder of the machine",
	"install -m 644 docs/birthmark.…": "writes into a folder of the machine",
	"install -d -m 750 -g…":           "writes into a folder of the machine",
	"systemctl enable…":               "needs systemd",
	"go -C distributed build…":        "builds another module: make tikv-test does",
	"bin/birthmark-tikv …":            "is the program of another module, and needs a cluster: make tikv-test runs it",
	"birthmark sync --chain bitcoin --source p2p://NAME.onion…":       "needs Tor",
	"bin/birthmark balance \"wpkh(…":                                  "its key is shortened: wallet_test.go has whole ones",
	"bin/birthmark history zpub…":                                     "its key is shortened",
	"bin/birthmark find \"wsh(…":                                      "its keys are shortened",
	"bin/birthmark find --follow \"tr(…":                              "its key is shortened",
	"curl -d '{\"jsonrpc\": \"2.0\", \"method\": \"queryLedgerState…": "needs the state of a ledger: TestProtocolParameters of api/compat/ogmios",
}

// runElsewhere are the pages, with the first word of their command lines, that other tests run, which also compare what
// the commands write. Of curl these are sessions.
var runElsewhere = map[string]string{
	"docs/scaling.md birthmark…":   "scaling_docs_test.go: TestCommandsInTheScalingPage",
	"docs/onesat.md birthmark…":    "onesat_test.go: TestOnesatFromBlockFiles",
	"docs/runes.md birthmark…":     "runes_test.go: TestRunesFromBlockFiles",
	"docs/snapshots.md birthmark…": "snapshot_test.go: TestCommandsInTheSnapshotPageWork",
	"README.md curl…":              "docs_test.go: TestRequestsInTheReadmeAreCurrent",
	"docs/api.md curl…":            "../../api/guide_test.go: TestSessionsOfTheGuide",
	"docs/events.md curl…":         "../../api/events/docs_test.go: TestEventsOfTheDocumentation",
}

// notComplete are command lines in sentences that are not complete, with the reason. Their flags are checked nevertheless.
var notComplete = map[string]string{
	"birthmark init":                       "a file of settings exists in the folder of sentences: quickstart.md runs it",
	"birthmark health":                     "needs a server",
	"birthmark search TEXT":                "TEXT is a placeholder",
	"birthmark stats SERIES":               "SERIES is a placeholder",
	"birthmark find contract…":             "needs an index of bitcoin-sv",
	"birthmark find --…":                   "needs an index and a value",
	"birthmark find creation_height…":      "of the example, which the program does not have",
	"birthmark index add creation_height":  "of the example, which the program does not have",
	"birthmark index add stake_credential": "of Cardano",
	"birthmark index add script_type":      "needs a source",
	"birthmark export":                     "needs a folder",
	"birthmark export --follow":            "needs a folder",
	"birthmark find INDEX…":                "INDEX is a placeholder",
	"birthmark find address ADDR…":         "ADDR is a placeholder",
	"birthmark find reference_script…":     "needs another index",
	"birthmark balance --…":                "needs an index and a value",
	"birthmark history --…":                "needs an index and a value",
	"birthmark values --…":                 "needs an index",
	"birthmark values INDEX…":              "INDEX is a placeholder",
	"birthmark block REF…":                 "REF is a placeholder",
	"birthmark tx --raw…":                  "needs a hash",
	"birthmark index add":                  "needs an index",
	"birthmark index add NAME…":            "NAME is a placeholder",
	"birthmark index add raw…":             "needs raw: needs_test.go and raw_test.go run it",
	"birthmark index drop raw":             "needs raw transactions",
	"birthmark index drop NAME":            "NAME is a placeholder",
	"birthmark follower delete":            "needs a follower",
	"birthmark index try":                  "needs an expression",
	"birthmark decode --config…":           "FILE is a placeholder",
	"birthmark bench …":                    "measures for minutes",
	"birthmark replicate":                  "needs a primary",
	"birthmark snapshot verify --digest":   "needs a snapshot",
	"birthmark sync --…":                   "needs a chain and a source",
	"birthmark verify":                     "needs a source",
	"birthmark verify --source":            "needs a source",
	"curl --compressed":                    "needs a URL",
}

// used counts the uses of the entries of a table by their keys. Unused entries fail the test.
type used[V any] struct {
	t     *testing.T
	name  string
	table map[string]V
	seen  sync.Map
}

func uses[V any](t *testing.T, name string, table map[string]V) *used[V] {
	u := &used[V]{t: t, name: name, table: table}
	t.Cleanup(func() {
		for key := range table {
			if _, ok := u.seen.Load(key); !ok && !t.Failed() {
				t.Errorf("the entry %q of %s is not used", key, name)
			}
		}
	})
	return u
}

// has reports whether a line matches an entry.
func (u *used[V]) has(line string) (found bool) {
	for key := range u.table {
		if begins, ok := strings.CutSuffix(key, "…"); line == key || ok && strings.HasPrefix(line, begins) {
			u.seen.Store(key, true)
			found = true
		}
	}
	return found
}

// TestCommandsInThePagesExist parses every command line of the pages for users: a command or flag that does not exist
// is an error.
func TestCommandsInThePagesExist(t *testing.T) {
	t.Parallel()
	commands, _ := shownInPages(t)
	program := regexp.MustCompile(`^(?:source <\()?(?:bin/)?(birthmark(?:-tikv)?) ([^|>)]*)`)
	parsed := 0
	for _, c := range commands {
		if target, ok := strings.CutPrefix(c.line, "make "); ok {
			makeTargetExists(t, c.at, target)
			continue
		}
		if goes := strings.Index(c.line, "go test "); goes >= 0 {
			goTestExists(t, c.at, c.line[goes:])
			continue
		}
		found := program.FindStringSubmatch(c.line)
		if found == nil || found[1] == "birthmark-tikv" && strings.HasPrefix(found[2], "load ") { // which only that program has
			continue
		}
		line, _, _ := strings.Cut(found[2], " #")
		args := append(strings.Fields(strings.ReplaceAll(line, "'", "")), "--help")
		if args[0] == "--version" || args[0] == "help" { // which show something themselves
			args = args[:len(args)-1]
		}
		parsed++
		r := birthmark(args...)
		if strings.Contains(r.stderr, "needs a value; --help follows it") { // a sentence about the flag
			r = birthmark(slices.Insert(args, len(args)-1, "VALUE")...)
		}
		if r.status != exitDone || !strings.HasPrefix(r.stdout, "birthmark ") {
			t.Errorf("%s: %s: status %d: %s%.100s", c.at, c.line, r.status, r.stderr, r.stdout)
		}
	}
	if parsed < 100 {
		t.Errorf("%d command lines in the pages, expected at least 100", parsed)
	}
}

func makeTargetExists(t *testing.T, at, line string) {
	t.Helper()
	target, _, _ := strings.Cut(line, " ")
	if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(target) + `:`).MatchString(readText(t, filepath.Join("..", "..", "Makefile"))) {
		t.Errorf("%s: make has no target %s", at, target)
	}
}

// goTestExists checks the packages of a line of go test, and that they have a test that -run selects.
func goTestExists(t *testing.T, at, line string) {
	t.Helper()
	line, _, _ = strings.Cut(line, " #")
	words := strings.Fields(line)
	var tests strings.Builder
	for _, word := range words {
		if pkg, ok := strings.CutPrefix(word, "./"); ok {
			files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pkg), "*_test.go"))
			if err != nil || len(files) == 0 {
				t.Errorf("%s: %s has no tests", at, word)
			}
			for _, file := range files {
				tests.WriteString(readText(t, file))
			}
		}
	}
	if i := slices.Index(words, "-run"); i >= 0 && tests.Len() > 0 && !regexp.MustCompile(`(?m)^func Test\w*`+words[i+1]).MatchString(tests.String()) {
		t.Errorf("%s: no test matches %s", at, words[i+1])
	}
}

// programs builds birthmark and birthmark-bench, once for all tests, and returns their folder.
var programs = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "programs"); err != nil {
		return "", err
	}
	flags := "-s -w" // a debugger's symbols take half the time of linking
	if _, err := exec.LookPath("ld.gold"); err == nil {
		flags += " -extldflags=-fuse-ld=gold"
	}
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags="+flags, "-o", dir, "birthmark/cmd/...").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
})

// TestCommandsInThePagesWork runs the command lines of the pages for users with the programs that make build builds,
// on stand-ins for their nodes, in temporary folders.
func TestCommandsInThePagesWork(t *testing.T) {
	slow(t)
	t.Parallel()
	commands, _ := shownInPages(t)
	w := newWorld(t)
	skip, incomplete := uses(t, "notRun", notRun), uses(t, "notComplete", notComplete)
	elsewhere := uses(t, "runElsewhere", runElsewhere)
	for page, test := range runElsewhere {
		if file, name, _ := strings.Cut(test, ": "); !strings.Contains(readText(t, file), "func "+name+"(t *testing.T)") {
			t.Errorf("%s: there is no %s", page, test)
		}
	}
	count, ran := 0, map[string]bool{}
	mentions := w.folder(t)
	for rest := commands; len(rest) > 0; {
		first := rest[0]
		n := slices.IndexFunc(rest, func(c shown) bool { return c.group != first.group || c.mention != first.mention })
		if n < 0 {
			n = len(rest)
		}
		group := rest[:n]
		rest = rest[n:]
		f := mentions
		if !first.mention {
			f = w.folder(t)
		}
		for _, c := range group {
			switch {
			case !c.mention && (c.session || !strings.HasPrefix(c.line, "curl ")) && elsewhere.has(c.page+" "+c.line):
			case strings.HasPrefix(c.line, "make "), strings.Contains(c.line, "go test "): // TestCommandsInThePagesExist
			case skip.has(c.line):
			case c.mention && (incomplete.has(c.line) || ran[c.line]):
			default:
				count++
				ran[c.line] = true
				f.run(t, c)
			}
		}
	}
	if count < 70 {
		t.Errorf("%d command lines ran, expected at least 70", count)
	}
}

// world is where the command lines of pages run: programs, and stand-ins for nodes, peers and files.
type world struct {
	bin, template string // folders of the programs and of a database with the blocks of the demo
	replace       map[string]string
	used          *used[string]
}

// newWorld starts the stand-ins.
func newWorld(t *testing.T) *world {
	t.Helper()
	bin, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	w := &world{bin: bin, template: filepath.Join(dir, "template")}
	blocksFile := realBlocks(t)
	syncTo(t, w.template, "file://"+blocksFile, "--index", "address,script_hash")

	real := realBytes(t, blocksFile)
	serve := func(blocks [][]byte) func() [][]byte { return func() [][]byte { return blocks } }
	withoutUser := func(url string) string { return regexp.MustCompile(`//[^@/]*@`).ReplaceAllString(url, "//") }
	network := func(spec *params.Spec, name string) *params.Network {
		return spec.Networks[slices.IndexFunc(spec.Networks, func(n *params.Network) bool { return n.Name == name })]
	}
	peer := func(n *params.Network, blocks [][]byte) string {
		return (&cointest.Peer{Network: n, Blocks: serve(blocks)}).Start(t)
	}
	made := func(name string) (*coingen.Coin, *coingen.Chain) {
		coin := coingen.Coins[slices.IndexFunc(coingen.Coins, func(c *coingen.Coin) bool { return c.Spec.Name == name })]
		c := coingen.New(coin, coingen.Options{Seed: 1, TxsPerBlock: 4})
		for range 20 {
			c.Next()
		}
		return coin, c
	}
	litecoin, litecoinChain := made("litecoin")
	_, dogecoinChain := made("dogecoin")
	cash, cashChain := made("bitcoin-cash")
	folderOf := func(name string, file []byte) string {
		to := filepath.Join(dir, name)
		if err := os.Mkdir(to, 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(to, "blk00000.dat"), string(file))
		return "file://" + to
	}
	var signetGenesis bytes.Buffer
	if err := network(params.Bitcoin, "signet").Params.GenesisBlock.Serialize(&signetGenesis); err != nil {
		t.Fatal(err)
	}
	custom, ok := params.Bitcoin.Custom("signet-54d26fbd") // the challenge is OP_TRUE
	if !ok {
		t.Fatal("no custom signet")
	}
	customFile := binary.LittleEndian.AppendUint32(slices.Clone(custom.Magic[:]), uint32(signetGenesis.Len()))

	var generated struct{ Network, Source string }
	ask(t, &generated, "bench", "generate", "--chain", "cardano", "--txs", "200", filepath.Join(dir, "cardano"))
	cardanoBlocks, err := ouroborostest.Chunks(strings.TrimPrefix(generated.Source, "file://"))
	if err != nil {
		t.Fatal(err)
	}
	cardano, genesis := ouroborostest.Start(t, cardanogen.DefaultMagic, cardanoBlocks), generated.Network

	ergoBlocks := ergotest.Made(ergogen.New(ergogen.Options{Seed: 1}), 20)
	ergo := ergotest.New(ergotest.Options{Network: "testnet"})
	ergo.Extend(ergoBlocks...)
	ergoBlocksFile := filepath.Join(dir, "blocks.jsonl.gz")
	if err := ergotest.WriteFile(ergoBlocksFile, ergoBlocks); err != nil {
		t.Fatal(err)
	}

	mainnet := peer(network(params.Bitcoin, "mainnet"), real)
	mined := bitcointest.NewChain()
	mined.MineEmpty(20)
	var minedBlocks [][]byte
	for _, b := range mined.Blocks() {
		minedBlocks = append(minedBlocks, bitcointest.Bytes(b))
	}
	regtest := peer(network(params.Bitcoin, "regtest"), minedBlocks)
	w.replace = map[string]string{
		"status --chain bitcoin --network signet": "status --chain bitcoin",
		"birthmark config --check":                "birthmark config --check --db ../data/birthmark/bitcoin",
		"birthmark serve --config birthmark.yaml": "BIRTHMARK_NETWORK=regtest BIRTHMARK_SOURCE=" + regtest + " birthmark serve --config birthmark.yaml",
		"bin/birthmark ":                          "birthmark ",
		"http://127.0.0.1:8332":                   withoutUser(cointest.NodeOf(t, map[string]string{"chain": "main"}, &block.Bitcoin, true, serve(real))),
		"p2p://192.168.1.7,192.168.1.8":           mainnet + "," + strings.TrimPrefix(mainnet, "p2p://"),
		"--network signet --source p2p://":        "--network regtest --source " + regtest, // whose blocks need no work
		"file:///var/lib/bitcoind/blocks":         "file://" + blocksFile,
		"file:///var/lib/bitcoind/signet/blocks":  folderOf("signet", append(customFile, signetGenesis.Bytes()...)),
		"--chain litecoin --source":               "--chain litecoin --network regtest --source",
		"http://127.0.0.1:9332":                   withoutUser(cointest.Node(t, litecoin.Spec.Format, false, serve(litecoinChain.Blocks()))),
		"--chain dogecoin --source":               "--chain dogecoin --network regtest --source",
		"file:///var/lib/dogecoind/blocks":        folderOf("dogecoin", dogecoinChain.File()),
		"--chain bitcoin-cash --source p2p://":    "--chain bitcoin-cash --network regtest --source " + peer(network(cash.Spec, "regtest"), cashChain.Blocks()),
		"--txs 20000":                             "--txs 300",
		"--chain cardano --source":                "--chain cardano --network " + genesis + " --source",
		"--network preview":                       "--network " + genesis,
		"/etc/mynet/genesis":                      genesis,
		"tcp://backbone.cardano.iog.io:3001":      cardano.TCP(),
		// The network of the stand-in is a folder, which has no default database.
		"tcp://preview-node.play.dev.cardano.org:3001 --index explorer": cardano.TCP() + " --index explorer --db preview",
		"tcp://preview-node.play.dev.cardano.org:3001":                  cardano.TCP(),
		"tcp://127.0.0.1:3001":                                          cardano.TCP(),
		"unix:///run/cardano-node/node.socket":                          cardano.Unix(),
		"file:///var/lib/cardano-node/db/immutable":                     generated.Source,
		"--chain ergo":                 "--chain ergo --network testnet",
		"http://127.0.0.1:9053":        ergo.Start(t),
		"file:///data/blocks.jsonl.gz": "file://" + ergoBlocksFile,
	}
	txs, err := cardanoBlocks[len(cardanoBlocks)-1].Txs()
	if err != nil || len(txs) == 0 {
		t.Fatalf("%d transactions, %v", len(txs), err)
	}
	w.serving(t, genesis, cardano.Unix(), txs[0].Raw, w.replace["http://127.0.0.1:9053"])
	w.used = uses(t, "the replacements", w.replace)
	return w
}

// realBytes returns the blocks of a block file in the order of the chain.
func realBytes(t *testing.T, file string) (blocks [][]byte) {
	t.Helper()
	data := []byte(readText(t, file))
	for range 14_132 {
		size := binary.LittleEndian.Uint32(data[4:8])
		blocks, data = append(blocks, data[8:8+size]), data[8+size:]
	}
	return blocks
}

// runFolder is where the command lines of a group run, as if it were the machine: /var/lib/birthmark, /backup, /usr/local
// and the home folder are in it.
type runFolder struct {
	*world
	root string
}

func (w *world) folder(t *testing.T) *runFolder {
	t.Helper()
	f := &runFolder{world: w, root: t.TempDir()}
	for _, name := range []string{"work/demo-data/blocks", "home/.bitcoin", "home/.litecoin", "data/birthmark", "lib", "usr/local/bin"} {
		if err := os.MkdirAll(filepath.Join(f.root, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(realBlocks(t), filepath.Join(f.root, "work/demo-data/blocks/blk00000.dat")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"home/.bitcoin/.cookie", "home/.litecoin/.cookie"} {
		write(t, filepath.Join(f.root, name), "user:pass")
	}
	if err := os.Symlink("demo-data/blocks", filepath.Join(f.root, "work/blocks")); err != nil {
		t.Fatal(err)
	}
	return f
}

// makesDatabase are the commands that make the database of --db if it does not exist.
var makesDatabase = regexp.MustCompile(`^birthmark (?:sync|serve|replicate|snapshot restore|bench|init|config) `)

// run runs a command line, which must succeed.
func (f *runFolder) run(t *testing.T, c shown) {
	t.Helper()
	line := f.mapped(c)
	t.Logf("%s: %s", c.at, line)
	if !makesDatabase.MatchString(line) {
		db := filepath.Join(f.root, "data/birthmark/bitcoin")
		if named := regexp.MustCompile(`--db (\S+)`).FindStringSubmatch(line); named != nil {
			if db = named[1]; !filepath.IsAbs(db) {
				db = filepath.Join(f.root, "work", db)
			}
		}
		if _, err := os.Stat(db); err != nil {
			if err := os.CopyFS(db, os.DirFS(f.template)); err != nil {
				t.Fatal(err)
			}
		}
	}
	settings := filepath.Join(f.root, "work", "birthmark.yaml")
	if _, err := os.Stat(settings); err != nil && strings.Contains(line, "birthmark.yaml") && !strings.Contains(line, "birthmark init") {
		write(t, settings, fmt.Sprintf("chain: bitcoin\nsource: %s\ndb: %s\nindexes:\n  address: {balance: true, history: true}\n  script_hash: {}\n"+
			"  script_type: {}\n  bits: {value: block.bits}\n  memo_protocol: {when: \"output.script_type == 'op_return'\", value: \"output.data[0:4]\"}\n",
			f.replace["http://127.0.0.1:8332"], filepath.Join(f.root, "data", "birthmark", "bitcoin")))
	}
	line, _, _ = strings.Cut(line, "  #")
	run := line
	switch {
	case strings.HasPrefix(line, "curl "):
		run += ` -sS -w '\n%{http_code}'`
	case strings.Contains(line, "birthmark sync ") && strings.Contains(line, "--follow"):
		run += " --serve 127.0.0.1:0" // reports when the database is at the tip
	}
	cmd := f.command(t, run)
	if lasting.MatchString(line) {
		f.runUntilReady(t, c.at, line, cmd)
		return
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %s: %v\n%s", c.at, line, err, out)
	}
	if status := bytes.TrimSpace(out[bytes.LastIndexByte(bytes.TrimSpace(out), '\n')+1:]); strings.HasPrefix(line, "curl ") && !bytes.HasPrefix(status, []byte("2")) {
		t.Errorf("%s: %s: status %s", c.at, line, out)
	}
}

// mapped returns a line with the addresses and folders of the stand-ins.
func (f *runFolder) mapped(c shown) string {
	line := c.line
	for _, from := range slices.SortedFunc(maps.Keys(f.replace), func(a, b string) int { return len(b) - len(a) }) {
		if strings.Contains(line, from) {
			f.used.seen.Store(from, true)
			line = strings.ReplaceAll(line, from, f.replace[from])
		}
	}
	for _, name := range []string{"/var/lib/birthmark", "/backup", "/usr/local"} {
		line = strings.ReplaceAll(line, " "+name, " "+f.root+map[string]string{"/var/lib/birthmark": "/lib"}[name])
	}
	return line
}

// longestRun is the time after which a command line is ended: none takes a tenth of it, but a line can wait for a node
// without a stand-in.
const longestRun = 10 * time.Minute

// command returns a command that runs a line in the folder. The end of the test, and that of [longestRun], kill it.
func (f *runFolder) command(t *testing.T, line string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(t.Context(), longestRun)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", line)
	cmd.Cancel = func() error {
		if context.Cause(ctx) == context.DeadlineExceeded {
			t.Errorf("%s: neither ended nor ready after %v: does it need a node without a stand-in?", line, longestRun)
		}
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	cmd.Dir = filepath.Join(f.root, "work")
	cmd.Env = []string{"PATH=" + f.bin + ":" + os.Getenv("PATH"), "HOME=" + filepath.Join(f.root, "home"), "XDG_DATA_HOME=" + filepath.Join(f.root, "data"),
		"BIRTHMARK_LISTEN=127.0.0.1:0", "BIRTHMARK_MEMORY=128MiB"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// lasting are command lines that run until they are stopped.
var lasting = regexp.MustCompile(`(?:^| )birthmark serve|birthmark sync .*--follow`)

// runUntilReady runs a line that lasts until the database has a block, and a server is ready. Then it stops it.
func (f *runFolder) runUntilReady(t *testing.T, at, line string, cmd *exec.Cmd) {
	t.Helper()
	log, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	lines, url := bufio.NewScanner(log), ""
	for url == "" && lines.Scan() {
		said.WriteString(lines.Text() + "\n")
		url = regexp.MustCompile(`http://127\.0\.0\.1:\d+/`).FindString(lines.Text())
	}
	if url != "" {
		until(t, line, func() bool {
			resp, err := http.Get(url + "readyz")
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			return resp.StatusCode == http.StatusOK
		})
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	for lines.Scan() {
		said.WriteString(lines.Text() + "\n")
	}
	if err := cmd.Wait(); err != nil || url == "" {
		t.Errorf("%s: %s: %v\n%s", at, line, err, &said)
	}
}

// serving starts the servers to which pages send requests with curl, and adds their addresses.
func (w *world) serving(t *testing.T, genesis, cardano string, tx []byte, ergo string) {
	t.Helper()
	dir := t.TempDir()
	server := func(settings string) *serverProcess {
		file := filepath.Join(t.TempDir(), "birthmark.yaml")
		write(t, file, settings)
		cmd := exec.Command(filepath.Join(w.bin, "birthmark"), "serve", "--json", "--listen", "127.0.0.1:0", "--config", file)
		cmd.Stderr = new(bytes.Buffer)
		return startServing(t, cmd, cmd.Stderr.(*bytes.Buffer))
	}
	node := coretest.Start(t)
	coins := node.Coins(t, 4)
	b := server(fmt.Sprintf("chain: bitcoin\nnetwork: regtest\nsource: %s\ndb: %s\n", node.URL(), filepath.Join(dir, "bitcoin")))
	b.reaches(t, "bitcoin-regtest", int(node.Tip().Height))
	raw := func(tx *wire.MsgTx) string { return hex.EncodeToString(coretest.Raw(tx)) }
	parent := coretest.Spend(1000, coins[2])
	w.replace["http://127.0.0.1:8080/v1/bitcoin/"] = b.URL + "v1/bitcoin-regtest/"
	w.replace["-d 0200000001…"] = "-d " + raw(coretest.Spend(1000, coins[0]))
	w.replace[`["0200000001…"]`] = `["` + raw(coretest.Spend(1000, coins[1])) + `"]`
	w.replace[`["…","…"]`] = `["` + raw(parent) + `","` + raw(coretest.Spend(1000, coretest.Outputs(parent)...)) + `"]`
	write(t, filepath.Join(dir, "addresses.txt"), "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080\n")
	w.replace["@addresses.txt"] = "@" + filepath.Join(dir, "addresses.txt")

	c := server(fmt.Sprintf("chain: cardano\nnetwork: %s\nsource: %s\ndb: %s\nindexes: kupo\nserve: {kupo: /kupo, submit_api: /api/submit}\n",
		genesis, cardano, filepath.Join(dir, "cardano")))
	w.replace["http://HOST:8080/api/submit"] = c.URL + "api/submit"
	w.replace["http://HOST:8080/kupo/matches/ADDRESS"] = c.URL + "kupo/matches/*"
	write(t, filepath.Join(dir, "tx.cbor"), string(tx))
	w.replace["@tx.cbor"] = "@" + filepath.Join(dir, "tx.cbor")

	e := server(fmt.Sprintf("chain: ergo\nnetwork: testnet\nsource: %s\ndb: %s\nindexes: ergo_node\nserve: {ergo_node: /node}\n",
		ergo, filepath.Join(dir, "ergo")))
	e.reaches(t, "ergo-testnet", 20)
	var values query.ValuesAnswer
	e.get(t, "v1/ergo-testnet/values/address?limit=1").into(t, &values)
	w.replace["http://HOST:8080/node/blockchain/box/unspent/byAddress/ADDRESS"] = e.URL + "node/blockchain/box/unspent/byAddress/" + values.Values[0].Value
}
