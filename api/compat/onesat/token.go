package onesat

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"birthmark/chains/bitcoin/block"
	sat "birthmark/chains/bitcoinsv/onesat"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/model"
)

// token returns the birth and the description of a token by TXID_N or TXID.N; nil if it does not exist.
func (v *view) token(id string) (birth *model.AssetBirthPk, t *sat.Token, err error) {
	o, ok := sat.ParseOutpoint(strings.Replace(id, ".", "_", 1))
	if !ok {
		return nil, nil, nil
	}
	q := v.Query()
	_, found, err := q.Asset(sat.FormatID(sat.ID(o, sat.TokenKind)))
	if query.UnknownAsset(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := q.R.GetMany(schema.FamilyAssetInfo, [][]byte{found.AppendTo(nil)})
	if err != nil {
		return nil, nil, err
	}
	parsed, err := sat.Rules{}.Parse(info[0])
	if err != nil {
		return nil, nil, err
	}
	described, _ := parsed.(sat.Token)
	return &found, &described, nil
}

// tokenValue describes a token: 1sat-stack's members, followed by those of later versions.
type tokenValue struct {
	ID     string      `json:"id"`
	TxID   string      `json:"txid"`
	Vout   uint32      `json:"vout"`
	Op     string      `json:"op"`
	Amt    string      `json:"amt"`
	Symbol string      `json:"sym,omitempty"`
	Dec    uint8       `json:"dec,omitempty"`
	Icon   string      `json:"icon,omitempty"`
	Token  object      `json:"token"`
	Same   string      `json:"tokenId"`
	Status tokenStatus `json:"status"`
}

// tokenStatus states that a token is indexed. Nobody pays for it.
type tokenStatus struct {
	TokenID       string `json:"token_id"`
	IsActive      bool   `json:"is_active"`
	Balance       uint64 `json:"balance"`
	Credits       uint64 `json:"credits"`
	Debits        uint64 `json:"debits"`
	OutputCount   uint64 `json:"output_count"`
	FeePerOutput  uint64 `json:"fee_per_output"`
	FeeAddress    string `json:"fee_address"`
	IsWhitelisted bool   `json:"is_whitelisted"`
	IsBlacklisted bool   `json:"is_blacklisted"`
}

// tokenOf describes a token; nil if it does not exist.
func (v *view) tokenOf(id string) (*tokenValue, error) {
	birth, t, err := v.token(id)
	if err != nil || birth == nil {
		return nil, err
	}
	o, _ := sat.ParseOutpoint(strings.Replace(id, ".", "_", 1))
	hash := model.Hash(o[:32])
	outputs, err := v.confirmed([]model.UtxoPk{birth.Utxo}, members{all: true})
	if err != nil {
		return nil, err
	}
	d, err := v.decode(outputs[0])
	if err != nil {
		return nil, err
	}
	totals, err := v.Query().Many(schema.FamilyAssetTotals, [][]byte{birth.AppendTo(nil)})
	if err != nil {
		return nil, err
	}
	row, err := schema.ParseAssetTotalsRow(totals[0])
	if err != nil {
		return nil, err
	}
	a := &tokenValue{
		ID: o.String(), TxID: block.FormatHash(hash), Vout: uint32(birth.Utxo.Index()), Symbol: t.Symbol, Dec: t.Decimals, Icon: t.Icon,
		Same: o.String(), Status: tokenStatus{TokenID: o.String(), IsActive: true, OutputCount: row.Outputs, IsWhitelisted: true},
	}
	if d.token != nil {
		a.Op, a.Amt = string(d.token.Op), strconv.FormatUint(d.token.Amount, 10)
		if a.Token, err = v.tokenData(d); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// tokenArg reads the token in the path.
func tokenArg(r *request) string {
	id := arg(r, "id")
	if _, _, ok := parseOutpoint(id, "_."); !ok {
		r.Refuse(badRequest("Invalid token ID format"))
	}
	return strings.Replace(id, ".", "_", 1)
}

func oneToken(r *request) answer {
	id := tokenArg(r)
	return func(v *view) (any, error) {
		t, err := v.tokenOf(id)
		if err != nil {
			return nil, err
		}
		if t == nil {
			return nil, missing("Token not found")
		}
		return t, nil
	}
}

// maxTokens is the number of tokens or addresses of a request.
const maxTokens = 100

// lookupTokens returns the tokens of a list that exist.
func lookupTokens(r *request) answer {
	ids := textsIn(r)
	if len(ids) > maxTokens {
		r.Refuse(badRequest("Too many tokens (max %d)", maxTokens))
	}
	return func(v *view) (any, error) {
		all := []*tokenValue{}
		for _, id := range ids {
			t, err := v.tokenOf(id)
			if err != nil {
				return nil, err
			}
			if t != nil {
				all = append(all, t)
			}
		}
		return all, nil
	}
}

// txValue is a transaction with its outputs.
type txValue struct {
	TxID        string         `json:"txid"`
	Outputs     []*outputValue `json:"outputs"`
	Beef        string         `json:"beef,omitempty"` // base64
	BlockHeight uint32         `json:"block_height,omitempty"`
}

// tokenTx returns a transaction with all members of its outputs.
func tokenTx(r *request) answer {
	id := txidArg(r)
	tokenArg(r)
	withBeef := r.Param("beef") == "true"
	return func(v *view) (any, error) {
		m := members{all: true, spend: true}
		outputs, err := v.outputsOf(id, m)
		if err != nil {
			return nil, err
		}
		if len(outputs) == 0 {
			return nil, missing("Transaction not found")
		}
		a := &txValue{TxID: block.FormatHash(id), BlockHeight: outputs[0].place.Height}
		if withBeef {
			b, err := v.beefOf(id)
			if err != nil {
				return nil, err
			}
			a.Beef = base64Of(b)
		}
		a.Outputs, err = v.values(outputs, m)
		return a, err
	}
}

// blockValue are the transactions of a block that move a token.
type blockValue struct {
	Block        blockInfo  `json:"block"`
	Transactions []*txValue `json:"transactions"`
}

type blockInfo struct {
	Height            uint32 `json:"height"`
	Hash              string `json:"hash"`
	PreviousBlockHash string `json:"previousblockhash"`
	Timestamp         uint32 `json:"timestamp,omitempty"`
}

func tokenBlock(r *request) answer {
	id := tokenArg(r)
	height, err := strconv.ParseUint(arg(r, "height"), 10, 32)
	if err != nil {
		r.Refuse(badRequest("Invalid height parameter"))
	}
	return func(v *view) (any, error) {
		h := uint32(height)
		a := &blockValue{Block: blockInfo{Height: h}, Transactions: []*txValue{}}
		if v.Tip.IsOrigin() || h > uint32(v.Tip.Height) {
			return a, nil
		}
		b, err := v.Block(h)
		if err != nil {
			return nil, err
		}
		header := block.Header(b.Header)
		a.Block.Hash, a.Block.PreviousBlockHash = block.FormatHash(b.Hash), block.FormatHash(header.Parent())
		a.Block.Timestamp = uint32(b.Time)
		from, to := float64(h), float64(h+1)-1e-9
		c := search{from: &from, to: &to}
		if h == 0 {
			c.from = nil
		}
		for pks, err := range v.search([]string{"id:" + id}, c) {
			if err != nil {
				return nil, err
			}
			m := members{spend: true}
			outputs, err := v.confirmed(pks, m)
			if err != nil {
				return nil, err
			}
			values, err := v.values(outputs, m)
			if err != nil {
				return nil, err
			}
			for i, o := range outputs {
				tx := block.FormatHash(o.id)
				n := len(a.Transactions)
				if n == 0 || a.Transactions[n-1].TxID != tx {
					a.Transactions = append(a.Transactions, &txValue{TxID: tx, BlockHeight: h})
					n++
				}
				a.Transactions[n-1].Outputs = append(a.Transactions[n-1].Outputs, values[i])
			}
		}
		return a, nil
	}
}

// addressesIn reads a list of addresses from the body.
func addressesIn(r *request) []string {
	texts := textsIn(r)
	switch {
	case len(texts) == 0:
		r.Refuse(badRequest("No addresses provided"))
	case len(texts) > maxTokens:
		r.Refuse(badRequest("Too many addresses (max %d)", maxTokens))
	}
	return texts
}

// holdings returns the keys of what addresses hold of a token with a kind of lock.
func holdings(r *request, addresses func() []string) (keys []string, token string) {
	token = arg(r, "id")
	for _, a := range addresses() {
		keys = append(keys, arg(r, "lock")+":"+a+":"+token)
	}
	return keys, token
}

// tokenSum is the balance of a token.
type tokenSum struct {
	Balance   json.Number `json:"balance"` // it can exceed 64 bits: a token can be minted repeatedly
	UtxoCount int         `json:"utxoCount"`
}

func tokenBalance(r *request, addresses func() []string) answer {
	all, id := holdings(r, addresses)
	return func(v *view) (any, error) {
		keys := all
		birth, _, err := v.token(id)
		if err != nil {
			return nil, err
		}
		if birth == nil {
			keys = nil // no confirmed output has it
		}
		var balance model.Uint128
		sum := tokenSum{}
		for pks, err := range v.search(keys, search{unspent: true}) {
			if err != nil {
				return nil, err
			}
			entries, err := v.Query().AssetEntries(pks)
			if err != nil {
				return nil, err
			}
			for _, list := range entries {
				for _, e := range list {
					if e.Birth == *birth {
						balance, _ = balance.Add(e.Amount) // 2^64 amounts fit
						sum.UtxoCount++
					}
				}
			}
		}
		outputs, err := v.unconfirmed(all, search{unspent: true})
		if err != nil {
			return nil, err
		}
		for _, o := range outputs {
			for _, h := range o.held {
				if h.id == id {
					balance, _ = balance.Add(h.amount)
					sum.UtxoCount++
				}
			}
		}
		sum.Balance = json.Number(balance.String())
		return sum, nil
	}
}

func tokenHistory(r *request, addresses func() []string) answer {
	keys, _ := holdings(r, addresses)
	c, m := searchOf(r, 0), membersOf(r, false)
	c.unspent = false
	return func(v *view) (any, error) { return v.list(keys, c, m.orDefault()), nil }
}

func tokenUnspent(r *request, addresses func() []string) answer {
	keys, _ := holdings(r, addresses)
	m := membersOf(r, false)
	return func(v *view) (any, error) { return v.list(keys, search{unspent: true}, m.orDefault()), nil }
}

// orDefault returns the members of outputs of a token: its data unless m has others.
func (m members) orDefault() members {
	if !m.needScripts() {
		m.tags = []string{"bsv21"}
	}
	return m
}

// valid returns the outputs of a list that hold a token; nil for others.
func (v *view) valid(found []*stored, id string) {
	for i, o := range found {
		if o == nil {
			continue
		}
		holds := slices.ContainsFunc(o.held, func(h held) bool { return h.id == id || h.id == id+":auth" })
		if !holds && outpointText(o.id, o.index) != id {
			found[i] = nil
		}
	}
}

// tokenOutputs returns the outputs of a list that hold a token.
func tokenOutputs(r *request) answer {
	id, texts, m, unspent := tokenArg(r), textsIn(r), membersOf(r, false), r.Param("unspent") == "true"
	return func(v *view) (any, error) {
		found, err := v.findAll(texts, members{all: true})
		if err != nil {
			return nil, err
		}
		v.valid(found, id)
		found = slices.DeleteFunc(found, func(o *stored) bool { return o == nil || unspent && o.spend != nil })
		return v.values(found, m)
	}
}

func tokenOutput(r *request) answer {
	id, m := tokenArg(r), membersOf(r, false)
	tx, index := outpointArg(r)
	return func(v *view) (any, error) {
		o, err := v.find(tx, index, members{all: true})
		if err != nil {
			return nil, err
		}
		found := []*stored{o}
		if v.valid(found, id); found[0] == nil || r.Param("unspent") == "true" && o.spend != nil {
			return nil, missing("Output not found")
		}
		values, err := v.values(found, m)
		if err != nil {
			return nil, err
		}
		return values[0], nil
	}
}
