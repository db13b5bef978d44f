package ergonode

import (
	"encoding/json"
	"net/http"
	"slices"

	"birthmark/api/compat/boxes"
	"birthmark/chains/ergo"
	"birthmark/chains/ergo/sigma"
	"birthmark/core/pending"
	"birthmark/model"
)

var mempoolEndpoints = []endpoint{
	{http.MethodGet, "transactions/unconfirmed", pendingTxs, unconfirmed},
	{http.MethodGet, "transactions/unconfirmed/transactionIds", pendingIDs, unconfirmed},
	{http.MethodGet, "transactions/unconfirmed/byTransactionId/*", pendingTx, unconfirmed},
	{http.MethodPost, "transactions/unconfirmed/byTransactionIds", pendingAmong, unconfirmed},
	{http.MethodPost, "transactions/unconfirmed/byErgoTree", pendingOfTree, unconfirmed},
	{http.MethodGet, "transactions/unconfirmed/inputs/byBoxId/*", pendingInput, unconfirmed},
	{http.MethodGet, "transactions/unconfirmed/outputs/byBoxId/*", pendingOutput, unconfirmed},
	{http.MethodPost, "transactions/unconfirmed/outputs/byErgoTree", pendingOutputsOfTree, unconfirmed},
	{http.MethodGet, "transactions/unconfirmed/outputs/byTokenId/*", pendingOutputsWith, unconfirmed},
	{http.MethodPost, "transactions/unconfirmed/outputs/byRegisters", pendingOutputsByRegisters, unconfirmed},
	{http.MethodHead, "transactions/unconfirmed/*", pendingThere, unconfirmed},
}

// pendingPage reads offset and limit of a list of unconfirmed transactions.
func (q *request) pendingPage() (page, error) {
	q.Query["limit"] = or(q.Query["limit"], "50")
	return q.page("transactions")
}

func pendingTxs(q *request, _ []string) error {
	p, err := q.pendingPage()
	if err != nil {
		return err
	}
	var all []*pending.Tx
	for t := range q.v.Pending() {
		if p.offset > 0 {
			p.offset--
		} else if len(all) < p.limit {
			all = append(all, t)
		}
	}
	return q.addPending(all)
}

// addPending writes unconfirmed transactions with the boxes that they spend, as the node does since 6.0.1.
func (q *request) addPending(all []*pending.Tx) error {
	q.Add("[")
	n := 0
	for part := range slices.Chunk(all, rows) {
		txs := make([]*boxes.Tx, len(part))
		var spent []sigma.ID
		for i, t := range part {
			var err error
			if txs[i], err = q.v.Parsed(t); err != nil {
				return err
			}
			for j := range txs[i].Inputs {
				spent = append(spent, txs[i].Inputs[j].Box)
			}
		}
		inputs, err := q.v.Inputs(spent)
		if err != nil {
			return err
		}
		for _, t := range txs {
			q.Comma(n)
			n++
			q.AddTx(t, inputs[:len(t.Inputs)])
			inputs = inputs[len(t.Inputs):]
			if err := q.Flush(); err != nil {
				return err
			}
		}
	}
	q.Add("]")
	return nil
}

func pendingIDs(q *request, _ []string) error {
	q.Add("[")
	n := 0
	for t := range q.v.Pending() {
		q.Comma(n)
		n++
		q.Hex(t.ID[:])
	}
	q.Add("]")
	return nil
}

// pendingTx writes an unconfirmed transaction with the boxes that it spends.
func pendingTx(q *request, args []string) error {
	id, err := parseID(args[0])
	if err != nil {
		return err
	}
	t := q.v.PendingTx(model.Hash(id))
	if t == nil {
		return errNotFound
	}
	parsed, err := q.v.Parsed(t)
	if err != nil {
		return err
	}
	inputs, err := q.v.InputsOf(parsed)
	if err != nil {
		return err
	}
	q.AddTx(parsed, inputs)
	return nil
}

