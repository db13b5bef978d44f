package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/chains/ergo/ergotest"
	"birthmark/chains/ergo/generate"
	"birthmark/model/realdata"
)

// demo runs the demo of a chain with this program and is what it says.
func demo(t *testing.T, chain string, env ...string) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", filepath.Join("..", "..", "docs", "demo-"+chain+".sh"))
	cmd.Env = append(os.Environ(), asProgram+"=-1", "PROGRAM="+program, "DATA="+t.TempDir())
	cmd.Env = append(cmd.Env, env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, stderr.String())
	}
	return string(out)
}

func TestTheDemoOfCardanoHoldsOnAGeneratedChain(t *testing.T) {
	checkDemo(t, demo(t, "cardano", "TXS=1500"), append(ofCardano, "transactions  1,500")...)
}

func TestTheDemoOfCardanoHoldsOnARealOne(t *testing.T) {
	dir := realdata.Path(t, "cardano", "dingo-immutable")
	checkDemo(t, demo(t, "cardano", "IMMUTABLE="+dir, "NETWORK=preview", "BLOCKS=37000"), append(ofCardano, "chain         cardano preview", "blocks        37,001")...)
}

func TestTheDemoOfErgoHolds(t *testing.T) {
	node := ergotest.New(ergotest.Options{Network: "testnet"})
	node.Extend(ergotest.Made(generate.New(generate.Options{Seed: 1}), 60)...)
	checkDemo(t, demo(t, "ergo", "NODE="+node.Start(t)),
		"chain         ergo testnet", "blocks        60 ", "\nA transaction that mints a token:\n", "\nname         Token ", "\nbox_id  ", "as the source has it")
}

var ofCardano = []string{"\nfingerprint  asset1", "\npolicy      ", "\nbalance       ", "\npayment_credential  "}

// checkDemo looks at what was said. The demo ends at the first command that fails, so what is left to see is that each
// had something to say.
func checkDemo(t *testing.T, said string, wants ...string) {
	t.Helper()
	for _, want := range append(wants,
		"\nassets in outputs\n", "\nholders\n", "\nmints and burns\n", "\ncheck   every law holds\n", "Things to try next") {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in it:\n%s", want, said)
		}
	}
}
