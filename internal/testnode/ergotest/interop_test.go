//go:build interop

package ergotest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testblocks"
)

// A client for real nodes decodes the answers of the test node correctly. `make test-interop` runs it.
func TestInteropWithAnotherClient(t *testing.T) {
	chains := map[string][]Block{"generated": Made(ergogen.New(ergogen.Options{Seed: 8}), 25)}
	if real, err := ReadFile(testblocks.Path(t, "ergo", "ergo-uexplorer", "blocks_first.gz")); err != nil {
		t.Fatal(err)
	} else {
		chains["real"] = real[:25]
	}
	const from, count = 20, 4
	for name, blocks := range chains {
		genesis := []byte(`[{"boxId":"00","value":93409132500000000}]`)
		n := New(Options{Genesis: genesis})
		n.Extend(blocks...)
		cmd := exec.Command("node", "--import", "./resolve.js", "client.js", n.Start(t), "20", "4")
		cmd.Dir = filepath.Join("..", "..", "..", "tools", "interop", "ergo")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: make test-interop installs what it needs", err)
		}
		lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
		some, last := blocks[from-1:from-1+count], blocks[len(blocks)-count:]
		headers := func(blocks []Block) []byte {
			all := []byte{'['}
			for i, b := range blocks {
				if i > 0 {
					all = append(all, ',')
				}
				all = append(all, member(b.JSON, "header")...)
			}
			return append(all, ']')
		}
		full := []byte{'['}
		for i, b := range some {
			if i > 0 {
				full = append(full, ',')
			}
			full = append(full, b.JSON...)
		}
		want := [][]byte{
			n.info().Body, []byte(list(some...)), []byte(list(some[0])), some[0].JSON, member(some[0].JSON, "header"),
			member(some[0].JSON, "blockTransactions"), append(full, ']'), headers(last), genesis,
		}
		if len(lines) != len(want) {
			t.Fatalf("%s: %d answers, expected %d", name, len(lines), len(want))
		}
		for i := range want {
			if !reflect.DeepEqual(document(t, lines[i]), document(t, want[i])) {
				t.Errorf("%s, answer %d: %.300s, expected %.300s", name, i, lines[i], want[i])
			}
		}
	}
}

// document parses JSON and keeps numbers as text, for comparisons. It leaves out the distance in old
// headers, which exceeds the numbers of JavaScript.
func document(t *testing.T, text []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	var strip func(any)
	strip = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				strip(e)
			}
		case map[string]any:
			for name, e := range v {
				if solution, ok := e.(map[string]any); ok && name == "powSolutions" {
					delete(solution, "d")
				}
				strip(e)
			}
		}
	}
	strip(v)
	return v
}
