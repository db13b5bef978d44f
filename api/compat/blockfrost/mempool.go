package blockfrost

import (
	"cmp"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"slices"

	"birthmark/api/compat/blockfrost/exchange"
	"birthmark/api/compat/utxo"
	"birthmark/api/ratelimit"
	"birthmark/chains/cardano/address"
	"birthmark/core/pending"
	"birthmark/model"
)

// maxSubmitted is more than the bytes of any transaction: nodes accept 16 KiB.
const maxSubmitted = 1 << 20

// submit sends the transaction of the body to the node, and enters it into the mempool.
func submit(q *request) error {
	if q.Chain.Submitter == nil {
		return exchange.NotImplemented(exchange.NeedsNode)
	}
	raw, err := io.ReadAll(http.MaxBytesReader(q.W, q.R.Body, maxSubmitted))
	if err != nil {
		return err
	}
	if err := ratelimit.Submission(q.W); err != nil {
		return err
	}
	id, err := q.Chain.Submitter.Submit(q.Ctx, raw, model.SubmitOptions{})
	if err != nil {
		return err
	}
	if q.Chain.Mempool != nil {
		_ = q.Chain.Mempool.Enter(q.Ctx, id) // if this fails, the next list of the node has the transaction
	}
	text, err := json.Marshal(id.String())
	q.Answer = json.RawMessage(text)
	return err
}

// unconfirmedPage answers a page of transactions of the mempool, in the order of arrival.
func (q *request) unconfirmedPage(txs []txHash) error {
	p := q.Page
	if p.Descending {
		slices.Reverse(txs)
	}
	from := min(len(txs), (p.Page-1)*p.Count)
	q.Answer = append([]txHash{}, txs[from:min(len(txs), from+p.Count)]...)
	return nil
}

// mempool lists the unconfirmed transactions.
func mempool(q *request) error {
	if q.Chain.Mempool == nil {
		return exchange.NotImplemented(exchange.NeedsNode)
	}
	var txs []txHash
	for t := range q.Chain.Mempool.Standing().Arrivals(0) {
		txs = append(txs, txHash{t.ID.String()})
	}
	return q.unconfirmedPage(txs)
}

// mempoolOfAddress lists the unconfirmed transactions that pay to an address or spend from it.
func mempoolOfAddress(q *request) error {
	if q.Chain.Mempool == nil {
		return exchange.NotImplemented(exchange.NeedsNode)
	}
	_, raw, _, err := q.Q.Value(utxo.AddressIndex, q.Args[0])
	if err != nil {
		return exchange.ErrAddress
	}
	s := q.Chain.Mempool.Standing()
	var txs []txHash
	if x := s.Index(utxo.AddressIndex); x >= 0 {
		for t := range s.Value(x, raw) {
			txs = append(txs, txHash{t.ID.String()})
		}
	}
	return q.unconfirmedPage(txs)
}

// pendingJSON is an unconfirmed transaction.
type pendingJSON struct {
	Tx struct {
		Hash string `json:"hash"`
		txContents
	} `json:"tx"`
	Inputs    []pendingInput    `json:"inputs"`
	Outputs   []createdJSON     `json:"outputs"`
	Redeemers []pendingRedeemer `json:"redeemers"`
}

type pendingInput struct {
	Address     string `json:"address,omitempty"` // absent: the output is not known here
	TxHash      string `json:"tx_hash"`
	OutputIndex int    `json:"output_index"`
	Collateral  bool   `json:"collateral"`
	Reference   bool   `json:"reference"`
}

type pendingRedeemer struct {
	TxIndex   uint64 `json:"tx_index"`
	Purpose   string `json:"purpose"`
	UnitMem   string `json:"unit_mem"`
	UnitSteps string `json:"unit_steps"`
}

