package boxes_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"birthmark/api"
	"birthmark/api/compat/boxes"
	. "birthmark/api/compat/boxes/boxestest"
	"birthmark/api/compat/ergoexplorer"
	"birthmark/api/compat/ergographql"
	"birthmark/api/compat/ergonode"
	"birthmark/api/explorer"
	"birthmark/api/served"
	"birthmark/bench/generate/ergogen"
	"birthmark/chains/ergo/sigma"
	"birthmark/chains/ergo/sigma/sigmatest"
	"birthmark/internal/testnode/ergotest"
	"birthmark/model"
)

// The transaction of mainnet with a tuple in R8 is in every answer about it, unconfirmed and confirmed, from its own
// bytes. The boxes that it spends are boxes of a generated chain that are stored with their ids.
func TestTheTransactionOfMainnetWithATuple(t *testing.T) {
	const id, register = sigmatest.TupleTxID, "860202660263"
	file := filepath.Join("..", "..", "..", "chains", "ergo", "genesis", "testnet.json")
	w := NewWorld(t, "testnet", file)
	made := ergotest.Made(ergogen.New(ergogen.Options{Seed: 1, TxsPerBlock: 8}), 4)
	w.Sync(t, 0, made[:2]...)

	// A node of its own has all blocks, which are changed before they are written.
	genesis, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	node := ergotest.New(ergotest.Options{Network: w.DB.Chain().Network(), Genesis: genesis})
	uri := node.Start(t)
	node.Extend(made...)
	pool := ergotest.ParseTx(tupleTxJSON(t))
	node.SetPool(pool)
	source, err := w.DB.Chain().Open(t.Context(), model.SourceOptions{URI: uri, Indexes: w.DB.Indexes(), Raw: true})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	var blocks []*model.Block
	for e, err := range source.Follow(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, e.Block)
	}
	decoded, err := source.(model.Mempool).MempoolTxs(t.Context(), []model.Hash{pool.ID})
	if err != nil {
		t.Fatal(err)
	}
	tx := decoded[0].Tx
	if hex.EncodeToString(tx.Raw) != sigmatest.TupleTx {
		t.Fatalf("the bytes are %x, expected those of mainnet", tx.Raw)
	}
	// The boxes that it spends and reads are the outputs of the last transaction of block 3.
	third, fourth := blocks[2], blocks[3]
	boxID := slices.Index(w.DB.Indexes(), boxes.BoxIndex)
	named := slices.Concat(idsOf(tx.Inputs), dataInputs(t))
	last := slices.IndexFunc(third.Txs, func(x model.Tx) bool {
		return len(x.Outputs) > len(named) && sum(x.Outputs) > 2*sum(tx.Outputs)
	})
	if last < 0 {
		t.Fatalf("block 3 has no transaction for %d boxes", len(named))
	}
	third.Txs, fourth.Txs = third.Txs[:last+1], []model.Tx{tx}
	changed := third.Txs[last].Outputs
	// Their sum remains, and the spent ones have the sum of the outputs.
	for i, rest := 0, sum(changed); i < len(changed); i++ {
		value := uint64(1)
		switch i {
		case 0:
			value = sum(tx.Outputs) - uint64(len(tx.Inputs)-1)
		case len(changed) - 1:
			value = rest
		}
		changed[i].Value = value
		rest -= value
		if i >= len(named) {
			continue
		}
		for n, key := range changed[i].Keys {
			if key.Index == boxID {
				changed[i].Keys[n].Value = named[i]
			}
		}
	}

	chain := *w.Chain.Chain
	chain.Name = "test"
	mux := http.NewServeMux()
	own, err := api.New(api.Options{Chains: []*served.Chain{&chain}})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := explorer.New(explorer.Options{Chains: []*served.Chain{&chain}})
	if err != nil {
		t.Fatal(err)
	}
	mux.Handle("/v1/", own)
	mux.Handle("/", pages)
	mux.Handle("/node/", ergonode.New(ergonode.Options{Chain: w.Chain, Path: "/node"}))
	mux.Handle("/explorer/", ergoexplorer.New(ergoexplorer.Options{Chain: w.Chain, Path: "/explorer"}))
	mux.Handle("/graphql", ergographql.New(ergographql.Options{Chain: w.Chain, Path: "/graphql"}))
	index := slices.Index(w.DB.Indexes(), boxes.AddressIndex)
	var box, address string
	for _, key := range tx.Outputs[0].Keys {
		switch key.Index {
		case boxID:
			box = hex.EncodeToString(key.Value)
		case index:
			address = w.DB.Chain().Indexes()[0].Format(key.Value)
		}
	}
	tree := strings.SplitN(sigmatest.TupleTx[strings.Index(sigmatest.TupleTx, "100704"):], "d18f34", 2)[0]
	const fields = "boxId transactionId additionalRegisters"
	query := func(text string) string { return "/graphql " + `{"query":` + strconv.Quote(text) + `}` }
	ask := func(targets ...string) {
		t.Helper()
		for _, target := range targets {
			path, body, _ := strings.Cut(target, " ")
			method := http.MethodGet
			if body != "" {
				method = http.MethodPost
			}
			a := Send(t, mux, method, path, body)
			if a.Status != http.StatusOK || !strings.Contains(a.Body, id) || !strings.Contains(a.Body, register) {
				t.Errorf("%.200s: %d %.500s", target, a.Status, a.Body)
			}
		}
	}
	listed := func(paths ...string) {
		t.Helper()
		for _, path := range paths {
			if a := Send(t, mux, http.MethodGet, path, ""); a.Status != http.StatusOK || !strings.Contains(a.Body, id) {
				t.Errorf("%s: %d %.500s", path, a.Status, a.Body)
			}
		}
	}
	at := func(block *model.Block) {
		t.Helper()
		for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
			s, has := w.Mempool.Standing(), block == third
			if s.Tip.Hash == block.Hash && (s.Tx(pool.ID) != nil) == has {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("the overlay is at %v with %d transactions, expected block %d", s.Tip, s.Count(), block.Height)
			}
		}
	}

	if err := w.DB.Append(t.Context(), []*model.Block{third}); err != nil {
		t.Fatal(err)
	}
	w.Node.SwitchWith([]ergotest.Tx{pool}, 2, made[2])
	w.Node.SetPool(pool)
	at(third)
	listed("/v1/test/tx/"+id, "/v1/test/mempool/transactions", "/v1/test/find/address/"+address+"?mempool=include",
		"/test/tx/"+id, "/test/mempool", "/test/address/"+address)
	ask("/node/transactions/unconfirmed", "/node/transactions/unconfirmed/outputs/byBoxId/"+box,
		"/node/utxo/withPool/byId/"+box,
		"/node/transactions/unconfirmed/byErgoTree "+strconv.Quote(tree), "/explorer/api/v0/transactions/unconfirmed",
		"/explorer/api/v0/transactions/unconfirmed/"+id, "/explorer/api/v1/mempool/transactions/byAddress/"+address,
		"/explorer/api/v1/boxes/unspent/unconfirmed/byAddress/"+address,
		query("{ mempool { transactions { transactionId } boxes(boxId: \""+box+"\") { "+fields+" } } }"))

	if err := w.DB.Append(t.Context(), []*model.Block{fourth}); err != nil {
		t.Fatal(err)
	}
	w.Node.SwitchWith(nil, 3, made[3])
	w.Node.SetPool()
	at(fourth)
	ask("/v1/test/tx/"+id, "/v1/test/output/"+id+":0", "/v1/test/output/"+box,
		"/test/tx/"+id, "/node/blockchain/transaction/byId/"+id, "/node/blockchain/box/byId/"+box,
		"/node/blockchain/transaction/byAddress "+address, "/node/blockchain/box/byAddress "+address,
		"/node/blockchain/box/unspent/byErgoTree "+tree, "/node/blockchain/block/byHeaderId/"+fourth.Hash.String(),
		"/node/blocks/"+fourth.Hash.String()+"/transactions", "/node/utxo/byId/"+box,
		"/explorer/api/v1/transactions/"+id, "/explorer/api/v1/boxes/"+box,
		"/explorer/api/v1/addresses/"+address+"/transactions",
		"/explorer/api/v1/boxes/unspent/byAddress/"+address, "/explorer/api/v1/blocks/"+fourth.Hash.String(),
		query("{ boxes(address: \""+address+"\") { "+fields+" } }"))
	if a := Send(t, mux, http.MethodGet, "/v1/test/tx/"+id+"/raw", ""); !strings.Contains(a.Body, sigmatest.TupleTx) {
		t.Errorf("its bytes are %.500s", a.Body)
	}
	listed("/v1/test/find/address/"+address, "/v1/test/history/address/"+address, "/v1/test/block/4",
		"/test/address/"+address, "/test/block/4")
}

