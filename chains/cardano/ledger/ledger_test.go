package ledger_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"golang.org/x/crypto/blake2b"

	"birthmark/bench/generate/cardanogen"
	"birthmark/chains/cardano/genesis"
	"birthmark/chains/cardano/ledger"
	"birthmark/internal/testnode/cardanotest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

func TestMain(m *testing.M) { testrun.Main(m) }

// Constructed blocks; see cardanotest.
var (
	raw           = cardanotest.Raw
	endless       = cardanotest.Endless
	tagged        = cardanotest.Tagged
	filled        = cardanotest.Filled
	handmade      = cardanotest.Block
	txBody        = cardanotest.TxBody
	txOfByron     = cardanotest.ByronTx
	handmadeByron = cardanotest.ByronBlock
	someAddress   = cardanotest.Address
	policyA       = cardanotest.PolicyA
	policyB       = cardanotest.PolicyB
)

type (
	list = cardanotest.List
	dict = cardanotest.Dict
)

func networkNamed(t testing.TB, name string) *genesis.Network {
	t.Helper()
	n, err := genesis.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// parts is an indexer whose keys are the parts of outputs.
type parts struct{}

func (parts) Clone() ledger.Indexer      { return parts{} }
func (parts) NeedsParts() bool           { return false }
func (parts) Reset()                     {}
func (parts) Block(*ledger.Transactions) {}
func (parts) Output(keys []model.Key, o *ledger.Output) ([]model.Key, error) {
	for i, part := range [][]byte{o.Address, o.DatumHash, o.Datum, o.Script} {
		if len(part) > 0 {
			keys = append(keys, model.Key{Index: i, Value: part})
		}
	}
	return keys, nil
}

// decoderOf returns a decoder of a network, with raw transactions.
func decoderOf(t testing.TB, network string) *ledger.Decoder {
	t.Helper()
	d, err := ledger.NewDecoder(networkNamed(t, network), parts{}, true)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func decoded(t testing.TB, raw []byte) *model.Block {
	t.Helper()
	b, _, err := decoderOf(t, "mainnet").Block(raw)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func oneOutput(t testing.TB, output any) []byte {
	t.Helper()
	return handmade(t, ledger.EraConway, list{txBody(dict{1: list{output}})}, list{dict{}}, dict{}, list{})
}

func text(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// ours describes a block, a line per part.
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
				line += []string{" to ", " datum ", " inline ", " script "}[k.Index] + hex.EncodeToString(k.Value)
			}
			s.WriteString(line + "\n")
			for _, a := range sorted(o.Assets, func(a model.Asset) string { return fmt.Sprintf("%x %d", a.ID, a.Amount) }) {
				s.WriteString("    asset " + a + "\n")
			}
		}
		for _, m := range sorted(tx.Mints, func(m model.Mint) string { return fmt.Sprintf("%x %s", m.Asset, m.Amount) }) {
			s.WriteString("  mint " + m + "\n")
		}
	}
	return s.String()
}

func sorted[T any](all []T, format func(T) string) (lines []string) {
	for _, x := range all {
		lines = append(lines, format(x))
	}
	slices.Sort(lines)
	return lines
}

// Blocks of a chain are linked, whichever decoder reads them. The bytes of each transaction have its id and its outputs.
func TestGeneratedChainsAreLinked(t *testing.T) {
	c := cardanogen.New(cardanogen.Options{Seed: testseed.Of(t, 3)})
	d := decoderOf(t, "preview")
	var before *model.Block
	for c.Made().Txs < 300 {
		raw := c.Next().Raw
		b, boundary, err := d.Block(raw)
		if err != nil || boundary {
			t.Fatalf("%v, boundary %t", err, boundary)
		}
		again, size, err := decoderOf(t, "preview").Next(append(slices.Clone(raw), raw...))
		if err != nil || size != len(raw) || ours(again) != ours(b) || text(t, again) != text(t, b) {
			t.Fatalf("size %d of %d, %v: by another decoder\n%s\n%s", size, len(raw), err, ours(again), ours(b))
		}
		if before != nil && (b.Parent != before.Hash || b.Height != before.Height+1 || b.Slot <= before.Slot || b.Time <= before.Time) {
			t.Fatalf("block %d at slot %d after block %d at slot %d", b.Height, b.Slot, before.Height, before.Slot)
		}
		before = b
		for i := range b.Txs {
			tx := &b.Txs[i]
			hash, err := ledger.HashTx(tx.Raw)
			if err != nil || hash != tx.Hash {
				t.Fatalf("transaction %s: its bytes have the id %s, %v", tx.Hash, hash, err)
			}
			read, err := ledger.ReadRaw(tx.Raw)
			if err != nil || len(read.Outputs) != len(tx.Outputs) {
				t.Fatalf("transaction %s: %d outputs of %d, %v", tx.Hash, len(read.Outputs), len(tx.Outputs), err)
			}
		}
	}
}