func pendingThere(q *request, args []string) error {
	id, err := parseID(args[0])
	if err != nil {
		return err
	}
	if q.v.PendingTx(model.Hash(id)) == nil {
		return errNotFound
	}
	return nil
}

// pendingAmong writes the ids of the request that unconfirmed transactions have.
func pendingAmong(q *request, _ []string) error {
	ids, err := q.ids()
	if err != nil {
		return err
	}
	q.Add("[")
	n := 0
	for _, id := range ids {
		if q.v.PendingTx(model.Hash(id)) != nil {
			q.Comma(n)
			n++
			q.ID(id)
		}
	}
	q.Add("]")
	return nil
}

// postedTree reads a body that is an ErgoTree, and returns its hash.
func (q *request) postedTree() (hash [32]byte, err error) {
	text, err := q.text()
	if err != nil {
		return hash, err
	}
	tree, err := boxes.ParseTree(text)
	if err != nil {
		return hash, err
	}
	return ergo.TreeHash(tree), nil
}

func pendingOfTree(q *request, _ []string) error {
	p, err := q.pendingPage()
	if err != nil {
		return err
	}
	hash, err := q.postedTree()
	if err != nil {
		return err
	}
	var all []*pending.Tx
	for t := range q.v.PendingOf(boxes.TreeIndex, hash[:]) {
		if p.offset > 0 {
			p.offset--
		} else if len(all) < p.limit {
			all = append(all, t)
		}
	}
	return q.addPending(all)
}

func pendingInput(q *request, args []string) error {
	id, err := parseID(args[0])
	if err != nil {
		return err
	}
	by, err := q.v.PendingSpendOf(id)
	if err != nil {
		return err
	}
	if by == nil {
		return errNotFound
	}
	spent, err := q.v.Inputs([]sigma.ID{id})
	if err != nil {
		return err
	}
	q.AddInput(&by.Tx.Inputs[by.Index], spent[0])
	return nil
}

func pendingOutput(q *request, args []string) error {
	id, err := parseID(args[0])
	if err != nil {
		return err
	}
	b, err := q.v.PendingBox(id)
	if err != nil {
		return err
	}
	if b == nil {
		return errNotFound
	}
	q.Add("{")
	q.AddBox(b)
	q.Add("}")
	return nil
}

// addOutputs writes a window of unconfirmed boxes.
func (q *request) addOutputs(all []boxes.Box) error {
	p, err := q.pendingPage()
	if err != nil {
		return err
	}
	all = all[min(p.offset, len(all)):]
	q.Add("[")
	for i := range all[:min(p.limit, len(all))] {
		q.Comma(i)
		q.Add("{")
		q.AddBox(&all[i])
		q.Add("}")
	}
	q.Add("]")
	return nil
}

func pendingOutputsOfTree(q *request, _ []string) error {
	hash, err := q.postedTree()
	if err != nil {
		return err
	}
	all, err := q.v.PendingBoxes(boxes.TreeIndex, hash[:])
	if err != nil {
		return err
	}
	return q.addOutputs(all)
}

func pendingOutputsWith(q *request, args []string) error {
	id, err := parseID(args[0])
	if err != nil {
		return err
	}
	all, err := q.v.PendingBoxesWith(id)
	if err != nil {
		return err
	}
	return q.addOutputs(all)
}

// pendingOutputsByRegisters writes the unconfirmed boxes that have all registers of the body.
func pendingOutputsByRegisters(q *request, _ []string) error {
	body, err := q.body()
	if err != nil {
		return err
	}
	var texts map[string]string
	if err := json.Unmarshal(body, &texts); err != nil || len(texts) == 0 {
		return bad(`the body is not an object of registers in hex, such as {"R4":"0e00"}`)
	}
	want, err := boxes.ParseRegisters(texts)
	if err != nil {
		return err
	}
	all, err := q.v.AllPendingBoxes()
	if err != nil {
		return err
	}
	kept := all[:0]
	for _, b := range all {
		if want.In(b.Box()) {
			kept = append(kept, b)
		}
	}
	return q.addOutputs(kept)
}