// mempoolTx answers an unconfirmed transaction.
func mempoolTx(q *request) error {
	if q.Chain.Mempool == nil {
		return exchange.NotImplemented(exchange.NeedsNode)
	}
	id, ok := exchange.ReadHash(q.Args[0])
	s := q.Chain.Mempool.Standing()
	if !ok || s.Tx(id) == nil {
		return exchange.ErrNotFound
	}
	t := s.Tx(id)
	raw, err := q.Chain.Mempool.Raw(q.Ctx, t)
	if err != nil {
		return err
	}
	d, err := q.Decoding(raw)
	if err != nil {
		return err
	}
	a := &pendingJSON{Inputs: []pendingInput{}, Outputs: []createdJSON{}, Redeemers: []pendingRedeemer{}}
	left := new(big.Int)
	for _, in := range t.Inputs() {
		o := in.Spends()
		left.Add(left, new(big.Int).SetUint64(o.Value))
		a.Inputs = append(a.Inputs, pendingInput{Address: q.pendingAddress(s, o), TxHash: in.Outpoint.Tx.String(), OutputIndex: int(in.Outpoint.Index)})
	}
	for _, group := range []struct {
		refs       []model.OutputReference
		collateral bool
	}{{d.Details.ReferenceInputs, false}, {d.Details.Collateral, true}} {
		for _, r := range group.refs {
			in := pendingInput{TxHash: r.Tx, OutputIndex: r.Index, Collateral: group.collateral, Reference: !group.collateral}
			if in.Address, err = q.referenced(s, r); err != nil {
				return err
			}
			a.Inputs = append(a.Inputs, in)
		}
	}
	assets := sums{}
	for i := range d.Outputs {
		o, err := utxo.OutputOf(&d.Outputs[i])
		if err != nil {
			return err
		}
		left.Sub(left, new(big.Int).SetUint64(o.Value))
		assets.addOutput(o)
		created := q.outputJSON(o).createdJSON
		created.OutputIndex = int(t.FirstOutput) + i
		a.Outputs = append(a.Outputs, created)
	}
	if d.Parts.CollateralReturn != nil && !d.Failed {
		o, err := utxo.ReadOutput(d.Parts.CollateralReturn)
		if err != nil {
			return err
		}
		returned := q.outputJSON(o).createdJSON // without assets, as of a confirmed transaction
		returned.OutputIndex, returned.Collateral, returned.Amount = len(d.Outputs), true, returned.Amount[:1]
		a.Outputs = append(a.Outputs, returned)
	}
	a.Tx.Hash, a.Tx.txContents = id.String(), q.contentsOf(d, assets, len(t.Inputs())+len(d.Outputs))
	a.Tx.Fees, a.Tx.Deposit = exchange.Decimal(t.Fee), depositOf(d, left.Sub(left, new(big.Int).SetUint64(t.Fee))).String()
	redeemers := d.Witnessed().Redeemers
	for i := range redeemers {
		r := &redeemers[i]
		a.Redeemers = append(a.Redeemers, pendingRedeemer{r.Index, r.PurposeName(), exchange.Decimal(r.Memory), exchange.Decimal(r.Steps)})
	}
	slices.SortStableFunc(a.Redeemers, func(x, y pendingRedeemer) int { return cmp.Compare(x.TxIndex, y.TxIndex) })
	q.Answer = a
	return nil
}

// pendingAddress returns the address of an output of the mempool, or of one that it spends.
func (q *request) pendingAddress(s *pending.Standing, o pending.Output) string {
	if x := s.Index(utxo.AddressIndex); x >= 0 {
		return address.FormatAny(o.Key(x))
	}
	return ""
}

// referenced returns the address of an output that a transaction names; empty if it is not known.
func (q *request) referenced(s *pending.Standing, r model.OutputReference) (string, error) {
	tx, ok := exchange.ReadHash(r.Tx)
	if !ok {
		return "", nil
	}
	if t := s.Tx(tx); t != nil {
		if o, ok := t.OutputAt(uint32(r.Index)); ok {
			return q.pendingAddress(s, o), nil
		}
	}
	found, err := q.Q.Prevouts([]model.Input{{Tx: tx, Index: uint32(r.Index)}})
	if err != nil || found[0] == nil {
		return "", err
	}
	owners, err := q.Owners([]model.UtxoPk{found[0].Pk})
	if err != nil {
		return "", err
	}
	return owners[0].Text, nil
}
