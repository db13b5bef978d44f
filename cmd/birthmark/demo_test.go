package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/model/realdata"
)

// demoCardano runs the demo of Cardano with this program and is what it says.
func demoCardano(t *testing.T, env ...string) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", filepath.Join("..", "..", "docs", "demo-cardano.sh"))
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
	checkDemo(t, demoCardano(t, "TXS=1500"), "transactions  1,500")
}

func TestTheDemoOfCardanoHoldsOnARealOne(t *testing.T) {
	dir := realdata.Path(t, "cardano", "dingo-immutable")
	checkDemo(t, demoCardano(t, "IMMUTABLE="+dir, "NETWORK=preview", "BLOCKS=37000"), "chain         cardano preview", "blocks        37,001")
}

// checkDemo looks at what was said. The demo ends at the first command that fails, so what is left to see is that each
// had something to say.
func checkDemo(t *testing.T, said string, wants ...string) {
	t.Helper()
	for _, want := range append(wants,
		"\nassets in outputs\n", "\nfingerprint  asset1", "\nholders\n", "\nmints and burns\n", "\npolicy      ", "\nbalance       ",
		"\npayment_credential  ", "\ncheck   every law holds\n", "Things to try next") {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in it:\n%s", want, said)
		}
	}
}
