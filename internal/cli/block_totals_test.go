package cli

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/core/query"
	"birthmark/internal/testblocks"
)

// The sums of a block equal those of Bitcoin Core's getblockstats, which leaves out the coinbase and the header.
func TestBlockSumsMatchCore(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(testblocks.Path(t, "bitcoin", "bitcoin-core", "rpc_getblockstats.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Blocks []string
		Stats  []struct {
			Hash     string `json:"blockhash"`
			Height   uint32
			Ins      int
			Outs     int
			Txs      int
			TotalOut int64 `json:"total_out"`
			Weight   int   `json:"total_weight"`
			Fee      int64 `json:"totalfee"`
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Stats) < 3 {
		t.Fatalf("%d blocks to compare", len(file.Stats))
	}
	source := "file://" + testblocks.Path(t, "bitcoin", "converted", "core_regtest_getblockstats.blk.dat")
	dir := t.TempDir()
	stored, without := filepath.Join(dir, "stored"), filepath.Join(dir, "without")
	sync := []string{"sync", "--chain", "bitcoin", "--network", "regtest", "--source", source}
	ask(t, nil, append(sync, "--raw", "--db", stored)...)
	ask(t, nil, append(sync, "--db", without)...)
	for _, core := range file.Stats {
		raw, err := hex.DecodeString(file.Blocks[core.Height])
		if err != nil {
			t.Fatal(err)
		}
		var b wire.MsgBlock
		if err := b.Deserialize(bytes.NewReader(raw)); err != nil {
			t.Fatal(err)
		}
		coinbase := b.Transactions[0]
		created := core.TotalOut
		for _, o := range coinbase.TxOut {
			created += o.Value
		}
		want := query.BlockTotalsAnswer{
			Chain: "bitcoin", Height: core.Height, Hash: core.Hash, TxCount: core.Txs, Size: len(raw), Inputs: core.Ins, Outputs: core.Outs,
			Weight:     core.Weight + 4*81 + 3*coinbase.SerializeSizeStripped() + coinbase.SerializeSize(),
			InputValue: strconv.FormatInt(core.TotalOut+core.Fee, 10), OutputValue: strconv.FormatInt(created, 10), Fees: strconv.FormatInt(core.Fee, 10),
		}
		for _, db := range []string{stored, without} {
			var got query.BlockTotalsAnswer
			if ask(t, &got, "block", fmt.Sprint(core.Height), "--totals", "--db", db); got != want {
				t.Errorf("got %+v\nexpected %+v", got, want)
			}
			want.Weight = 0 // unknown without raw transactions
		}
	}
}