// A transaction whose scripts failed spends its collateral and creates the collateral return as the output after its
// regular outputs. It mints nothing. Its fee is the stated total collateral.
func TestFailedTransactionsSpendTheirCollateral(t *testing.T) {
	failing := txBody(dict{
		1:  list{list{someAddress, 5}, dict{0: someAddress, 1: 6}, list{someAddress, list{7, dict{}}}},
		9:  dict{cbor.ByteString(policyA): dict{cbor.ByteString("x"): 1}},
		13: list{list{filled(32, 0xbb), 2}, list{filled(32, 0xbc), 3}},
		16: dict{0: someAddress, 1: 1_000_000},
		17: 300_000,
	})
	plain := txBody(dict{13: list{list{filled(32, 0xbb), 9}}, 16: list{someAddress, 3}, 17: 4})
	unstated := txBody(dict{13: list{list{filled(32, 0xdd), 0}}})
	for _, era := range []int{ledger.EraAlonzo, ledger.EraBabbage, ledger.EraConway} {
		for _, failed := range []any{list{1, 2}, endless(t, 0x9f, 1, 2)} {
			b := decoded(t, handmade(t, era, list{plain, failing, unstated}, list{dict{}, dict{}, dict{}}, dict{}, failed))
			got, want := ours(b), ""
			header := strings.SplitAfterN(got, "\n", 2)
			for i, body := range []dict{plain, failing, unstated} {
				want += "tx " + model.Hash(blake2b.Sum256(raw(t, body))).String() + []string{
					" fee 170000\n  in " + strings.Repeat("aa", 32) + ":1\n  out 0 5 to " + hex.EncodeToString(someAddress) + "\n",
					" fee 300000\n  in " + strings.Repeat("bb", 32) + ":2\n  in " + strings.Repeat("bc", 32) + ":3\n  out 3 1000000 to " + hex.EncodeToString(someAddress) + "\n",
					" fee none\n  in " + strings.Repeat("dd", 32) + ":0\n",
				}[i]
			}
			if header[1] != want {
				t.Errorf("%s:\n got %s\nwant %s", ledger.EraNames[era], header[1], want)
			}
		}
	}
}

// The real blocks have none of these: sets with Conway's tag, items of indefinite length, numbers in a longer form than
// necessary, repeated inputs and assets.
func TestUnusualTransactionEncodings(t *testing.T) {
	in1, in2 := list{filled(32, 1), 1}, list{filled(32, 2), 0}
	held := endless(t, 0xbf,
		policyB, dict{cbor.ByteString(""): 5, cbor.ByteString("zero"): 0},
		policyA, endless(t, 0xbf, []byte("b"), 1, []byte("a"), 2, []byte("b"), 3),
		policyB, dict{cbor.ByteString("z"): tagged(2, []byte{1, 0})})
	inline := []byte{0x01}
	body := txBody(dict{
		0: tagged(258, endless(t, 0x9f, in2, in1, in2, endless(t, 0x9f, filled(32, 1), 1))),
		1: endless(t, 0x9f, endless(t, 0xbf,
			3, tagged(24, []byte(raw(t, list{2, []byte("script")}))),
			2, list{1, tagged(24, inline)},
			1, endless(t, 0x9f, 17, held),
			0, cbor.RawMessage(append(append([]byte{0x5f}, append(raw(t, someAddress[:20]), raw(t, someAddress[20:])...)...), 0xff)))),
		9: dict{
			cbor.ByteString(policyA): dict{cbor.ByteString("x"): -7, cbor.ByteString("y"): 0},
			cbor.ByteString(policyB): dict{cbor.ByteString("x"): uint64(1<<63 - 1)},
		},
	})
	// A key of the body in a longer form than necessary.
	encoded := raw(t, body)
	long := append([]byte{encoded[0] + 1, 0x18, 0x03, 0x1a, 0, 0, 0, 5}, encoded[1:]...)
	bodies := endless(t, 0x9f, cbor.RawMessage(long))
	b := decoded(t, handmade(t, ledger.EraConway, bodies, endless(t, 0x9f, dict{}), endless(t, 0xbf), list{}))
	want := "tx " + model.Hash(blake2b.Sum256(long)).String() + " fee 170000\n" +
		"  in " + strings.Repeat("02", 32) + ":0\n  in " + strings.Repeat("01", 32) + ":1\n" +
		"  out 0 17 to " + hex.EncodeToString(someAddress) + " inline 01 script " + hex.EncodeToString(raw(t, list{2, []byte("script")})) + "\n" +
		"    asset " + hex.EncodeToString(policyA) + "61 2\n    asset " + hex.EncodeToString(policyA) + "62 3\n    asset " + hex.EncodeToString(policyB) + "7a 256\n" +
		"  mint " + hex.EncodeToString(policyA) + "78 -7\n  mint " + hex.EncodeToString(policyB) + "78 9223372036854775807\n"
	if got := strings.SplitAfterN(ours(b), "\n", 2)[1]; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}
