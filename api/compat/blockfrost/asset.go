package blockfrost

import (
	"encoding/hex"
	"iter"
	"math/big"
	"slices"
	"strings"

	"birthmark/api/compat/blockfrost/exchange"
	"birthmark/api/compat/blockfrost/positions"
	"birthmark/api/compat/utxo"
	"birthmark/chains/cardano/address"
	"birthmark/core/query"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

const maxAssetName = 32 // bytes

// asset returns the asset of the path.
func (q *request) asset() (id []byte, birth model.AssetBirthPk, err error) {
	if id, birth, err = q.Q.Asset(q.Args[0]); query.UnknownAsset(err) {
		err = exchange.ErrNotFound
	}
	return id, birth, err
}

// assetAmount is an asset with its supply.
type assetAmount struct {
	Asset    string `json:"asset"`
	Quantity string `json:"quantity"`
}

// supplies returns assets with their supplies.
func (q *request) supplies(births []model.AssetBirthPk) ([]assetAmount, error) {
	ids, err := q.assetIDs(births)
	if err != nil {
		return nil, err
	}
	rows, err := q.Q.Many(schema.FamilyAssetTotals, schema.Keys(births))
	if err != nil {
		return nil, err
	}
	all := make([]assetAmount, len(births))
	for i := range births {
		t, err := schema.ParseAssetTotalsRow(rows[i])
		if err != nil {
			return nil, err
		}
		all[i] = assetAmount{ids[i], new(big.Int).Sub(&t.Minted, &t.Burned).String()}
	}
	return all, nil
}

// assetIDs returns the ids of assets in any order.
func (q *request) assetIDs(births []model.AssetBirthPk) ([]string, error) {
	rows, err := q.Q.Many(schema.FamilyAssetID, schema.Keys(births))
	all := make([]string, len(rows))
	for i, id := range rows {
		all[i] = hex.EncodeToString(id)
	}
	return all, err
}

// assets answers all assets in the order of their first mint, burned ones with 0.
func assets(q *request) error {
	p := q.Page
	births, err := exchange.PageOf(q.Request, p, func(after *model.AssetBirthPk) iter.Seq2[model.AssetBirthPk, error] {
		var position []byte
		if after != nil {
			position = after.AppendTo(nil)
		}
		from, to := schema.Between(nil, position, p.Descending)
		return schema.Rows(q.Q.R, schema.FamilyAssetID, from, to, p.Descending, func(key, _ []byte) (model.AssetBirthPk, error) {
			return model.ParseAssetBirthPk(key)
		})
	})
	if err != nil {
		return err
	}
	q.Answer, err = q.supplies(births)
	return err
}

// policyAssets answers the assets of a policy in the order of their first mint.
func policyAssets(q *request) error {
	policy, err := hex.DecodeString(q.Args[0])
	if err != nil {
		return err
	}
	p := q.Page
	x, err := q.Q.Index(utxo.PolicyIndex)
	if err != nil {
		return err
	}
	birth, err := q.Q.Birth(x, policy)
	if err != nil || birth == nil {
		return exchange.OrNotFound(err)
	}
	births, err := exchange.PageOf(q.Request, p, func(after *model.AssetBirthPk) iter.Seq2[model.AssetBirthPk, error] {
		return q.assetsOf(x, *birth, policy, after, p.Descending)
	})
	if err != nil {
		return err
	}
	q.Answer, err = q.supplies(births)
	return err
}

// assetsOf yields the assets of a policy: an asset first occurs in an output in which its policy occurs.
func (q *request) assetsOf(
	x *schema.Index, birth model.BirthPk, policy []byte, after *model.AssetBirthPk, descending bool,
) iter.Seq2[model.AssetBirthPk, error] {
	return func(yield func(model.AssetBirthPk, error) bool) {
		span := setops.Everywhere
		if after != nil && descending {
			span.Last = after.Utxo
		} else if after != nil {
			span.First = after.Utxo
		}
		for batch, err := range exchange.Batches(q.Request, q.Q.Occurrences(x, birth, span, descending)) {
			if err != nil {
				yield(model.AssetBirthPk{}, err)
				return
			}
			born, err := q.born(batch, policy, descending)
			if err != nil {
				yield(model.AssetBirthPk{}, err)
				return
			}
			for _, b := range born {
				if after != nil && (b == *after || (schema.CompareAssetBirths(b, *after) < 0) != descending) {
					continue
				}
				if !yield(b, nil) {
					return
				}
			}
		}
	}
}

// born returns the assets of a policy that first occur in outputs, in order.
func (q *request) born(pks []model.UtxoPk, policy []byte, descending bool) ([]model.AssetBirthPk, error) {
	entries, err := q.Q.AssetEntries(pks)
	if err != nil {
		return nil, err
	}
	var births []model.AssetBirthPk
	for i, pk := range pks {
		for _, e := range entries[i] {
			if e.Birth.Utxo == pk {
				births = append(births, e.Birth)
			}
		}
	}
	slices.SortFunc(births, schema.CompareAssetBirths)
	births = slices.Compact(births)
	if descending {
		slices.Reverse(births)
	}
	ids, err := q.assetIDs(births)
	if err != nil {
		return nil, err
	}
	prefix, of := hex.EncodeToString(policy), births[:0]
	for i, b := range births {
		if strings.HasPrefix(ids[i], prefix) {
			of = append(of, b)
		}
	}
	return of, nil
}

// assetTxs and assetTransactions answer the transactions with an output that holds an asset.
func assetTxs(q *request) error {
	txs, err := q.assetHistory()
	if err != nil {
		return err
	}
	q.Answer, err = q.Hashes(txs)
	return err
}

func assetTransactions(q *request) error {
	txs, err := q.assetHistory()
	if err != nil {
		return err
	}
	q.Answer, err = q.listed(txs)
	return err
}

func (q *request) assetHistory() ([]model.TxPk, error) {
	_, birth, err := q.asset()
	if err != nil {
		return nil, err
	}
	p := q.Page
	s, err := q.Span()
	if err != nil {
		return nil, err
	}
	return exchange.PageOf(q.Request, p, func(after *model.TxPk) iter.Seq2[model.TxPk, error] {
		rest := s
		if after != nil {
			rest = s.AfterTx(*after, p.Descending)
		}
		return distinct(q.Q.AssetOccurrences(birth, rest, p.Descending))
	})
}

// distinct yields the transactions of outputs, each once.
func distinct(outputs setops.Outputs) iter.Seq2[model.TxPk, error] {
	return func(yield func(model.TxPk, error) bool) {
		var last model.TxPk
		any := false
		for pk, err := range outputs {
			if err == nil && any && pk.Tx() == last {
				continue
			}
			last, any = pk.Tx(), true
			if !yield(last, err) {
				return
			}
		}
	}
}

// assetEvents answers the mints and burns of an asset.
func assetEvents(q *request) error {
	_, birth, err := q.asset()
	if err != nil {
		return err
	}
	p := q.Page
	prefix := birth.AppendTo(nil)
	amounts := map[model.TxPk]*big.Int{}
	txs, err := exchange.PageOf(q.Request, p, func(after *model.TxPk) iter.Seq2[model.TxPk, error] {
		var position []byte
		if after != nil {
			position = after.AppendTo(nil)
		}
		from, to := schema.Between(prefix, position, p.Descending)
		return func(yield func(model.TxPk, error) bool) {
			for row, err := range schema.Rows(q.Q.R, schema.FamilyAssetSupply, from, to, p.Descending, schema.ParseSupplyRow) {
				if err == nil && len(amounts) < exchange.MaxCount*positions.MaxSkip {
					amounts[row.Tx] = row.Amount
				}
				if !yield(row.Tx, err) {
					return
				}
			}
		}
	})
	if err != nil {
		return err
	}
	ids, err := q.Hashes(txs)
	if err != nil {
		return err
	}
	type event struct {
		TxHash string `json:"tx_hash"`
		Action string `json:"action"`
		Amount string `json:"amount"`
	}
	all := make([]event, len(txs))
	for i, tx := range txs {
		all[i] = event{ids[i], "minted", amounts[tx].String()}
		if amounts[tx].Sign() < 0 {
			all[i].Action = "burned"
		}
	}
	q.Answer = all
	return nil
}

// holding is the amount of an asset that an address has.
type holding struct {
	owner  model.BirthPk
	amount string
}

// assetAddresses answers the addresses that hold an asset, in the order in which the addresses first occurred.
func assetAddresses(q *request) error {
	_, birth, err := q.asset()
	if err != nil {
		return err
	}
	p := q.Page
	x, err := q.Q.Index(schema.HoldersIndex)
	if err != nil {
		return err
	}
	prefix := birth.AppendTo(nil)
	found, err := exchange.PageOf(q.Request, p, func(after *holding) iter.Seq2[holding, error] {
		var position []byte
		if after != nil {
			position = after.owner.AppendTo(nil, x.Kind.HasOrdinal())
		}
		from, to := schema.Between(prefix, position, p.Descending)
		return func(yield func(holding, error) bool) {
			for row, err := range schema.Rows(q.Q.R, schema.FamilyHoldings, from, to, p.Descending, schema.ParseHoldingRow) {
				if !yield(holding{row.Holder, row.Amount.String()}, err) {
					return
				}
			}
		}
	})
	if err != nil {
		return err
	}
	births := make([]model.BirthPk, len(found))
	for i, h := range found {
		births[i] = h.owner
	}
	values, err := q.Q.StoredValues(x, births)
	if err != nil {
		return err
	}
	type entry struct {
		Address  string `json:"address"`
		Quantity string `json:"quantity"`
	}
	all := make([]entry, len(found))
	for i, value := range values {
		all[i] = entry{address.FormatAny(value), found[i].amount}
	}
	q.Answer = all
	return nil
}

// assetUTXO is an unspent output that holds an asset.
type assetUTXO struct {
	Address             string   `json:"address"`
	TxHash              string   `json:"tx_hash"`
	OutputIndex         int      `json:"output_index"`
	Amount              []amount `json:"amount"`
	Block               string   `json:"block"`
	BlockHeight         uint32   `json:"block_height"`
	BlockTime           int64    `json:"block_time"`
	DataHash            *string  `json:"data_hash"`
	InlineDatum         *string  `json:"inline_datum"`
	InlineDatumJSON     any      `json:"inline_datum_json"`
	ReferenceScriptHash *string  `json:"reference_script_hash"`
}

// assetUTXOs answers the unspent outputs that hold an asset, in the order of their creation.
func assetUTXOs(q *request) error {
	_, birth, err := q.asset()
	if err != nil {
		return err
	}
	p := q.Page
	s, err := q.Span()
	if err != nil {
		return err
	}
	pks, err := exchange.PageOf(q.Request, p, func(after *model.UtxoPk) iter.Seq2[model.UtxoPk, error] {
		rest := s
		if after != nil {
			rest = s.After(*after, p.Descending)
		}
		return q.unspentOf(q.Q.AssetOccurrences(birth, rest, p.Descending))
	})
	if err != nil {
		return err
	}
	outputs, _, err := q.Outputs(pks, nil)
	if err != nil {
		return err
	}
	all := make([]assetUTXO, len(outputs))
	for i := range outputs {
		o := &outputs[i]
		all[i] = assetUTXO{
			Address: o.Owner.Text, TxHash: o.Tx.String(), OutputIndex: o.Pk.Index(), Amount: amountsOf(o), Block: o.Created.Hash.String(),
			BlockHeight: uint32(o.Pk.Height()), BlockTime: o.Created.Time, ReferenceScriptHash: scriptHashOf(o),
		}
		if all[i].DataHash, all[i].InlineDatum = datumOf(o); o.Inline {
			all[i].InlineDatumJSON = plutusJSON(o.Datum)
		}
	}
	q.Answer = all
	return nil
}

// unspentOf yields those of outputs that are unspent.
func (q *request) unspentOf(outputs setops.Outputs) setops.Outputs {
	return func(yield func(model.UtxoPk, error) bool) {
		for batch, err := range exchange.Batches(q.Request, outputs) {
			var spenders []*model.InputPk
			if err == nil {
				spenders, err = q.Q.SpendersOf(batch)
			}
			if err != nil {
				yield(0, err)
				return
			}
			for i, pk := range batch {
				if spenders[i] == nil && !yield(pk, nil) {
					return
				}
			}
		}
	}
}
