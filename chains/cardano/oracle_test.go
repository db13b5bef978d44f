package cardano

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gouroboros "github.com/blinklabs-io/gouroboros/ledger"
	"github.com/blinklabs-io/gouroboros/ledger/common"
	fxcbor "github.com/fxamacker/cbor/v2"
	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/ledger"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// theirs returns a block as decoded by gouroboros, as lines of text.
func theirs(t testing.TB, raw []byte) string {
	t.Helper()
	w := cbor.Walker{Data: raw}
	pair := w.Array("wrapper")
	w.Field(&pair, "era")
	era := uint(w.Uint("era"))
	w.Field(&pair, "block")
	b, err := gouroboros.NewBlockFromCbor(era, w.Item("block"))
	if err != nil {
		t.Fatalf("gouroboros: %v", err)
	}
	var s strings.Builder
	h := b.Header()
	fmt.Fprintf(&s, "block %d %s slot %d parent %s\n", h.BlockNumber(), h.Hash(), h.SlotNumber(), h.PrevHash())
	for _, tx := range b.Transactions() {
		fee := "none"
		switch {
		case era == ledger.EraByron:
		case tx.IsValid():
			fee = tx.Fee().String()
		case tx.TotalCollateral() != nil && tx.TotalCollateral().Sign() > 0:
			fee = tx.TotalCollateral().String()
		}
		fmt.Fprintf(&s, "tx %s fee %s\n", tx.Hash(), fee)
		for _, in := range tx.Consumed() {
			fmt.Fprintf(&s, "  in %s:%d\n", in.Id(), in.Index())
		}
		for _, p := range tx.Produced() {
			s.WriteString(theirOutput(t, p))
		}
		if m := tx.AssetMint(); m != nil && tx.IsValid() {
			s.WriteString(joined("  mint", theirAssets(m)))
		}
	}
	return s.String()
}

func theirOutput(t testing.TB, p common.Utxo) string {
	t.Helper()
	o := p.Output
	line := fmt.Sprintf("  out %d %s to %x", p.Id.Index(), o.Amount(), address.Canonical(theirAddress(t, o.Cbor())))
	if h := o.DatumHash(); h != nil && *h != (common.Blake2b256{}) {
		line += fmt.Sprintf(" datum %x", h[:])
	} else if d := o.Datum(); d != nil {
		line += fmt.Sprintf(" datum %x", blake2b.Sum256(d.Cbor()))
	}
	if s := o.ScriptRef(); s != nil {
		line += fmt.Sprintf(" script %s", s.Hash())
	}
	line += "\n"
	if m := o.Assets(); m != nil {
		line += joined("    asset", theirAssets(m))
	}
	return line
}

// theirAddress parses the address from the output's bytes: gouroboros encodes addresses again, which changes pointers
// with numbers above 64 bits.
func theirAddress(t testing.TB, output []byte) []byte {
	t.Helper()
	var first fxcbor.RawMessage
	if output[0]>>5 == cbor.Map {
		var m map[uint64]fxcbor.RawMessage
		unmarshal(t, output, &m)
		first = m[0]
	} else {
		var a []fxcbor.RawMessage
		unmarshal(t, output, &a)
		first = a[0]
	}
	if first[0]>>5 == cbor.Array {
		return first
	}
	var someAddress []byte
	unmarshal(t, first, &someAddress)
	return someAddress
}

func unmarshal(t testing.TB, b []byte, into any) {
	t.Helper()
	if err := fxcbor.Unmarshal(b, into); err != nil {
		t.Fatalf("%x: %v", b, err)
	}
}

func theirAssets(m *common.MultiAsset[common.MultiAssetTypeOutput]) (lines []string) {
	for _, policy := range m.Policies() {
		for _, name := range m.Assets(policy) {
			if amount := fmt.Sprint(m.Asset(policy, name)); amount != "0" {
				lines = append(lines, fmt.Sprintf("%x%x %s", policy[:], name, amount))
			}
		}
	}
	return lines
}

// ours returns the same lines for a block of our decoder, with the indexes of oracleIndexes.
func ours(b *model.Block) string {
	var s strings.Builder
	fmt.Fprintf(&s, "block %d %s slot %d parent %s\n", b.Height, b.Hash, b.Slot, b.Parent)
	for _, tx := range b.Txs {
		fee := "none"
		if tx.Fee.Stated {
			fee = fmt.Sprint(tx.Fee.Amount)
		}
		fmt.Fprintf(&s, "tx %s fee %s\n", tx.Hash, fee)
		for _, in := range tx.Inputs {
			fmt.Fprintf(&s, "  in %s:%d\n", in.Tx, in.Index)
		}
		for i, o := range tx.Outputs {
			line := fmt.Sprintf("  out %d %d", int(tx.FirstOutput)+i, o.Value)
			for _, k := range o.Keys {
				line += []string{" to ", " datum ", " script "}[k.Index] + hex.EncodeToString(k.Value)
			}
			s.WriteString(line + "\n")
			var assets []string
			for _, a := range o.Assets {
				assets = append(assets, fmt.Sprintf("%x %d", a.ID, a.Amount))
			}
			s.WriteString(joined("    asset", assets))
		}
		var mints []string
		for _, m := range tx.Mints {
			mints = append(mints, fmt.Sprintf("%x %s", m.Asset, m.Amount))
		}
		s.WriteString(joined("  mint", mints))
	}
	return s.String()
}

var oracleIndexes = []string{indexAddress, indexDatumHash, indexScriptHash}

// joined sorts lines before it joins them: the order in gouroboros is random.
func joined(prefix string, lines []string) string {
	slices.Sort(lines)
	var s strings.Builder
	for _, l := range lines {
		s.WriteString(prefix + " " + l + "\n")
	}
	return s.String()
}

func compareWithOracle(t *testing.T, d *ledger.Decoder, raw []byte) {
	t.Helper()
	b, boundary, err := d.Block(raw)
	if err != nil {
		t.Fatal(err)
	}
	if boundary && len(b.Txs) > 0 {
		t.Fatalf("a boundary block of %d transactions", len(b.Txs))
	}
	want, got := strings.Split(theirs(t, raw), "\n"), strings.Split(ours(b), "\n")
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || want[i] != got[i] {
			t.Errorf("block %s, line %d:\n got %s\nwant %s", b.Hash, i, got[min(i, len(got)-1)], want[min(i, len(want)-1)])
			return
		}
	}
}

// All available blocks are compared, which is slow because of gouroboros. With -short every 17th block is compared.
func TestChunksMatchGouroboros(t *testing.T) {
	testrun.Slow(t)
	t.Parallel()
	step := 1
	if testing.Short() {
		step = 17
	}
	chunks(t, func(name, network string, blocks [][]byte) {
		d := decodedAs(t, network, oracleIndexes...)
		for i := 0; i < len(blocks) && !t.Failed(); i += step {
			compareWithOracle(t, d, blocks[i])
		}
	})
}

func TestSingleBlocksMatchGouroboros(t *testing.T) {
	for _, s := range singles(t) {
		t.Run(s.File, func(t *testing.T) {
			compareWithOracle(t, decodedAs(t, s.network(), oracleIndexes...), realFile(t, filepath.FromSlash(s.File)))
		})
	}
}
