package blockfrost

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"

	"birthmark/api/compat/blockfrost/contents"
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
func (v *view) holder() (*holder, error) {
	text := v.arg("address")
	if hasPrefix(text, credentialPrefixes) {
		return v.credential(text)
	}
	x, raw, birth, err := v.Q.Value(utxo.AddressIndex, text)
	if err == nil && birth == nil {
		err = errNotFound
	}
	return &holder{text, raw, x, birth}, err
}

// credential returns a payment credential. A key is shown as its hash.
func (v *view) credential(text string) (*holder, error) {
	hash, _ := address.KeyHash(text) // its form is known
	stored := address.Credentials(hash)[0]
	if strings.HasPrefix(text, "script1") {
		stored = address.Credentials(hash)[1]
	}
	x, err := v.Q.Index(utxo.PaymentIndex)
	if err != nil {
		return nil, err
	}
	birth, err := v.Q.Birth(x, stored)
	if err == nil && birth == nil {
		err = errNotFound
	}
	return &holder{address.FormatPaymentCredential(v.addressNetwork(), stored), stored, x, birth}, err
}

// account returns the account of the path. Its birth is nil if transactions name it, but no output belongs to it. One
// that neither names is not found.
func (v *view) account() (*holder, error) {
	text := v.arg("stake_address")
	x, stored, birth, err := v.Q.Value(utxo.StakeIndex, text)
	if err == nil && birth == nil {
		if _, err = v.named("stake_address"); unanswered(err) { // without the index of subjects
			err = errNotFound
		}
	}
	return &holder{text, stored, x, birth}, err
}

// addressOf returns an address with amounts.
func addressOf[A any](v *view, h *holder, amounts []A) *addressValue[A] {
	a := &addressValue[A]{Address: h.text, Amount: amounts, Type: "shelley"}
	if h.index.Name == utxo.PaymentIndex {
		a.Script = strings.HasPrefix(h.text, "script")
		return a
	}
	if _, err := address.ByronPayload(h.raw); err == nil {
		a.Type = "byron"
		return a
	}
	if cred, ok := address.PaymentCredential(h.raw); ok {
		a.Script = cred[0] == 1
	}
	if cred, ok := address.StakeCredential(h.raw); ok {
		a.StakeAddress = new(v.stakeAddress(cred))
	}
	return a
}

// balance returns the holder of the path and its amounts: lovelace first, then assets, ordered by policy and name.
func (v *view) balance() (*holder, []amount, error) {
	h, err := v.holder()
	if err != nil {
		return nil, nil, err
	}
	account, err := v.Q.Account(h.index, *h.birth)
	if err != nil {
		return nil, nil, err
	}
	held, err := v.held(h)
	return h, append([]amount{{lovelace, account.Received.Sub(account.Sent).String()}}, held...), err
}

// held returns the assets of a holder, ordered by policy and name.
func (v *view) held(h *holder) ([]amount, error) {
	key := h.birth.AppendTo(nil, h.index.Kind.HasOrdinal())
	rows := schema.Rows(v.Q.R, h.index.Family(schema.IndexHeld), key, schema.PrefixEnd(key), false, h.index.ParseHeldRow)
	var found []schema.HeldRow
	var births []model.AssetBirthPk
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		found, births = append(found, row), append(births, row.Asset)
	}
	slices.SortFunc(births, schema.CompareAssetBirths)
	ids, err := v.Q.AssetIDs(births)
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

func oneAddress(v *view) (any, error) {
	h, amounts, err := v.balance()
	if err != nil {
		return nil, err
	}
	return addressOf(v, h, amounts), nil
}

func addressTotal(v *view) (any, error) {
	h, err := v.holder()
	if err != nil {
		return nil, err
	}
	return v.total(h, &totalValue{Address: h.text})
}

// total sets the sums of a holder. Sums of lovelace are stored; if the chain has assets, sums of assets are made from
// every output of the holder.
func (v *view) total(h *holder, t *totalValue) (any, error) {
	received, sent := sums{}, sums{}
	if h.birth == nil {
		t.Received, t.Sent = received.amounts(), sent.amounts()
		return t, nil
	}
	account, err := v.Q.Account(h.index, *h.birth)
	if err != nil {
		return nil, err
	}
	t.TxCount = account.Txs
	received.add(lovelace, account.Received.Big())
	sent.add(lovelace, account.Sent.Big())
	if v.Q.Totals.Assets > 0 {
		outputs := v.Q.Occurrences(h.index, *h.birth, setops.Everywhere, false)
		for batch, err := range query.Batches(v.Q, outputs, query.OccurrenceBatch, query.OccurrenceBatch) {
			if err == nil {
				err = v.addAssets(batch, received, sent)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	t.Received, t.Sent = received.amounts(), sent.amounts()
	return t, nil
}

// addAssets adds the assets of outputs to those received, and those of spent outputs to those sent.
func (v *view) addAssets(pks []model.UtxoPk, received, sent sums) error {
	found, err := v.Assets(pks)
	if err != nil {
		return err
	}
	spenders, err := v.Q.SpendersOf(pks)
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

// adaDecimals are the decimal places of lovelace in ada.
const adaDecimals = 6

// addressExtended answers an address with the decimal places of its assets by CIP-68, and whether they have metadata on
// the chain.
func addressExtended(v *view) (any, error) {
	h, amounts, err := v.balance()
	if err != nil {
		return nil, err
	}
	all := make([]extendedAmount, len(amounts))
	for i, a := range amounts {
		if all[i].amount = a; a.Unit == lovelace {
			all[i].Decimals = new(int64(adaDecimals))
			continue
		}
		o, err := v.describeUnit(a.Unit)
		if err != nil {
			return nil, err
		}
		all[i].Decimals, all[i].HasMetadata = decimalsOf(o), o.Metadata != nil
	}
	return addressOf(v, h, all), nil
}

// describeUnit returns the metadata of an asset that exists.
func (v *view) describeUnit(unit string) (contents.Onchain, error) {
	if err := v.ctx().Err(); err != nil {
		return contents.Onchain{}, err
	}
	id, birth, err := v.Q.Asset(unit)
	if err != nil {
		return contents.Onchain{}, orNotFound(err)
	}
	return v.describe(id, birth)
}

// decimalsOf returns the decimal places in the metadata of a reference token (CIP-68); nil without such metadata.
func decimalsOf(o contents.Onchain) *int64 {
	m, ok := o.Metadata.(map[string]any)
	n, isNumber := m["decimals"].(json.Number)
	if !ok || !isNumber || !o.Reference {
		return nil
	}
	places, err := n.Int64()
	if err != nil {
		return nil
	}
	return &places
}
