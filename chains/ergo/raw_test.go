package ergo

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"testing"

	"birthmark/chains/ergo/jsonstream"
	"birthmark/chains/ergo/sigma"
	"birthmark/internal/testblocks"
	"birthmark/internal/testnode/ergotest"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// whole decodes a block with the raw bytes of its transactions. The block is otherwise the same.
func whole(t *testing.T, raw []byte) *model.Block {
	t.Helper()
	d := decoderOf(t, indexAddress)
	want, err := d.block(raw)
	if err != nil {
		t.Fatal(err)
	}
	d = d.clone()
	d.raw = true
	var b *model.Block
	for range 2 { // the buffers of the decoder then have their final size
		if b, err = d.block(raw); err != nil {
			t.Fatal(err)
		}
	}
	plain := *b
	plain.Txs = append([]model.Tx{}, b.Txs...)
	for i := range plain.Txs {
		plain.Txs[i].Raw = nil
	}
	if !reflect.DeepEqual(&plain, want) {
		t.Errorf("block %s differs with raw transactions", b.Hash)
	}
	return b
}

// eachRealBlock calls a function with the JSON of every available real block.
func eachRealBlock(t *testing.T, each func(name string, raw []byte)) {
	t.Helper()
	for _, file := range realFiles {
		path := testblocks.Path(t, file.path...)
		f, err := openBlockFile(path, jsonstream.Position{})
		if err != nil {
			t.Fatal(err)
		}
		defer f.close()
		for {
			raw, err := f.next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			each(file.path[len(file.path)-1], raw)
		}
	}
}

func TestRawTransactionsOfRealBlocksHashToTheirIDs(t *testing.T) {
	testrun.Slow(t)
	c, err := New("")
	if err != nil {
		t.Fatal(err)
	}
	txs, proofs, sizes := 0, 0, 0
	eachRealBlock(t, func(name string, raw []byte) {
		b := whole(t, raw)
		var node struct {
			Of struct {
				Txs []struct{ Size int } `json:"transactions"`
			} `json:"blockTransactions"`
		}
		if err := json.Unmarshal(raw, &node); err != nil {
			t.Fatal(err)
		}
		for i, tx := range node.Of.Txs {
			if tx.Size == 0 { // not all nodes write it
				continue
			}
			if sizes++; len(b.Txs[i].Raw) != tx.Size {
				t.Errorf("%s: transaction %s has %d bytes, the node reports %d", name, b.Txs[i].Hash, len(b.Txs[i].Raw), tx.Size)
			}
		}
		for i := range b.Txs {
			tx := &b.Txs[i]
			if got, err := c.(model.TxHasher).HashTx(tx.Raw); err != nil || got != tx.Hash {
				t.Fatalf("%s: the bytes of %s hash to %s, %v", name, tx.Hash, got, err)
			}
			txs++
			if tx.Raw[0] == 1 && tx.Raw[1+len(sigma.ID{})] > 0 {
				proofs++
			}
		}
	})
	if sizes < 2000 {
		t.Errorf("only %d sizes from nodes", sizes)
	}
	if txs < 2500 || proofs < 50 {
		t.Errorf("only %d transactions, %d of them with one input that has a proof", txs, proofs)
	}
}

// A raw transaction is complete and does not depend on the form of the JSON.
func TestRawTransactionsIncludeProofs(t *testing.T) {
	tx := aTx()
	raw := jsonOf(t, handmade(t, 2, tx))
	var e sigma.Encoder
	want := e.AppendTx(nil, &tx, true)
	swapped := bytes.Replace(raw, []byte(`"1":"0402","7":"0e0141"`), []byte(`"7":"0e0141","1":"0402"`), 1)
	var backwards bytes.Buffer
	writeBackwards(t, &backwards, raw)
	for name, written := range map[string][]byte{"as a node writes it": raw, "variables swapped": swapped, "backwards": backwards.Bytes()} {
		if b := whole(t, written); !bytes.Equal(b.Txs[0].Raw, want) {
			t.Errorf("%s: the bytes are %x, expected %x", name, b.Txs[0].Raw, want)
		}
	}
}

func TestRawTransactionsAreTheSameFromEverySource(t *testing.T) {
	path, blocks := firstBlocks(t)
	node := ergotest.New(ergotest.Options{Genesis: nil})
	node.Extend(blocks[:50]...)
	raw := func(o *model.SourceOptions) { o.Raw = true }
	to := upTo(50)
	file := openAt(t, "mainnet", "file://"+path, raw, to)
	fromFile, err := allOf(t, file)
	if err != nil || len(fromFile) != 50 {
		t.Fatalf("%d blocks, %v", len(fromFile), err)
	}
	fromNode, err := allOf(t, openAt(t, "mainnet", node.Start(t), raw, to))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(txsOf(fromFile), txsOf(fromNode)) {
		t.Error("the transactions of a node differ from those of a file")
	}
	if genesis := fromFile[0].Block.Genesis; len(genesis) != 1 || genesis[0].Raw != nil {
		t.Errorf("a genesis transaction has raw bytes: %+v", genesis)
	}
	single, err := file.(model.BlockReader).BlockAt(t.Context(), 50)
	if err != nil || !reflect.DeepEqual(single, fromFile[49].Block) {
		t.Errorf("block 50 read separately is %+v, %v", single, err)
	}
}

func txsOf(events []model.Event) (txs []model.Tx) {
	for _, e := range events {
		txs = append(txs, e.Block.Txs...)
	}
	return txs
}

func TestHashTxRejectsInvalidTransactions(t *testing.T) {
	c, err := New("")
	if err != nil {
		t.Fatal(err)
	}
	tx := aTx()
	var e sigma.Encoder
	raw := e.AppendTx(nil, &tx, true)
	want := model.Hash(e.TxID(&tx))
	if got, err := c.(model.TxHasher).HashTx(raw); err != nil || got != want {
		t.Fatalf("the bytes hash to %s, %v, expected %s", got, err, want)
	}
	for n := range raw {
		got, err := c.(model.TxHasher).HashTx(raw[:n])
		if kind, code := model.KindOf(err); got == want || err != nil && (kind != model.NotFound || code != "not_told") {
			t.Errorf("%d of %d bytes hash to %s, %v", n, len(raw), got, err)
		}
	}
	tx.Inputs[0].Extension[0].Value = []byte{0xff, 1, 2, 3}
	if got, err := c.(model.TxHasher).HashTx(e.AppendTx(nil, &tx, true)); err == nil {
		t.Errorf("a variable of an unknown type: the bytes hash to %s", got)
	}
}
