package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testblocks"
	"birthmark/internal/testnode/ergotest"
)

// demo runs the demo of a chain with this program and returns its output.
func demo(t *testing.T, chain string, env ...string) string {
	t.Helper()
	cmd := demoScript(t, "demo-"+chain+".sh", append(env, "DATA="+t.TempDir())...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, stderr.String())
	}
	return string(out)
}

// demoScript returns a command for a demo script that runs this program.
func demoScript(t *testing.T, name string, env ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", filepath.Join("..", "..", "docs", name))
	cmd.Env = append(os.Environ(), asProgram+"=-1", "PROGRAM="+program)
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

// The demo of Bitcoin ends with a server of its database, which demo-serve.sh then serves with the other chains.
func TestTheDemoOfBitcoinRunsAndIsServed(t *testing.T) {
	slow(t)
	t.Parallel()
	realBlocks(t)
	data := t.TempDir()
	cmd := demoScript(t, "demo.sh", "DATA="+data)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"\nblocks        14,132 ", "\nbalance       50.00000000 BTC\n", "\nanswers at http://127.0.0.1:", "make demo-serve"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	if _, err := exec.LookPath("curl"); err == nil && !strings.Contains(string(out), `{"index":"address","value":"1PhUXucRd8FzQved2KGK3g1eKfTHPGjgFu","balance":"5000000000"`) {
		t.Errorf("curl received no answer:\n%s", out)
	}

	ergoSync(t, "testnet", filepath.Join(data, "ergo"), ergoFile(t, ergotest.Made(ergogen.New(ergogen.Options{Seed: 1}), 5)...))
	cmd = demoScript(t, "demo-serve.sh", "DATA="+data, "LISTEN=127.0.0.1:0")
	cmd.Args = append(cmd.Args, "--json")
	s := startServing(t, cmd, new(bytes.Buffer))
	for chain, height := range map[string]int{"bitcoin": 14131, "ergo-testnet": 5} {
		if h, _ := s.tip(t, chain); h != height {
			t.Errorf("the tip of %s is %d, expected %d", chain, h, height)
		}
	}
	s.stop(t)
}

func TestTheDemoOfCardanoRunsOnAGeneratedChain(t *testing.T) {
	slow(t)
	t.Parallel()
	checkDemo(t, demo(t, "cardano", "TXS=1500"), append(ofCardano, "transactions  1,500")...)
}

func TestTheDemoOfCardanoRunsOnARealChain(t *testing.T) {
	slow(t)
	t.Parallel()
	dir := testblocks.Path(t, "cardano", "dingo-immutable")
	checkDemo(t, demo(t, "cardano", "IMMUTABLE="+dir, "NETWORK=preview", "BLOCKS=37000"), append(ofCardano, "chain         cardano preview", "blocks        37,001")...)
}

func TestTheDemoOfErgoRuns(t *testing.T) {
	slow(t)
	t.Parallel()
	node := ergotest.New(ergotest.Options{Network: "testnet"})
	// The last block mints a token: the demo executes the program for each transaction until it finds one.
	node.Extend(ergotest.Made(ergogen.New(ergogen.Options{Seed: 1}), 44)...)
	checkDemo(t, demo(t, "ergo", "NODE="+node.Start(t)),
		"chain         ergo testnet", "blocks        44 ", "\nA transaction that mints a token:\n", "\nname         Token ", "\nbox_id  ", "OK: the index matches the source")
}

var ofCardano = []string{"\nfingerprint  asset1", "\npolicy      ", "\nbalance       ", "\npayment_credential  "}

// checkDemo checks the output. A demo ends at the first command that fails, so it is enough that each command has
// printed something.
func checkDemo(t *testing.T, said string, wants ...string) {
	t.Helper()
	for _, want := range append(wants,
		"\nassets in outputs\n", "\nholders\n", "\nmints and burns\n", "\ncheck   no inconsistencies found\n", "Things to try next") {
		if !strings.Contains(said, want) {
			t.Errorf("the output lacks %q:\n%s", want, said)
		}
	}
}