func sum(outputs []model.Output) (all uint64) {
	for i := range outputs {
		all += outputs[i].Value
	}
	return all
}

func idsOf(inputs []model.Input) (ids [][]byte) {
	for i := range inputs {
		ids = append(ids, inputs[i].Value)
	}
	return ids
}

// tupleTxJSON is the transaction as a node writes it.
func tupleTxJSON(t *testing.T) []byte {
	t.Helper()
	tx := tupleTx(t)
	type object map[string]any
	inputs, data, outputs := []object{}, []object{}, []object{}
	for _, in := range tx.Inputs {
		extension := object{}
		for _, x := range in.Extension {
			extension[strconv.Itoa(int(x.ID))] = hex.EncodeToString(x.Value)
		}
		inputs = append(inputs, object{"boxId": hex.EncodeToString(in.Box[:]),
			"spendingProof": object{"proofBytes": hex.EncodeToString(in.Proof), "extension": extension}})
	}
	for _, box := range tx.DataInputs {
		data = append(data, object{"boxId": hex.EncodeToString(box[:])})
	}
	var e sigma.Encoder
	txID := e.TxID(tx)
	for i, o := range tx.Outputs {
		boxID := e.BoxID(&o, &txID, i)
		registers, tokens := object{}, []object{}
		for n, value := range o.Registers {
			registers[fmt.Sprintf("R%d", sigma.FirstRegister+n)] = hex.EncodeToString(value)
		}
		for _, x := range o.Tokens {
			tokens = append(tokens, object{"tokenId": hex.EncodeToString(x.ID[:]), "amount": x.Amount})
		}
		outputs = append(outputs, object{"boxId": hex.EncodeToString(boxID[:]), "value": o.Value,
			"ergoTree": hex.EncodeToString(o.Tree), "creationHeight": o.Height, "assets": tokens, "additionalRegisters": registers})
	}
	text, err := json.Marshal(object{"id": sigmatest.TupleTxID, "inputs": inputs, "dataInputs": data, "outputs": outputs})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func dataInputs(t *testing.T) (ids [][]byte) {
	for _, id := range tupleTx(t).DataInputs {
		ids = append(ids, bytes.Clone(id[:]))
	}
	return ids
}

func tupleTx(t *testing.T) *sigma.Tx {
	t.Helper()
	raw, err := hex.DecodeString(sigmatest.TupleTx)
	if err != nil {
		t.Fatal(err)
	}
	// Each tree is before the height 853,969, and no tokens.
	end := []byte{0xd1, 0x8f, 0x34, 0}
	tx, err := sigma.ParseTx(raw, sigma.Known{TreeSize: func(_ int, rest []byte) int { return bytes.Index(rest, end) }})
	if err != nil {
		t.Fatal(err)
	}
	return tx
}
