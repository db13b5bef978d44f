package wallet

import (
	"bytes"
	"cmp"
	"slices"

	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// ColorTxs appends up to n confirmed transactions that issue, transfer or burn a color, newest first, after one that is
// excluded, if that is not nil. An unknown one, or one without the color, leads to none.
func (v *View) ColorTxs(ids []model.Hash, id []byte, after *model.Hash, n int) ([]model.Hash, error) {
	birth, err := v.colorBirth(id)
	if birth == nil || err != nil {
		return ids, err
	}
	span, excluded := setops.Span{Last: v.q.LastPk(v.Tip.Height)}, notInChain
	if after != nil {
		found, err := v.find([]model.Hash{*after})
		if excluded = found[0]; err != nil || excluded == notInChain {
			return ids, err
		}
		span.Last = excluded.Last()
	}
	var txs []model.TxPk
	for u, err := range v.usesOf(*birth, span, true) {
		if err != nil {
			return ids, err
		}
		if excluded != notInChain {
			if u.tx != excluded {
				return ids, nil
			}
			excluded = notInChain
			continue
		}
		if txs = append(txs, u.tx); len(txs) == n {
			break
		}
	}
	more, err := v.q.TxIDs(txs)
	return append(ids, more...), err
}

// PendingColorTxs appends up to n transactions of the mempool that have a color, in the order of arrival.
func (v *View) PendingColorTxs(ids []model.Hash, id []byte, n int) []model.Hash {
	for t := range v.pendingOf(id) {
		if n--; n < 0 {
			break
		}
		ids = append(ids, t.ID)
	}
	return ids
}

// ColorUse is a color and the block that last issued, transferred or burned it.
type ColorUse struct {
	Color  []byte
	Height uint32
}

// colorUse is the last use of a color.
type colorUse struct {
	birth  model.AssetBirthPk
	height model.HeightPk
}

// useSize is the memory of a colorUse in bytes.
const useSize = 24

// The newest blocks have the colors that were used last. ColorsByUse reads them back, within these limits. If they do not
// have enough colors, it reads the last use of every color, and keeps that list for the tip.
// Tests change them.
var (
	recentBlocks = model.HeightPk(500)
	recentRows   = 20_000
)

// ColorsByUse returns up to n colors by the block of their last use, the newest first, and within a block in descending
// order of the colors. It begins after the color after; if that is nil, or no transaction has it, at the beginning.
func (v *View) ColorsByUse(after []byte, n int) ([]ColorUse, error) {
	start := colorStart{height: v.Tip.Height}
	if after != nil {
		birth, err := v.colorBirth(after)
		if err != nil {
			return nil, err
		}
		if birth != nil {
			last, err := v.lastUse(*birth)
			if err != nil {
				return nil, err
			}
			start = colorStart{last, after}
		}
	}
	if v.Tip.IsOrigin() || v.q.Totals.Rows[schema.FamilyAssetID] == 0 {
		return nil, nil
	}
	uses, complete, err := v.recentUses(start, n)
	if err == nil && !complete {
		uses, err = v.allUses(start, n)
	}
	return uses, err
}

// colorStart is where a list of colors begins.
type colorStart struct {
	height model.HeightPk
	after  []byte // color of the block at this height after which it begins; nil: none
}

// recentUses reads the blocks from a start back. complete reports that they have n colors, or that it read all blocks.
func (v *View) recentUses(start colorStart, n int) (uses []ColorUse, complete bool, err error) {
	rows := 0
	for h := start.height; ; h-- {
		births, read, err := v.colorsIn(h)
		if err != nil {
			return nil, false, err
		}
		var last []colorUse
		for _, birth := range births {
			at, err := v.lastUse(birth)
			if err != nil {
				return nil, false, err
			}
			if at == h {
				last = append(last, colorUse{birth, h})
			}
		}
		if uses, err = v.addUses(uses, last, start, n); err != nil {
			return nil, false, err
		}
		if rows += read; len(uses) == n || h == 0 {
			return uses, true, nil
		}
		if start.height-h >= recentBlocks || rows > recentRows {
			return nil, false, nil
		}
	}
}

// addUses appends the colors of one block that are after the start, until there are n.
func (v *View) addUses(uses []ColorUse, of []colorUse, start colorStart, n int) ([]ColorUse, error) {
	if len(of) == 0 {
		return uses, nil
	}
	births := make([]model.AssetBirthPk, len(of))
	for i := range of {
		births[i] = of[i].birth
	}
	ids, err := v.q.Many(schema.FamilyAssetID, schema.Keys(births))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(ids, func(a, b []byte) int { return bytes.Compare(b, a) })
	for _, id := range ids {
		if start.after != nil && of[0].height == start.height && bytes.Compare(id, start.after) >= 0 {
			continue
		}
		if len(uses) == n {
			break
		}
		uses = append(uses, ColorUse{id, uint32(of[0].height)})
	}
	return uses, nil
}

// colorsIn returns the colors that the transactions of a block have in outputs, or spend. read is the number of rows that
// were read.
func (v *View) colorsIn(h model.HeightPk) (births []model.AssetBirthPk, read int, err error) {
	from, to := v.q.FirstPk(h).AppendTo(nil), v.q.FirstPk(h+1).AppendTo(nil)
	seen := map[model.AssetBirthPk]bool{}
	add := func(es []schema.AssetEntry) {
		for _, e := range es {
			if !seen[e.Birth] {
				seen[e.Birth] = true
				births = append(births, e.Birth)
			}
		}
	}
	for kv, err := range v.q.R.Scan(schema.FamilyAssets, from, to, false) {
		if err != nil {
			return nil, 0, err
		}
		pk, err := model.ParseUtxoPk(kv.Key)
		if err != nil {
			return nil, 0, err
		}
		es, err := schema.ParseAssetsRow(pk, kv.Value)
		if err != nil {
			return nil, 0, err
		}
		read++
		add(es)
	}
	var spent []model.UtxoPk
	flush := func() error {
		entries, err := v.q.AssetEntries(spent)
		for _, es := range entries {
			add(es)
		}
		spent = spent[:0]
		return err
	}
	for row, err := range schema.Rows(v.q.R, schema.FamilySpentUtxo, from, to, false, schema.ParseSpendRow) {
		if err != nil {
			return nil, 0, err
		}
		read++
		if spent = append(spent, row.Output); len(spent) == lastBatch {
			if err := flush(); err != nil {
				return nil, 0, err
			}
		}
	}
	return births, read, flush()
}

// lastUse returns the height of the last block that issued, transferred or burned a color.
func (v *View) lastUse(birth model.AssetBirthPk) (h model.HeightPk, err error) {
	for pk, err := range v.q.AssetOccurrences(birth, setops.Everywhere, true) {
		if h = pk.Height(); err != nil {
			return 0, err
		}
		break
	}
	from, to := setops.Everywhere.Keys(birth.AppendTo(nil))
	for row, err := range schema.Rows(v.q.R, schema.FamilyAssetSupply, from, to, true, schema.ParseSupplyRow) {
		if err != nil {
			return 0, err
		}
		h = max(h, row.Tx.Height())
		break
	}
	return h, nil
}

// allUses is recentUses by a list of the last uses of all colors.
func (v *View) allUses(start colorStart, n int) (uses []ColorUse, err error) {
	all, known := v.chain.lastUses.Get(v.Tip.Hash)
	if !known {
		if all, err = v.readUses(); err != nil {
			return nil, err
		}
		v.chain.lastUses.Put(v.Tip.Hash, all)
	}
	i, _ := slices.BinarySearchFunc(all, start.height, func(u colorUse, h model.HeightPk) int { return cmp.Compare(h, u.height) })
	for len(uses) < n && i < len(all) {
		end := i + 1
		for end < len(all) && all[end].height == all[i].height {
			end++
		}
		if uses, err = v.addUses(uses, all[i:end], start, n); err != nil {
			return nil, err
		}
		i = end
	}
	return uses, nil
}

// readUses returns the last uses of all colors, the newest first.
func (v *View) readUses() (all []colorUse, err error) {
	for kv, err := range v.q.R.Scan(schema.FamilyAssetID, nil, nil, false) {
		if err != nil {
			return nil, err
		}
		birth, err := model.ParseAssetBirthPk(kv.Key)
		if err != nil {
			return nil, err
		}
		last, err := v.lastUse(birth)
		if err != nil {
			return nil, err
		}
		if all = append(all, colorUse{birth, last}); len(all)%lastBatch == 0 {
			if err := v.q.R.Hold(lastBatch * useSize); err != nil {
				return nil, err
			}
		}
	}
	slices.SortStableFunc(all, func(a, b colorUse) int { return cmp.Compare(b.height, a.height) })
	return all, nil
}
