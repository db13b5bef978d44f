package bitcoingen

import (
	"bytes"
	"math"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"

	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
)

func TestSeedDeterminesTheBlocks(t *testing.T) {
	s := testseed.New(t)
	o := Options{Seed: s, Txs: 5000, TxsPerBlock: 100}
	a, b := New(o), New(o)
	o.Seed++
	other := New(o)
	for a.Made().Txs < o.Txs {
		x, y, z := a.Next(), b.Next(), other.Next()
		if !bytes.Equal(x.Record, y.Record) {
			t.Fatalf("block %d differs", x.Height)
		}
		if x.Height > 0 && bytes.Equal(x.Record, z.Record) {
			t.Fatalf("block %d is the same with another seed", x.Height)
		}
	}
}

func TestShapeMatchesBitcoin(t *testing.T) {
	testrun.Slow(t)
	const txs = 200_000
	c, l := New(Options{Seed: testseed.New(t), Txs: txs}), newLedger()
	var n, inputs, outputs, sameBlock, bytes float64
	uses := map[string]float64{}
	for c.Made().Txs < txs {
		made := c.Next()
		block := l.add(t, made)
		own := map[chainhash.Hash]bool{}
		for _, tx := range block.Transactions[1:] {
			n++
			inputs += float64(len(tx.TxIn))
			outputs += float64(len(tx.TxOut))
			bytes += float64(tx.SerializeSize())
			for _, in := range tx.TxIn {
				if own[in.PreviousOutPoint.Hash] {
					sameBlock++
				}
			}
			own[tx.TxHash()] = true
			for _, o := range tx.TxOut {
				uses[string(o.PkScript)]++
			}
		}
	}
	hottest := 0.0
	for _, u := range uses {
		hottest = max(hottest, u)
	}
	for _, c := range []struct {
		what             string
		got, least, most float64
	}{
		{"inputs of a transaction", inputs / n, 2.10, 2.45},
		{"outputs of a transaction", outputs / n, 2.55, 2.90},
		{"bytes of a transaction", bytes / n, 400, 580},
		{"spends of outputs of the same block", sameBlock / inputs, 0.20, 0.26},
		{"scripts by outputs", float64(len(uses)) / outputs, 0.40, 0.50},
		{"uses of the hottest script", hottest / outputs, 0.092, 0.11},
		{"unspent outputs by transactions", float64(len(l.unspent)) / n, 0.1, 0.6},
	} {
		if !(c.got >= c.least && c.got <= c.most) {
			t.Errorf("%s: %.3f, expected %.3f to %.3f", c.what, c.got, c.least, c.most)
		}
	}
}

var classes = map[kind]txscript.ScriptClass{
	payKey: txscript.PubKeyTy, payFullKeyHash: txscript.PubKeyHashTy, payKeyHash: txscript.PubKeyHashTy, payMultisig: txscript.MultiSigTy,
	payScript: txscript.ScriptHashTy, payNested: txscript.ScriptHashTy, payWitnessKey: txscript.WitnessV0PubKeyHashTy,
	payWitnessScript: txscript.WitnessV0ScriptHashTy, payTaproot: txscript.WitnessV1TaprootTy,
}

func classOf(script []byte) txscript.ScriptClass {
	if script[0] == txscript.OP_RETURN {
		return txscript.NullDataTy // also with several pushes
	}
	return txscript.GetScriptClass(script)
}

// percents are the shares of output kinds of an era.
func (e *era) percents() map[txscript.ScriptClass]float64 {
	p := map[txscript.ScriptClass]float64{txscript.PubKeyHashTy: 100 * hotOutputs}
	if e.data > 0 {
		p[txscript.NullDataTy] = e.data
	}
	for k, share := range e.pay {
		if share > 0 {
			p[classes[kind(k)]] += share
		}
	}
	return p
}

func TestScriptsChangeWithTheEras(t *testing.T) {
	testrun.Slow(t)
	const txs = 150_000
	c, l := New(Options{Seed: testseed.New(t), Txs: txs}), newLedger()
	found := make([]map[txscript.ScriptClass]float64, len(eras))
	for c.Made().Txs < txs {
		block := l.add(t, c.Next())
		at := len(c.births) - 1
		if found[at] == nil {
			found[at] = map[txscript.ScriptClass]float64{}
		}
		for _, tx := range block.Transactions[1:] {
			for _, o := range tx.TxOut {
				found[at][classOf(o.PkScript)]++
			}
		}
	}
	known := map[txscript.ScriptClass]bool{}
	for i := range eras {
		expected := eras[i].percents()
		sum, all := 0.0, 0.0
		for class, share := range expected {
			sum += share
			known[class] = true
		}
		if math.Abs(sum-100) > 1 {
			t.Errorf("the shares of era %d sum up to %v", i, sum)
		}
		for class, n := range found[i] {
			all += n
			if !known[class] {
				t.Errorf("%s occurs in era %d already", class, i)
			}
		}
		if all < 100 {
			t.Errorf("era %d has %v outputs", i, all)
			continue
		}
		off := 8.0 // outputs also pay to addresses of earlier eras, which matters more in short eras
		if i < 3 {
			off = 25
		}
		for class, share := range expected {
			if got := 100 * found[i][class] / all; math.Abs(got-share) > off {
				t.Errorf("era %d: %.1f%% of outputs are %s, expected %.1f", i, got, class, share)
			}
		}
	}
}

// If more transactions are requested than fit, a block reaches its maximum weight.
func TestFullBlocksAreFull(t *testing.T) {
	c := New(Options{Seed: testseed.New(t), Txs: 60_000, TxsPerBlock: 20_000})
	full := 0
	for c.Made().Txs < 60_000 {
		if c.Next(); c.weight > mostWeight*9/10 {
			full++
		}
		if c.weight > mostWeight {
			t.Fatalf("block %d has a weight of %d", c.Tip().Height, c.weight)
		}
	}
	if full < 10 {
		t.Errorf("%d blocks are full", full)
	}
}

func BenchmarkGenerate(b *testing.B) {
	c := New(Options{Seed: 1, Txs: 1_000_000})
	for c.Made().Txs < 100_000 {
		c.Next()
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n += c.Next().Txs
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/tx")
}

// A share of the outputs pays to the hot address, or to addresses that no earlier output has.
func TestSharesOfRecipients(t *testing.T) {
	for name, o := range map[string]Options{"hot": {HotOutputs: 0.6}, "new": {NewOutputs: 0.8}} {
		o.Seed, o.Txs, o.TxsPerBlock = testseed.New(t), 20_000, 500
		c, l := New(o), newLedger()
		uses, outputs, most := map[string]int{}, 0, 0
		for c.Made().Txs < o.Txs {
			for _, tx := range l.add(t, c.Next()).Transactions[1:] {
				for _, out := range tx.TxOut {
					outputs++
					uses[string(out.PkScript)]++
					most = max(most, uses[string(out.PkScript)])
				}
			}
		}
		got, least := float64(most)/float64(outputs), o.HotOutputs
		if name == "new" {
			got, least = float64(len(uses))/float64(outputs), o.NewOutputs
		}
		if got < least-0.05 {
			t.Errorf("%s: %.2f of the outputs, expected %.2f", name, got, least)
		}
	}
}
