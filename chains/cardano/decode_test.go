package cardano

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/ledger"
	"birthmark/internal/testblocks"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// decodedAs returns a decoder of a network.
func decodedAs(t testing.TB, networkName string, indexes ...string) *ledger.Decoder {
	t.Helper()
	c, err := New(networkName)
	if err != nil {
		t.Fatal(err)
	}
	d, err := c.(*chain).decoder(indexes, false)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// realFile returns the content of a file of real blocks, uncompressed and decoded from hex.
func realFile(t testing.TB, path ...string) []byte {
	t.Helper()
	full := testblocks.Path(t, append([]string{"cardano"}, path...)...)
	b, err := os.ReadFile(full)
	if err != nil {
		t.Fatal(err)
	}
	switch filepath.Ext(full) {
	case ".block":
		if b, err = hex.DecodeString(strings.TrimSpace(string(b))); err != nil {
			t.Fatalf("%s: %v", full, err)
		}
	case ".zstd":
		unzstd, err := exec.LookPath("zstd")
		if err != nil {
			t.Skipf("%s is compressed and there is no zstd", full)
		}
		if b, err = exec.Command(unzstd, "-dc", full).Output(); err != nil {
			t.Fatalf("%s: %v", full, err)
		}
	}
	return b
}

// cut splits a chunk into blocks, which are adjacent CBOR items.
func cut(t testing.TB, chunk []byte) (blocks [][]byte) {
	t.Helper()
	for w := (cbor.Walker{Data: chunk}); w.Offset < len(chunk); {
		blocks = append(blocks, w.Item("block"))
		if w.Err != nil {
			t.Fatal(w.Err)
		}
	}
	return blocks
}

// cutByIndex splits a chunk into blocks at the offsets in its secondary index.
func cutByIndex(t testing.TB, chunk, secondary []byte) (blocks [][]byte) {
	t.Helper()
	const entry = 56
	end := len(chunk)
	for i := len(secondary)/entry - 1; i >= 0; i-- {
		start := int(binary.BigEndian.Uint64(secondary[i*entry:]))
		blocks = append(blocks, chunk[start:end])
		end = start
	}
	slices.Reverse(blocks)
	return blocks
}

// chunks returns the available chunks, each with its network.
func chunks(t testing.TB, each func(name, network string, blocks [][]byte)) {
	t.Helper()
	dir := testblocks.Path(t, "cardano", "dingo-immutable")
	names, err := filepath.Glob(filepath.Join(dir, "*.chunk"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no chunks in %s: %v", dir, err)
	}
	for _, name := range names {
		base := filepath.Base(name)
		index := strings.TrimSuffix(base, ".chunk") + ".secondary"
		each(base, "preview", cutByIndex(t, realFile(t, "dingo-immutable", base), realFile(t, "dingo-immutable", index)))
	}
	each("01285.chunk", "preprod", cutByIndex(t, realFile(t, "pallas", "01285.chunk"), realFile(t, "pallas", "01285.secondary")))
	compressed := filepath.Join("daedalus-turbo", "chunk-registry", "compressed", "chunk")
	for name, file := range map[string]string{"00000": "526D236112DB8E38E66F37D330C85AFE0C268D81DF853DDDE4E88551EB9B0637", "00500": "DF597E3FA352A7BD2F021733804C33729EBAA3DCAA9C0643BD263EFA09497B03"} {
		each(name, "mainnet", cut(t, realFile(t, compressed, file+".zstd")))
	}
}

// single is one line of single-blocks.dev.ndjson: another program's counts for a file with one block.
type single struct {
	File, Era, Hash, Net                             string
	Slot                                             uint64
	No                                               model.HeightPk
	Txs, Ins, Outs, Mints, Burns, Datums, ScriptRefs int
	Invalid, OutsWithAssets, Bytes                   int
	TxIds                                            []string
}

func singles(t testing.TB) (all []single) {
	t.Helper()
	in := json.NewDecoder(bytes.NewReader(realFile(t, "single-blocks.dev.ndjson")))
	for in.More() {
		var s single
		if err := in.Decode(&s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// network returns the network that decodes a single block. Blocks of networks that no longer exist use mainnet: their
// Byron epochs had the same length, and the compared values do not depend on the network.
func (s *single) network() string {
	if s.File == "harmonic/byron/__tests__/fixtures/byron8.block" {
		return "preprod"
	}
	return "mainnet"
}

func TestSingleBlocksMatchReferenceCounts(t *testing.T) {
	for _, s := range singles(t) {
		d := decodedAs(t, s.network(), indexScriptHash, indexDatumHash)
		raw := realFile(t, filepath.FromSlash(s.File))
		b, boundary, err := d.Block(raw)
		if err != nil {
			t.Errorf("%s: %v", s.File, err)
			continue
		}
		got := single{File: s.File, Era: s.Era, Hash: b.Hash.String(), Net: s.Net, Slot: b.Slot, No: b.Height, Txs: len(b.Txs), Bytes: len(raw), Invalid: s.Invalid, TxIds: []string{}}
		for _, tx := range b.Txs {
			got.Ins += len(tx.Inputs)
			got.Outs += len(tx.Outputs)
			got.TxIds = append(got.TxIds, tx.Hash.String())
			for _, m := range tx.Mints {
				if m.Amount.Sign() > 0 {
					got.Mints++
				} else {
					got.Burns++
				}
			}
			for _, o := range tx.Outputs {
				if len(o.Assets) > 0 {
					got.OutsWithAssets++
				}
				for _, k := range o.Keys {
					if k.Index == 0 {
						got.ScriptRefs++
					} else {
						got.Datums++
					}
				}
			}
		}
		if s.TxIds == nil {
			s.TxIds = []string{}
		}
		if boundary != (s.Era == "ByronEBB") {
			t.Errorf("%s of %s: boundary %v", s.File, s.Era, boundary)
		}
		if want, got := text(t, s), text(t, got); got != want {
			t.Errorf("%s:\n got %s\nwant %s", s.File, got, want)
		}
	}
}

func text(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Every block of a chunk is the child of the block before it, boundary blocks included.
func TestBlocksOfAChunkAreLinked(t *testing.T) {
	testrun.Slow(t)
	type totals struct{ blocks, boundaries, txs, inputs, outputs int }
	got := map[string]totals{}
	chunks(t, func(name, network string, blocks [][]byte) {
		d := decodedAs(t, network, valueNames...)
		if network == "preview" {
			name = network
		}
		sum := got[name]
		var last *model.Block
		for i, raw := range blocks {
			b, boundary, err := d.Block(raw)
			if err != nil {
				t.Fatalf("%s: block %d: %v", name, i, err)
			}
			if last != nil && (b.Parent != last.Hash || b.Slot < last.Slot) {
				t.Fatalf("%s: block %s at slot %d has the parent %s, expected %s at slot %d", name, b.Hash, b.Slot, b.Parent, last.Hash, last.Slot)
			}
			last = b
			if boundary {
				sum.boundaries++
			}
			sum.blocks++
			sum.txs += len(b.Txs)
			for j := range b.Txs {
				sum.inputs += len(b.Txs[j].Inputs)
				sum.outputs += len(b.Txs[j].Outputs)
			}
		}
		got[name] = sum
	})
	want := map[string]totals{
		"preview":     {50_940, 0, 10_813, 13_294, 43_830},
		"01285.chunk": {864, 0, 233, 654, 664},
		"00000":       {21_587, 1, 33, 38, 52},
		"00500":       {1_078, 0, 701, 1_258, 1_361},
	}
	if !maps.Equal(got, want) {
		t.Errorf("blocks, boundaries, transactions, inputs, outputs:\n got %v\nwant %v", got, want)
	}
}

// Names of the built-in indexes.
const (
	indexAddress         = "address"
	indexStakeCredential = "stake_credential"
	indexScriptHash      = "script_hash"
	indexDatumHash       = "datum_hash"
)

var valueNames = []string{indexAddress, "payment_credential", indexStakeCredential, indexScriptHash, indexDatumHash, indexPolicy}
