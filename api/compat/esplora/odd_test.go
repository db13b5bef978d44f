package esplora_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/coretest"
)

// oddOutputs are scripts that blocks can have, and most wallets never make.
var oddOutputs = map[string][]byte{
	"empty":                   {},
	"cut push":                {0x51, 2, 0x4e},
	"PUSHDATA4 of 4 GB":       {0x4e, 0xff, 0xff, 0xff, 0xff},
	"reserved op codes":       {0x50, 0x65, 0x8a, 0xfe},
	"OP_RETURN of 100 kB":     append([]byte{0x6a, 0x4e, 0xa0, 0x86, 1, 0}, make([]byte, 100_000)...),
	"OP_RETURN without UTF-8": {0x6a, 4, 0xff, 0xfe, 0xc3, 0x28},
	"witness version 16":      append([]byte{0x60, 40}, make([]byte, 40)...),
	"pay to anchor":           {0x51, 2, 0x4e, 0x73},
	"witness program, P2PKH":  append(slices.Concat([]byte{0, 20}, make([]byte, 20)), 0xac),
	"token prefix":            append([]byte{0xef, 0xff, 0xff}, p2pkh...), // CHIP-2022-02, here data
	"colour":                  append([]byte{33}, append(bytes.Repeat([]byte{0xc1}, 33), 0xbc)...),
	"multisig of no key":      {0, 0, 0xae},
	"P2PK of no point":        append(append([]byte{33, 2}, bytes.Repeat([]byte{0xff}, 32)...), 0xac),
}

// A transaction with an odd part is in the lists beside normal ones, unconfirmed and confirmed.
func TestOddTransactionsLeaveListsWhole(t *testing.T) {
	w := newNodeWorld(t)
	coins := w.node.Coins(t, len(oddOutputs)+4)
	w.sync(t)
	var ids []string
	i := 0
	send := func(name string, change func(*wire.MsgTx)) {
		coin := coins[i : i+1]
		i++
		tx := coretest.Pay(coin, wire.NewTxOut(coin[0].Value-600_000, p2pkh))
		if change != nil {
			change(tx)
		}
		if err := w.node.TrySend(tx); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		ids = append(ids, tx.TxHash().String())
	}
	send("normal", nil)
	for name, script := range oddOutputs {
		send(name, func(tx *wire.MsgTx) { tx.AddTxOut(wire.NewTxOut(0, script)) })
	}
	send("negative version", func(tx *wire.MsgTx) { tx.Version, tx.LockTime = -1<<31, 1<<32-1 })
	send("witness", func(tx *wire.MsgTx) {
		tx.TxIn[0].SignatureScript = []byte{0x4d, 0xff}
		tx.TxIn[0].Witness = wire.TxWitness{{}, make([]byte, 200_000), {0x50, 0xff}, {0xc0}}
	})
	send("normal", nil)
	slices.Sort(ids)
	for _, confirmed := range []bool{false, true} {
		if confirmed {
			w.node.Mine(t)
			w.sync(t)
		} else {
			w.settle(t)
		}
		address := w.db.Chain().(interface{ ScriptAddress([]byte) string }).ScriptAddress(p2pkh)
		for _, list := range []string{"/address/" + address + "/txs", "/address/" + address + "/utxo", "/address/" + address + "/txs/summary"} {
			var entries []struct{ TxID string }
			if err := json.Unmarshal([]byte(w.get(t, list)), &entries); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range entries {
				got = append(got, e.TxID)
			}
			if slices.Sort(got); !slices.Equal(got, ids) && (confirmed || list[len(list)-7:] != "summary") {
				t.Errorf("%s, confirmed %t: %d transactions, expected %d", list, confirmed, len(got), len(ids))
			}
		}
		for _, id := range ids {
			for _, part := range []string{"", "/hex", "/status", "/outspends"} {
				w.get(t, "/tx/"+id+part)
			}
		}
	}
}
