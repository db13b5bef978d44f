package cardano

import (
	"bytes"
	"reflect"
	"slices"
	"testing"

	"birthmark/chains/cardano/ledger"
	"birthmark/internal/testnode/cardanotest"
	"birthmark/model"
)

// Outside of its block a transaction of any era since Shelley has the same values, also of custom indexes, except for
// values that depend on the block.
func TestUnconfirmedTransactionsHaveTheValuesOfConfirmedOnes(t *testing.T) {
	needBlock := []string{"day", "position"}
	indexes := []model.Definition{
		{Name: "labels", Kind: model.ManyValued, Value: "tx.metadata_labels"},
		{Name: "size", Value: "tx.size"},
		{Name: "valid", Value: "tx.valid"},
		{Name: "day", Value: "block.time / 86400"},
		{Name: "position", When: "tx.index > 0", Value: "tx.index"},
	}
	decoders := map[string]*ledger.Decoder{}
	txs, failed, left := map[byte]int{}, 0, 0
	compare := func(name, network string, raw []byte) {
		d := decoders[network]
		if d == nil {
			d = defined(t, network, indexes...).decoderOf(t)
			d.Raw = true
			decoders[network] = d
		}
		b, _, err := d.Block(raw)
		if err != nil {
			t.Fatal(err)
		}
		if b.Header[0] < ledger.EraShelley {
			return
		}
		var absent []int
		for i, x := range defined(t, network, indexes...).Indexes() {
			if slices.Contains(needBlock, x.Name) {
				absent = append(absent, i)
			}
		}
		for i := range b.Txs {
			want := &b.Txs[i]
			for o := range want.Outputs {
				keys := want.Outputs[o].Keys
				all := len(keys)
				keys = slices.DeleteFunc(keys, func(k model.Key) bool { return slices.Contains(absent, k.Index) })
				want.Outputs[o].Keys = keys
				left += all - len(keys)
			}
			buffer := bytes.Clone(want.Raw)
			got, err := d.Tx(buffer)
			if err != nil {
				t.Fatalf("%s: transaction %d: %v", name, i, err)
			}
			clear(buffer) // the buffer is reused
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: transaction %d %s:\n%+v\nin its block:\n%+v", name, i, want.Hash, got, want)
			}
			txs[b.Header[0]]++
			if tx, err := ledger.ReadRaw(want.Raw); err != nil {
				t.Fatal(err)
			} else if tx.Failed {
				failed++
			}
		}
	}
	for _, s := range singles(t) {
		compare(s.File, s.network(), realFile(t, s.File))
	}
	collateral := cardanotest.TxBody(cardanotest.Dict{
		13: cardanotest.List{cardanotest.List{cardanotest.Filled(32, 0xcc), 3}},
		16: cardanotest.List{cardanotest.Address, 2_000_000}, 17: 500_000,
	})
	compare("failed", "preview", cardanotest.Block(t, ledger.EraBabbage, cardanotest.List{collateral},
		cardanotest.List{cardanotest.Dict{}}, cardanotest.Dict{}, cardanotest.List{0}))
	for era := byte(ledger.EraShelley); era <= ledger.EraConway; era++ {
		if txs[era] == 0 {
			t.Errorf("no transactions of %s", ledger.EraNames[era])
		}
	}
	if failed == 0 || left == 0 {
		t.Errorf("%d transactions failed, %d values need the block", failed, left)
	}
	t.Logf("%v transactions, %d failed, %d values that need the block", txs, failed, left)
}

func TestMalformedUnconfirmedTransactionsAreErrors(t *testing.T) {
	d := defined(t, "mainnet").decoderOf(t)
	d.Raw = true
	for _, s := range singles(t) {
		if s.network() != "mainnet" {
			continue
		}
		b, _, err := d.Block(realFile(t, s.File))
		if err != nil {
			t.Fatal(err)
		}
		for i, tx := range b.Txs[:min(len(b.Txs), 2)] {
			if b.Header[0] < ledger.EraShelley {
				if _, err := d.Tx(tx.Raw); err == nil {
					t.Fatal("a transaction of Byron is accepted")
				}
				continue
			}
			for size := 0; size < len(tx.Raw); size += 1 + len(tx.Raw)/200 {
				if _, err := d.Tx(tx.Raw[:size]); err == nil {
					t.Fatalf("%s: %d of %d bytes are transaction %d", s.File, size, len(tx.Raw), i)
				}
			}
			if _, err := d.Tx(append(slices.Clone(tx.Raw), 0)); err == nil {
				t.Fatal("an extra byte after the transaction is accepted")
			}
		}
	}
}
