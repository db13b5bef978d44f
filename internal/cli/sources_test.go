package cli

import (
	"fmt"
	"path/filepath"
	"testing"

	"birthmark/core/query"
	"birthmark/core/verify"
	"birthmark/internal/testnode/btcdtest"
)

const everyIndex = "address,script_hash,script_type,op_return"

// Outputs of every kind of script are created and spent on a real node: the database is the same from each of its
// sources, and agrees with the node.
func TestEverySourceOfANodeGivesOneDatabase(t *testing.T) {
	slow(t)
	t.Parallel()
	node := btcdtest.Start(t)
	node.MineEveryScript(t, 300)
	standIn := node.Core(t)
	files := t.TempDir()
	node.BlockFiles(t, files)
	sources := map[string]string{
		"JSON-RPC": node.URL(), "REST": standIn.URL(), "a peer": "p2p://" + node.P2P, "block files": "file://" + files,
	}
	dir := t.TempDir()
	first, digest := "", ""
	for name, source := range sources {
		db := filepath.Join(dir, name)
		syncTo(t, db, source, "--network", "regtest", "--index", everyIndex)
		consistent(t, db)
		if digest == "" {
			first, digest = name, digestOf(t, db)
		} else if got := digestOf(t, db); got != digest {
			t.Errorf("the database from %s has the digest %s, that from %s %s", name, got, first, digest)
		}
	}
	asked := standIn.Asked()
	if asked["rest block"] < 300 || asked["rest headers"] == 0 || asked["rpc"] > 0 {
		t.Errorf("only REST should be used: %v", asked)
	}
	var status query.StatusAnswer
	ask(t, &status, "status", "--db", filepath.Join(dir, first))
	if status.Totals.Blocks != 301 || status.Totals.Inputs < 3000 || status.Totals.Outputs < 6000 {
		t.Errorf("%+v", status.Totals)
	}

	// All is compared with every one of them, and with what Core counts as unspent.
	sources["JSON-RPC of Core"] = standIn.RPC()
	for name, source := range sources {
		var a verify.Result
		ask(t, &a, "verify", "--db", filepath.Join(dir, first), "--source", source, "--sample", "1000")
		if !a.OK || a.Blocks != 301 || a.Inputs != status.Totals.Inputs || a.Outputs != status.Totals.Outputs {
			t.Errorf("verify with %s: %+v", name, a)
		}
		if compared := a.Unspent != nil && a.Unspent.Compared; compared != (name == "JSON-RPC of Core") {
			t.Errorf("verify with %s: what is unspent: %+v", name, a.Unspent)
		}
	}
}

// Verify reports one changed row.
func TestVerifyWithANodeReportsDifferences(t *testing.T) {
	slow(t)
	t.Parallel()
	node := btcdtest.Start(t)
	node.MineEveryScript(t, 140)
	db := filepath.Join(t.TempDir(), "db")
	syncTo(t, db, "p2p://"+node.P2P, "--network", "regtest")
	// Block 120, transaction 1, output 0: 26 bits height, 19 bits transaction, 19 bits output.
	output := []byte{0, 0, 0x1e, 0, 0, 0x08, 0, 0}
	harm(t, db, utxoFamily, output, func(v []byte) []byte { v[0] ^= 1; return v })
	for _, source := range []string{node.URL(), "p2p://" + node.P2P} {
		a := differing(t, "--db", db, "--source", source, "--sample", "1000")
		if d := a.Differences[0]; d.Height != 120 || d.What != "output 0" {
			t.Errorf("%s: %s", source, fmt.Sprint(a.Differences))
		}
	}
}
