package ord

import (
	"fmt"
	"math/big"
	"net/http"
	"strconv"
	"strings"

	"birthmark/api/compat/script"
	"birthmark/chains/bitcoin/runes"
	"birthmark/core/schema"
	"birthmark/model"
)

// runesPerPage is the size of a page. As in ord, a page that is not the last one also has the first rune of the next.
const runesPerPage = 50

// oneRune returns the rune with a name, an id or a number.
func oneRune(r *request) answer {
	text, _ := r.Arg("rune")
	find := runeQuery(r, text)
	return func(v *view) (any, error) {
		birth, err := find(v)
		if err != nil {
			return nil, err
		}
		entries, parsed, err := v.entries([]model.AssetBirthPk{birth})
		if err != nil {
			return nil, err
		}
		_, mintable := parsed[0].Mintable(entries[0].Block, uint64(v.Tip.Height)+1, entries[0].Mints)
		return &runeValue{Entry: entries[0], ID: runes.IDOf(birth.Utxo.Tx()).String(), Mintable: mintable}, nil
	}
}

// runeQuery parses the text that identifies a rune.
func runeQuery(r *request, text string) func(*view) (model.AssetBirthPk, error) {
	digits := strings.TrimPrefix(text, "-")
	switch {
	case strings.Contains(text, ":"):
		id, ok := runes.ParseID(text)
		if !ok {
			r.Refuse(badRequest("invalid rune ID %q", text))
		}
		return func(v *view) (model.AssetBirthPk, error) {
			asset, ok := id.Asset()
			if !ok {
				return asset, missing("rune %s", id)
			}
			infos, err := v.Query().R.GetMany(schema.FamilyAssetInfo, [][]byte{asset.AppendTo(nil)})
			if err == nil && infos[0] == nil {
				err = missing("rune %s", id)
			}
			return asset, err
		}
	case digits != "" && strings.Trim(digits, "0123456789") == "":
		number, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			r.Refuse(badRequest("invalid rune number %q", text))
		}
		return func(v *view) (model.AssetBirthPk, error) {
			if number >= v.count() {
				return model.AssetBirthPk{}, missing("rune number %d", number)
			}
			return v.numbered(number)
		}
	}
	name, _, ok := runes.ParseSpaced(text)
	if !ok {
		r.Refuse(badRequest("invalid rune %q", text))
	}
	return func(v *view) (birth model.AssetBirthPk, err error) {
		rows, err := v.Query().R.GetMany(schema.FamilyFingerprint, [][]byte{name.Bytes()})
		if err != nil {
			return birth, err
		}
		if rows[0] == nil {
			return birth, errorf(http.StatusNotFound, "")
		}
		return model.ParseAssetBirthPk(rows[0])
	}
}

// listRunes returns a page of runes, the newest first.
func listRunes(r *request) answer {
	page := 0
	if text, ok := r.Arg("page"); ok {
		var err error
		if page, err = strconv.Atoi(text); err != nil || page < 0 {
			r.Refuse(badRequest("invalid page %q", text))
		}
	}
	return func(v *view) (any, error) {
		a := &runesValue{Entries: []pair{}}
		if page > 0 {
			prev := page - 1
			a.Prev = &prev
		}
		count := v.count()
		if uint64(page) > count/runesPerPage {
			return a, nil
		}
		left := count - uint64(page)*runesPerPage // runes of this page and of later ones
		births, err := v.newest(left, min(left, runesPerPage+1))
		if err != nil {
			return nil, err
		}
		entries, _, err := v.entries(births)
		if err != nil {
			return nil, err
		}
		for i, birth := range births {
			a.Entries = append(a.Entries, pair{runes.IDOf(birth.Utxo.Tx()).String(), entries[i]})
		}
		if a.More = left > runesPerPage; a.More {
			next := page + 1
			a.Next = &next
		}
		return a, nil
	}
}

// count returns the number of runes.
func (v *view) count() uint64 { return v.Query().Totals.Rows[schema.FamilyAssetID] }

// births yields the births of runes from one key up to another, which is excluded.
func (v *view) births(from, to []byte, descending bool, visit func(model.AssetBirthPk) bool) error {
	q := v.Query()
	rows := schema.Rows(q.R, schema.FamilyAssetID, from, to, descending, func(key, _ []byte) (model.AssetBirthPk, error) {
		return model.ParseAssetBirthPk(key)
	})
	for birth, err := range rows {
		if err != nil {
			return err
		}
		if !visit(birth) {
			return nil
		}
	}
	return nil
}

// firstFrom returns the first rune at or after a height; ok is false if no rune follows.
func (v *view) firstFrom(height model.HeightPk) (birth model.AssetBirthPk, number uint64, ok bool, err error) {
	err = v.births(v.Query().FirstPk(height).AppendTo(nil), nil, false, func(b model.AssetBirthPk) bool {
		birth, ok = b, true
		return false
	})
	if err != nil || !ok {
		return birth, 0, false, err
	}
	parsed, err := v.parse([]model.AssetBirthPk{birth})
	if err != nil {
		return birth, 0, false, err
	}
	return birth, parsed[0].Number, true, nil
}

