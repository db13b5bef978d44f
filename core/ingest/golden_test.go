package ingest_test

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

var updateDumps = flag.Bool("update-dumps", false, "write testdata/dumps.txt: for a change of the stored format")

// The stored bytes of a chain change only with FormatVersion: testdata/dumps.txt contains the SHA-256 of the dump of
// each variant, after appending its blocks and after a reorganization and its reversal.
func TestDumpsMatchFormat(t *testing.T) {
	const file = "testdata/dumps.txt"
	var lines strings.Builder
	for _, v := range modeltest.Variants() {
		g := v.NewGenerator(1)
		blocks := g.Blocks(60)
		db := open(t, memory.New(), v, 1<<20)
		appendAll(t, db, blocks[:40], 13)
		fork := v.NewGenerator(1)
		fork.Blocks(20)
		appended := dumpSum(dump(t, db))
		rollback(t, db, blocks[19].Point())
		appendAll(t, db, fork.Fork(7).Blocks(30), 4)
		forked := dumpSum(dump(t, db))
		rollback(t, db, model.Point{})
		appendAll(t, db, blocks, 7)
		fmt.Fprintf(&lines, "%s appended %s fork %s again %s\n", v.Name, appended, forked, dumpSum(dump(t, db)))
	}
	if *updateDumps {
		if err := os.WriteFile(file, []byte(lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if lines.String() != string(want) {
		t.Errorf("dumps differ from %s:\n got %s\nwant %s", file, lines.String(), want)
	}
}

func dumpSum(d dumped) string {
	sum := sha256.Sum256([]byte(strings.Join(d, "\n")))
	return hex.EncodeToString(sum[:])
}
