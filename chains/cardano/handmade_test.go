package cardano

import (
	"encoding/hex"
	"strings"
	"sync"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/ledger"
	"birthmark/internal/testnode/cardanotest"
	"birthmark/model"
)

// Constructed blocks; see cardanotest.
var (
	raw           = cardanotest.Raw
	endless       = cardanotest.Endless
	tagged        = cardanotest.Tagged
	filled        = cardanotest.Filled
	handmade      = cardanotest.Block
	assembled     = cardanotest.BlockOf
	placedAt      = cardanotest.BlockAt
	txBody        = cardanotest.TxBody
	txOfByron     = cardanotest.ByronTx
	handmadeByron = cardanotest.ByronBlock
	byronAt       = cardanotest.ByronBlockAt
	boundaryAt    = cardanotest.BoundaryAt
	branch        = cardanotest.Branch
	someAddress   = cardanotest.Address
	policyA       = cardanotest.PolicyA
	policyB       = cardanotest.PolicyB
)

type (
	list = cardanotest.List
	dict = cardanotest.Dict
)

func decoded(t testing.TB, raw []byte, indexes ...string) *model.Block {
	t.Helper()
	b, _, err := decodedAs(t, "mainnet", indexes...).Block(raw)
	if err != nil {
		t.Fatal(err)
	}
	return b
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
	b := decoded(t, handmade(t, ledger.EraConway, bodies, endless(t, 0x9f, dict{}), endless(t, 0xbf), list{}), oracleIndexes...)
	datum, script := blake2b.Sum256(inline), address.Hash224([]byte("\x02script"))
	want := "tx " + model.Hash(blake2b.Sum256(long)).String() + " fee 170000\n" +
		"  in " + strings.Repeat("02", 32) + ":0\n  in " + strings.Repeat("01", 32) + ":1\n" +
		"  out 0 17 to " + hex.EncodeToString(someAddress) + " datum " + hex.EncodeToString(datum[:]) + " script " + hex.EncodeToString(script) + "\n" +
		"    asset " + hex.EncodeToString(policyA) + "61 2\n    asset " + hex.EncodeToString(policyA) + "62 3\n    asset " + hex.EncodeToString(policyB) + "7a 256\n" +
		"  mint " + hex.EncodeToString(policyA) + "78 -7\n  mint " + hex.EncodeToString(policyB) + "78 9223372036854775807\n"
	if got := strings.SplitAfterN(ours(b), "\n", 2)[1]; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// Clones of a decoder decode at the same time and share no memory.
func TestClonesDecodeConcurrently(t *testing.T) {
	block := oneOutput(t, list{someAddress, list{1, dict{cbor.ByteString(policyA): dict{cbor.ByteString("x"): 1}}}})
	d := decodedAs(t, "mainnet", valueNames...)
	want := text(t, decoded(t, block, valueNames...))
	var all sync.WaitGroup
	for _, c := range []*ledger.Decoder{d, d.Clone(), d.Clone()} {
		all.Go(func() {
			for range 50 {
				if b, _, err := c.Block(block); err != nil || text(t, b) != want {
					t.Errorf("%v: %+v", err, b)
				}
			}
		})
	}
	all.Wait()
}