// numbered returns the rune with a number, which is less than count. Numbers increase in the order of births, so it
// searches the block, and then counts the runes in it.
func (v *view) numbered(number uint64) (found model.AssetBirthPk, err error) {
	low, high := model.HeightPk(0), v.Tip.Height+1 // the rune is at or after low, and before high
	for high-low > 1 {
		middle := low + (high-low)/2
		_, first, ok, err := v.firstFrom(middle)
		if err != nil {
			return found, err
		}
		if ok && first <= number {
			low = middle
		} else {
			high = middle
		}
	}
	_, first, ok, err := v.firstFrom(low)
	if err != nil || !ok {
		return found, err
	}
	skip := number - first
	err = v.births(v.Query().FirstPk(low).AppendTo(nil), nil, false, func(b model.AssetBirthPk) bool {
		if skip == 0 {
			found = b
			return false
		}
		skip--
		return true
	})
	if err == nil && found == (model.AssetBirthPk{}) && number > 0 {
		err = fmt.Errorf("rune number %d is missing: run check", number)
	}
	return found, err
}

// newest returns n runes before the one with a number, the newest first.
func (v *view) newest(number, n uint64) (births []model.AssetBirthPk, err error) {
	if n == 0 {
		return nil, nil
	}
	last, err := v.numbered(number - 1)
	if err != nil {
		return nil, err
	}
	last.Index++ // the end is excluded
	err = v.births(nil, last.AppendTo(nil), true, func(b model.AssetBirthPk) bool {
		births = append(births, b)
		return uint64(len(births)) < n
	})
	return births, err
}

// parse returns the stored entries of runes.
func (v *view) parse(births []model.AssetBirthPk) ([]*runes.Entry, error) {
	rows, err := v.Query().Many(schema.FamilyAssetInfo, schema.Keys(births))
	if err != nil {
		return nil, err
	}
	parsed := make([]*runes.Entry, len(rows))
	for i, row := range rows {
		if parsed[i], err = runes.ParseEntry(row); err != nil {
			return nil, fmt.Errorf("rune %s: %w", runes.IDOf(births[i].Utxo.Tx()), err)
		}
	}
	return parsed, nil
}

// entries returns runes with their states.
func (v *view) entries(births []model.AssetBirthPk) ([]*entryValue, []*runes.Entry, error) {
	if len(births) == 0 {
		return nil, nil, nil
	}
	q := v.Query()
	parsed, err := v.parse(births)
	if err != nil {
		return nil, nil, err
	}
	totals, err := q.Many(schema.FamilyAssetTotals, schema.Keys(births))
	if err != nil {
		return nil, nil, err
	}
	txs, heights := make([]model.TxPk, len(births)), make([]model.HeightPk, len(births))
	for i, birth := range births {
		txs[i], heights[i] = birth.Utxo.Tx(), birth.Utxo.Height()
	}
	ids, err := q.TxIDs(txs)
	if err != nil {
		return nil, nil, err
	}
	blocks, err := q.BlockRows(heights)
	if err != nil {
		return nil, nil, err
	}
	entries := make([]*entryValue, len(births))
	for i, e := range parsed {
		t, err := schema.ParseAssetTotalsRow(totals[i])
		if err != nil {
			return nil, nil, err
		}
		entries[i] = &entryValue{
			Block: uint64(heights[i]), Burned: amountOf(&t.Burned), Divisibility: e.Divisibility, Etching: script.Hash(ids[i]),
			Mints: e.Mints(t.Mints), Number: e.Number, Premine: amount(e.Premine), SpacedRune: e.Name.Spaced(e.Spacers),
			Symbol: symbolOf(e.Symbol), Terms: termsOf(e.Terms), Timestamp: uint64(blocks[i].Time), Turbo: e.Turbo,
		}
		if e.Builtin {
			entries[i].Etching, entries[i].Timestamp = script.Hash{}, 0
		}
	}
	return entries, parsed, nil
}

// etchingAt returns the name of the rune that a transaction created; nil: none.
func (v *view) etchingAt(height uint32, position int) (*string, error) {
	asset, ok := runes.ID{Block: uint64(height), Tx: uint32(position)}.Asset()
	if !ok {
		return nil, nil
	}
	infos, err := v.Query().R.GetMany(schema.FamilyAssetInfo, [][]byte{asset.AppendTo(nil)})
	if err != nil || infos[0] == nil {
		return nil, err
	}
	e, err := runes.ParseEntry(infos[0])
	if err != nil || e.Builtin {
		return nil, err
	}
	name := e.Name.Spaced(e.Spacers)
	return &name, nil
}

// amountOf returns an amount that has at most 128 bits.
func amountOf(x *big.Int) amount {
	return amount{Hi: new(big.Int).Rsh(x, 64).Uint64(), Lo: x.Uint64()}
}

// decimal writes an amount with decimals, without zeros at the end, as ord's Decimal.
func decimal(a model.Uint128, decimals uint8) string {
	text := a.String()
	for len(text) <= int(decimals) {
		text = "0" + text
	}
	whole, fraction := text[:len(text)-int(decimals)], strings.TrimRight(text[len(text)-int(decimals):], "0")
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}
