package blockfrost

import (
	"iter"
	"math/big"
	"slices"
	"strings"

	"birthmark/api/compat/blockfrost/actions"
	"birthmark/api/compat/blockfrost/exchange"
	"birthmark/api/compat/utxo"
	"birthmark/chains/cardano/address"
	"birthmark/core/query"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// holder is an address, a payment credential or an account: a value of an index.
type holder struct {
	text  string // as in answers
	raw   []byte // the stored value
	index *schema.Index
	birth *model.BirthPk // nil: no output has it
}

// holder returns the address of the path, or its payment credential. One that was never used is not found.
func (q *request) holder() (*holder, error) {
	text := q.Args[0]
	if hasPrefix(text, credentialPrefixes) {
		return q.credential(text)
	}
	x, raw, birth, err := q.Q.Value(utxo.AddressIndex, text)
	if err == nil && birth == nil {
		err = exchange.ErrNotFound
	}
	return &holder{text, raw, x, birth}, err
}

// credential returns a payment credential. A key is shown as its hash.
func (q *request) credential(text string) (*holder, error) {
	hash, _ := address.KeyHash(text) // its form is known
	stored := address.Credentials(hash)[0]
	if strings.HasPrefix(text, "script1") {
		stored = address.Credentials(hash)[1]
	}
	x, err := q.Q.Index(utxo.PaymentIndex)
	if err != nil {
		return nil, err
	}
	birth, err := q.Q.Birth(x, stored)
	if err == nil && birth == nil {
		err = exchange.ErrNotFound
	}
	return &holder{address.FormatPaymentCredential(q.NetworkName(), stored), stored, x, birth}, err
}

// account returns the account of the path. Its birth is nil if transactions name it, but no output belongs to it. One that
// neither names is not found.
func (q *request) account() (*holder, error) {
	text := q.Args[0]
	x, stored, birth, err := q.Q.Value(utxo.StakeIndex, text)
	if err == nil && birth == nil {
		var known bool
		if known, err = actions.Names(q.Request, text); err == nil && !known {
			err = exchange.ErrNotFound
		}
	}
	return &holder{text, stored, x, birth}, err
}

// kindOfAddress is the kind that the bytes of an address state.
type kindOfAddress struct {
	Stake  *string
	Type   string
	Script bool
}

func (q *request) kindOf(h *holder) kindOfAddress {
	k := kindOfAddress{Type: "shelley"}
	if h.index.Name == utxo.PaymentIndex {
		k.Script = strings.HasPrefix(h.text, "script")
		return k
	}
	if _, err := address.ByronPayload(h.raw); err == nil {
		k.Type = "byron"
		return k
	}
	if cred, ok := address.PaymentCredential(h.raw); ok {
		k.Script = cred[0] == 1
	}
	if cred, ok := address.StakeCredential(h.raw); ok {
		k.Stake = exchange.Text(q.StakeAddress(cred))
	}
	return k
}

// balance returns the amounts of a holder: lovelace first, then assets, ordered by policy and name.
func (q *request) balance(h *holder) ([]amount, error) {
	account, err := q.Q.Account(h.index, *h.birth)
	if err != nil {
		return nil, err
	}
	all := []amount{{lovelace, account.Received.Sub(account.Sent).String()}}
	held, err := q.held(h)
	if err != nil {
		return nil, err
	}
	return append(all, held...), nil
}

// held returns the assets of a holder, ordered by policy and name.
func (q *request) held(h *holder) ([]amount, error) {
	key := h.birth.AppendTo(nil, h.index.Kind.HasOrdinal())
	rows := schema.Rows(q.Q.R, h.index.Family(schema.IndexHeld), key, schema.PrefixEnd(key), false, h.index.ParseHeldRow)
	var found []schema.HeldRow
	var births []model.AssetBirthPk
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		if found, births = append(found, row), append(births, row.Asset); len(found) == exchange.LongSkip {
			if err := q.Expensive(); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(births, schema.CompareAssetBirths)
	ids, err := q.Q.AssetIDs(births)
	if err != nil {
		return nil, err
	}
	var all []amount
	for _, row := range found {
		all = append(all, amount{ids[row.Asset], row.Amount.String()})
	}
	sortUnits(all)
	return all, nil
}

// addressJSON is an address.
type addressJSON[A any] struct {
	Address      string  `json:"address"`
	Amount       []A     `json:"amount"`
	StakeAddress *string `json:"stake_address"`
	Type         string  `json:"type"`
	Script       bool    `json:"script"`
}

func oneAddress(q *request) error {
	h, err := q.holder()
	if err != nil {
		return err
	}
	amounts, err := q.balance(h)
	k := q.kindOf(h)
	q.Answer = addressJSON[amount]{h.text, amounts, k.Stake, k.Type, k.Script}
	return err
}

// totalJSON is the sums of an address.
type totalJSON struct {
	Address      string   `json:"address,omitempty"`
	StakeAddress string   `json:"stake_address,omitempty"`
	Received     []amount `json:"received_sum"`
	Sent         []amount `json:"sent_sum"`
	TxCount      int64    `json:"tx_count"`
}

func addressTotal(q *request) error {
	h, err := q.holder()
	if err != nil {
		return err
	}
	t, err := q.total(h)
	t.Address = h.text
	q.Answer = t
	return err
}

// holdsNothing answers an empty list for an account that has had no output.
func (q *request) holdsNothing(h *holder) bool {
	if h.birth == nil {
		q.Answer = []any{}
	}
	return h.birth == nil
}

// total returns the sums of a holder. Sums of lovelace are stored; if the chain has assets, sums of assets are made from
// every output of the holder.
func (q *request) total(h *holder) (t totalJSON, err error) {
	if h.birth == nil {
		return totalJSON{Received: sums{}.amounts(), Sent: sums{}.amounts()}, nil
	}
	account, err := q.Q.Account(h.index, *h.birth)
	if err != nil {
		return t, err
	}
	t.TxCount = account.Txs
	received, sent := sums{}, sums{}
	received.add(lovelace, account.Received.Big())
	sent.add(lovelace, account.Sent.Big())
	if q.Q.Totals.Assets > 0 {
		if account.Outputs > exchange.LongSkip {
			if err := q.Expensive(); err != nil {
				return t, err
			}
		}
		outputs := q.Q.Occurrences(h.index, *h.birth, setops.Everywhere, false)
		for batch, err := range query.Batches(q.Q, outputs, query.OccurrenceBatch, query.OccurrenceBatch) {
			if err == nil {
				err = q.addAssets(batch, received, sent)
			}
			if err != nil {
				return t, err
			}
		}
	}
	t.Received, t.Sent = received.amounts(), sent.amounts()
	return t, nil
}

// addAssets adds the assets of outputs to those received, and those of spent outputs to those sent.
func (q *request) addAssets(pks []model.UtxoPk, received, sent sums) error {
	found, err := q.Assets(pks)
	if err != nil {
		return err
	}
	spenders, err := q.Q.SpendersOf(pks)
	if err != nil {
		return err
	}
	for i, assets := range found {
		for _, a := range assets {
			n := new(big.Int).SetUint64(a.Amount)
			if received.add(a.ID, n); spenders[i] != nil {
				sent.add(a.ID, n)
			}
		}
	}
	return nil
}

// utxoJSON is an unspent output.
type utxoJSON struct {
	Address             string   `json:"address"`
	TxHash              string   `json:"tx_hash"`
	TxIndex             *int     `json:"tx_index,omitempty"` // equals OutputIndex; not in lists of a script
	OutputIndex         int      `json:"output_index"`
	Amount              []amount `json:"amount"`
	Block               string   `json:"block"`
	DataHash            *string  `json:"data_hash"`
	InlineDatum         *string  `json:"inline_datum"`
	ReferenceScriptHash *string  `json:"reference_script_hash"`
}

func addressUTXOs(q *request) error { return q.answerUTXOs(q.holder()) }
func accountUTXOs(q *request) error { return q.answerUTXOs(q.account()) }

// answerUTXOs answers the unspent outputs of a holder, in the order of their creation. Each has its own address.
func (q *request) answerUTXOs(h *holder, err error) error {
	if err != nil || q.holdsNothing(h) {
		return err
	}
	p := q.Page
	pks, err := exchange.PageOf(q.Request, p, func(after *model.UtxoPk) iter.Seq2[model.UtxoPk, error] {
		return q.Q.StoredUnspent(h.index, *h.birth, following(after, p.Descending), p.Descending)
	})
	if err != nil {
		return err
	}
	return q.writeUTXOs(h, pks)
}

// following returns the outputs after one; nil: all.
func following(after *model.UtxoPk, descending bool) setops.Span {
	if after == nil {
		return setops.Everywhere
	}
	return setops.Everywhere.After(*after, descending)
}

func (q *request) writeUTXOs(h *holder, pks []model.UtxoPk) error {
	outputs, _, err := q.Outputs(pks, nil)
	if err != nil {
		return err
	}
	all := make([]utxoJSON, len(outputs))
	for i := range outputs {
		o := &outputs[i]
		all[i] = utxoJSON{
			Address: o.Owner.Text, TxHash: o.Tx.String(), OutputIndex: o.Pk.Index(), Amount: amountsOf(o),
			Block: o.Created.Hash.String(), ReferenceScriptHash: scriptHashOf(o),
		}
		if h.index.Name != utxo.ScriptIndex {
			all[i].TxIndex = &all[i].OutputIndex
		}
		all[i].DataHash, all[i].InlineDatum = datumOf(o)
	}
	q.Answer = all
	return nil
}

// addressUTXOsOf answers the unspent outputs of an address that hold an asset; with lovelace those without any asset.
func addressUTXOsOf(q *request) error {
	h, err := q.holder()
	if err != nil {
		return err
	}
	p := q.Page
	unspent := func(span setops.Span, descending bool) setops.Outputs {
		return q.Q.StoredUnspent(h.index, *h.birth, span, descending)
	}
	scan := func(span setops.Span) setops.Outputs { return q.withoutAssets(unspent(span, p.Descending)) }
	if q.Args[1] != lovelace {
		_, birth, err := q.Q.Asset(q.Args[1])
		if query.UnknownAsset(err) {
			return exchange.ErrNotFound
		} else if err != nil {
			return err
		}
		scan = func(span setops.Span) setops.Outputs {
			both := setops.Intersection{q.stream(unspent, span, p.Descending), q.stream(func(s setops.Span, descending bool) setops.Outputs {
				return q.Q.AssetOccurrences(birth, s, descending)
			}, span, p.Descending)}
			var cut *model.UtxoPk // the budget has no end
			return setops.Merged(both, p.Descending, &cut)
		}
	}
	pks, err := exchange.PageOf(q.Request, p, func(after *model.UtxoPk) iter.Seq2[model.UtxoPk, error] {
		return scan(following(after, p.Descending))
	})
	if err != nil {
		return err
	}
	return q.writeUTXOs(h, pks)
}

// withoutAssets yields the outputs that hold lovelace alone.
func (q *request) withoutAssets(outputs setops.Outputs) setops.Outputs {
	return func(yield func(model.UtxoPk, error) bool) {
		for batch, err := range exchange.Batches(q.Request, outputs) {
			var found [][]utxo.Asset
			if err == nil {
				found, err = q.Assets(batch)
			}
			if err != nil {
				yield(0, err)
				return
			}
			for i, pk := range batch {
				if len(found[i]) == 0 && !yield(pk, nil) {
					return
				}
			}
		}
	}
}

// stream returns the outputs of a scan in a span.
func (q *request) stream(scan setops.Scan, span setops.Span, descending bool) setops.Stream {
	return &setops.ScanStream{Scan: scan, Span: span, Descending: descending, Budget: &setops.Budget{Left: 1 << 62}}
}
