package ergotest

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"

	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// pool has the unconfirmed transactions of a node.
type pool struct {
	txs   []Tx
	known map[model.Hash]Tx // that clients may submit: see [Node.Expect]
}

// Tx is a transaction as a node returns it.
type Tx struct {
	ID     model.Hash
	Inputs []string // ids of the boxes that it spends
	JSON   []byte
}

// Txs returns the transactions of a block.
func Txs(b Block) (txs []Tx) {
	var body struct{ Transactions []json.RawMessage }
	if err := json.Unmarshal(member(b.JSON, "blockTransactions"), &body); err != nil {
		panic(err)
	}
	for _, raw := range body.Transactions {
		txs = append(txs, ParseTx(raw))
	}
	return txs
}

// ParseTx reads a transaction without verifying it. It panics if it has no id.
func ParseTx(raw []byte) Tx {
	var tx struct {
		ID     string
		Inputs []struct{ BoxID string }
	}
	if err := json.Unmarshal(raw, &tx); err != nil {
		panic(err)
	}
	id, err := parseID(tx.ID)
	if err != nil {
		panic(err)
	}
	t := Tx{ID: id, JSON: bytes.Clone(raw)}
	for _, in := range tx.Inputs {
		t.Inputs = append(t.Inputs, in.BoxID)
	}
	return t
}

// SetPool replaces the unconfirmed transactions.
func (n *Node) SetPool(txs ...Tx) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pool.txs = append([]Tx(nil), txs...)
}

// Expect makes the node accept transactions, which clients may submit in JSON or as bytes. It refuses all others.
func (n *Node) Expect(txs ...Tx) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pool.known == nil {
		n.pool.known = map[model.Hash]Tx{}
	}
	for _, t := range txs {
		n.pool.known[t.ID] = t
	}
}

// Pool returns the unconfirmed transactions.
func (n *Node) Pool() []Tx {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]Tx(nil), n.pool.txs...)
}

// confirm removes the transactions that a block has, or that spend the same boxes.
func (n *Node) confirm(b Block) {
	if len(n.pool.txs) == 0 {
		return
	}
	ids, spent := map[model.Hash]bool{}, map[string]bool{}
	for _, t := range Txs(b) {
		ids[t.ID] = true
		for _, in := range t.Inputs {
			spent[in] = true
		}
	}
	kept := n.pool.txs[:0]
	for _, t := range n.pool.txs {
		conflict := ids[t.ID]
		for _, in := range t.Inputs {
			conflict = conflict || spent[in]
		}
		if !conflict {
			kept = append(kept, t)
		}
	}
	n.pool.txs = kept
}

// transactions answers requests about unconfirmed transactions; path is without its first part.
func (n *Node) transactions(r *http.Request, path []string, body []byte) Answer {
	switch {
	case r.Method == http.MethodPost && len(path) <= 1:
		return n.submitted(path, body)
	case r.Method != http.MethodGet:
	case len(path) == 1 && path[0] == "getFee":
		return n.fee(r)
	case len(path) == 1 && path[0] == "waitTime":
		return foundJSON(120_000)
	case len(path) == 1 && path[0] == "poolHistogram":
		return foundJSON([]map[string]int{{"nTxns": len(n.pool.txs), "totalFee": 1_000_000 * len(n.pool.txs)}})
	case len(path) == 0 || path[0] != "unconfirmed":
	case len(path) == 1:
		return n.unconfirmed(r)
	case len(path) == 2 && path[1] == "transactionIds" && !n.options.Old:
		ids := []string{}
		for _, t := range n.pool.txs {
			ids = append(ids, t.ID.String())
		}
		return foundJSON(ids)
	case len(path) == 3 && path[1] == "byTransactionId":
		for _, t := range n.pool.txs {
			if t.ID.String() == path[2] {
				return found(t.JSON)
			}
		}
		return refused(http.StatusNotFound, "not-found")
	}
	return Answer{Status: http.StatusNotFound, Body: []byte("The requested resource could not be found.")}
}

// fee answers an estimate: more for a shorter wait and a larger transaction.
func (n *Node) fee(r *http.Request) Answer {
	wait, err := strconv.Atoi(r.URL.Query().Get("waitTime"))
	size, errSize := strconv.Atoi(r.URL.Query().Get("txSize"))
	if err != nil || errSize != nil || wait < 1 {
		return refused(http.StatusBadRequest, "bad.request")
	}
	return foundJSON(1_000_000 + 1_000*size/wait)
}

func (n *Node) unconfirmed(r *http.Request) Answer {
	offset, limit := 0, 50
	for name, to := range map[string]*int{"offset": &offset, "limit": &limit} {
		if text := r.URL.Query().Get(name); text != "" {
			v, err := strconv.Atoi(text)
			if err != nil || v < 0 {
				return refused(http.StatusBadRequest, "bad.request")
			}
			*to = v
		}
	}
	txs := []json.RawMessage{}
	for i := offset; i < min(offset+limit, len(n.pool.txs)); i++ {
		txs = append(txs, n.pool.txs[i].JSON)
	}
	return foundJSON(txs)
}

// submitted answers a transaction in JSON or as bytes, or a check of one.
func (n *Node) submitted(path []string, body []byte) Answer {
	kind := ""
	if len(path) == 1 {
		kind = path[0]
	}
	var id model.Hash
	switch kind {
	case "", "check":
		var tx struct{ ID string }
		if err := json.Unmarshal(body, &tx); err != nil {
			return refused(http.StatusBadRequest, "bad.request")
		}
		id, _ = parseID(tx.ID)
	case "bytes", "checkBytes":
		var text string
		raw, err := []byte(nil), json.Unmarshal(body, &text)
		if err == nil {
			raw, err = hex.DecodeString(text)
		}
		signed, errID := sigma.SignedTxID(raw)
		if err != nil || errID != nil {
			return refused(http.StatusBadRequest, "bad.request")
		}
		id = model.Hash(signed)
	default:
		return Answer{Status: http.StatusNotFound, Body: []byte("The requested resource could not be found.")}
	}
	t, known := n.pool.known[id]
	if !known {
		a := foundJSON(map[string]any{"error": 400, "reason": "bad.request", "detail": "Malformed transaction: every input of the transaction should be in UTXO"})
		a.Status = http.StatusBadRequest
		return a
	}
	if kind == "" || kind == "bytes" {
		n.pool.txs = append(n.pool.txs, t)
	}
	return foundJSON(id.String())
}
