package cli

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/core/query"
)

// copyOfBlocks returns a folder with a copy of the real blocks in a file with the name that nodes use.
func copyOfBlocks(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(realBlocks(t))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "blocks")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "blk00000.dat"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// readsRaw checks that raw transactions can be read, that they hash to their ids, and that answers have their details.
func readsRaw(t *testing.T, db string, flags ...string) {
	t.Helper()
	for _, hash := range newestTxs(t, db, 10) {
		var raw query.RawTxAnswer
		ask(t, &raw, append([]string{"tx", "--raw", hash, "--db", db}, flags...)...)
		b, err := hex.DecodeString(raw.Raw)
		if err != nil {
			t.Fatal(err)
		}
		var tx wire.MsgTx
		if err := tx.Deserialize(bytes.NewReader(b)); err != nil || tx.TxHash().String() != hash {
			t.Fatalf("the bytes of %s: %v", hash, err)
		}
		var a query.TxAnswer
		ask(t, &a, append([]string{"tx", hash, "--db", db}, flags...)...)
		if a.Size != len(b) || a.Weight != 4*len(b) || a.VSize != len(b) || a.Version == nil || *a.Version != uint32(tx.Version) ||
			a.Locktime == nil || *a.Locktime != tx.LockTime || a.Confirmations == 0 || len(a.Outputs) != len(tx.TxOut) {
			t.Errorf("%+v", a)
		}
		for i, o := range a.Outputs {
			if o.Script == nil || *o.Script != hex.EncodeToString(tx.TxOut[i].PkScript) || o.Type == "" || o.BlockTime != a.Time || o.Confirmations != a.Confirmations {
				t.Errorf("output %d: %+v", i, o)
			}
		}
		for i, in := range a.Inputs {
			if in.Sequence == nil || *in.Sequence != tx.TxIn[i].Sequence || *in.ScriptSig != hex.EncodeToString(tx.TxIn[i].SignatureScript) {
				t.Errorf("input %d: %+v", i, in)
			}
		}
	}
}

func TestRawTransactionsFromBlockFiles(t *testing.T) {
	slow(t)
	t.Parallel()
	blocks := copyOfBlocks(t)
	source := "file://" + blocks
	synced, added := filepath.Join(t.TempDir(), "synced"), filepath.Join(t.TempDir(), "added")
	syncTo(t, synced, source, "--to-height", "1500", "--raw=files")
	readsRaw(t, synced)
	consistent(t, synced)

	syncTo(t, added, "file://"+realBlocks(t), "--to-height", "1500")
	wantFailure(t, exitUsage, "no_raw", "index add raw", "tx", "--raw", firstPayment, "--db", added)
	wantFailure(t, exitRefused, "no_raw", "index add raw", "sync", "--raw=files", "--source", source, "--db", added)
	wantFailure(t, exitUsage, "missing_flag", "block files", "index", "add", "raw", "--raw=files", "--db", added, "--source", "http://127.0.0.1:1")
	wantFailure(t, exitUsage, "bad_option", "needs nothing in the database", "index", "add", "raw", "--raw=node", "--db", added, "--source", source)
	add := func() {
		t.Helper()
		var a changeAnswer
		ask(t, &a, "index", "add", "raw", "--raw=files", "--db", added, "--source", source)
		if !a.Done || a.Index == nil || a.Index.Name != "raw" || a.Index.Kind != "raw_places" || len(a.Index.Adding) > 0 {
			t.Errorf("index add raw: %+v", a)
		}
	}
	add()
	readsRaw(t, added)
	consistent(t, added)
	same(t, added, digestOf(t, synced))
	add() // finds them again

	ask(t, nil, "rollback", "--db", added, "--to-height", "1000")
	consistent(t, added)
	syncTo(t, added, "file://"+realBlocks(t), "--to-height", "1500") // a source with the blocks at another position
	readsRaw(t, added)
	same(t, added, digestOf(t, synced))

	moved := filepath.Join(filepath.Dir(blocks), "moved")
	if err := os.Rename(blocks, moved); err != nil {
		t.Fatal(err)
	}
	wantFailure(t, exitFailed, "no_raw", filepath.Join(blocks, "blk00000.dat"), "tx", "--raw", newestTxs(t, synced, 1)[0], "--db", synced)
	var a query.TxAnswer
	ask(t, &a, "tx", newestTxs(t, synced, 1)[0], "--db", synced)
	if a.Size != 0 || a.Version != nil || a.Outputs[0].OutputDetails != nil || a.Confirmations != 1 {
		t.Errorf("without its file: %+v", a)
	}
	settings := filepath.Join(t.TempDir(), "birthmark.yaml")
	if err := os.WriteFile(settings, []byte("raw_folder: "+moved+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	readsRaw(t, synced, "--config", settings)
	wantFailure(t, exitUsage, "bad_setting", `"all" is not keep, files, node or off`, "sync", "--raw=all", "--db", synced, "--source", source)
}
