package export

import (
	"fmt"
	"math/big"
	"slices"

	"birthmark/core/export/tablefile"
	"birthmark/core/schema"
	"birthmark/model"
)

// Columns of assets.
const (
	assetOutput = iota
	assetBlock
	assetTime
	assetTx
	assetIndex
	assetIDColumn
	assetName
	assetAmount
	assetMint
	assetAmountText // on chains whose amounts can exceed 38 digits
)

func (c *columns) assetFields() []tablefile.Field {
	fields := []tablefile.Field{
		assetOutput:   {Name: "output_id", Type: tablefile.Uint64},
		assetBlock:    {Name: "block_number", Type: tablefile.Int32},
		assetTime:     {Name: "block_timestamp", Type: tablefile.Timestamp, Nullable: true},
		assetTx:       {Name: "tx_id", Type: tablefile.Uint64},
		assetIndex:    {Name: "index", Type: tablefile.Int32},
		assetIDColumn: {Name: "asset_id", Type: tablefile.Decimal, Dictionary: 1},
		assetName:     {Name: "asset", Type: tablefile.Text, Dictionary: 1},
		assetAmount:   {Name: "amount", Type: tablefile.Decimal, Nullable: c.tokens},
		assetMint:     {Name: "is_mint", Type: tablefile.Bool},
	}
	if c.tokens {
		fields = append(fields, tablefile.Field{Name: "amount_text", Type: tablefile.Text})
	}
	return fields
}

func (p *part) fillAssets(c *chunk) error {
	if c.assets == nil {
		return nil
	}
	b, a := p.entries.begin(), c.assets
	from, rows := uint32(0), 0
	err := c.eachTx(a.pks, func(row, tx int) {
		pk := a.pks[row]
		for i, e := range schema.Holdings(a.entries[from:a.ends[row]]) {
			appendInts(b, assetOutput, int64(pk))
			appendInts(b, assetBlock, int64(c.heights[tx]))
			appendTime(b, assetTime, c.times[tx])
			appendInts(b, assetTx, int64(c.pks[tx]))
			appendInts(b, assetIndex, int64(i))
			p.entries.appendAsset(e.Birth)
			p.appendAssetAmount(b, assetAmount, assetAmountText, e.Amount, false)
			appendBool(b, assetMint, e.Minted)
			rows++
		}
		from = a.ends[row]
	})
	if err != nil {
		return err
	}
	return p.entries.send(rows)
}

// appendAsset appends the position of an asset.
func (o *output) appendAsset(a model.AssetBirthPk) {
	to := &o.batch.Positions[0]
	to.At = append(to.At, o.entries[0].entry(model.BirthPk{Utxo: a.Utxo, Ordinal: a.Index}))
}

// appendAssetAmount appends an amount of an asset: if it has more than 38 digits, only as text.
func (p *part) appendAssetAmount(b *tablefile.Batch, column, text int, amount model.Uint128, null bool) {
	appendAmount(&b.Columns[column], amount, null || p.tokens && amount.Cmp(tablefile.MaxDecimal) > 0)
	if p.tokens {
		appendMaybeText(&b.Columns[text], amount.Big().String(), null)
	}
}

// Columns of asset events.
const (
	eventTx = iota
	eventBlock
	eventTime
	eventIDColumn
	eventAsset
	eventMinted
	eventBurned
	eventMintedText // on chains whose amounts can exceed 38 digits
	eventBurnedText
)

func (c *columns) eventFields() []tablefile.Field {
	fields := []tablefile.Field{
		eventTx:       {Name: "tx_id", Type: tablefile.Uint64},
		eventBlock:    {Name: "block_number", Type: tablefile.Int32},
		eventTime:     {Name: "block_timestamp", Type: tablefile.Timestamp, Nullable: true},
		eventIDColumn: {Name: "asset_id", Type: tablefile.Decimal, Dictionary: 1},
		eventAsset:    {Name: "asset", Type: tablefile.Text, Dictionary: 1},
		eventMinted:   {Name: "minted", Type: tablefile.Decimal, Nullable: true},
		eventBurned:   {Name: "burned", Type: tablefile.Decimal, Nullable: true},
	}
	if c.tokens {
		fields = append(fields, tablefile.Field{Name: "minted_text", Type: tablefile.Text, Nullable: true},
			tablefile.Field{Name: "burned_text", Type: tablefile.Text, Nullable: true})
	}
	return fields
}

// assetChange is the change of an asset in the outputs of a transaction.
type assetChange struct {
	tx     int
	birth  model.AssetBirthPk
	amount model.Uint128 // modulo 2^128: created minus spent
	minted bool
}

// event is the amounts of an asset that a transaction minted and burned.
type event struct {
	tx    int
	birth model.AssetBirthPk
	schema.SupplyRow
}

// joinAssets finds the mints and burns of the chunk. A transaction mints or burns an asset only if an entry is a mint, or
// its outputs have another amount of it than its inputs.
func (p *part) joinAssets(c *chunk) error {
	c.events = c.events[:0]
	if c.assets == nil || p.events == nil && p.txs == nil {
		return nil
	}
	p.changes = p.changes[:0]
	from := uint32(0)
	err := c.eachTx(c.assets.pks, func(row, tx int) {
		for _, e := range c.assets.entries[from:c.assets.ends[row]] {
			p.changes = append(p.changes, assetChange{tx, e.Birth, e.Amount, e.Minted})
		}
		from = c.assets.ends[row]
	})
	if err != nil {
		return err
	}
	if err := p.addSpentAssets(c); err != nil {
		return err
	}
	slices.SortFunc(p.changes, func(a, b assetChange) int {
		if a.tx != b.tx {
			return a.tx - b.tx
		}
		return schema.CompareAssetBirths(a.birth, b.birth)
	})
	merged := p.changes[:0]
	for _, change := range p.changes {
		if n := len(merged); n > 0 && merged[n-1].tx == change.tx && merged[n-1].birth == change.birth {
			merged[n-1].amount, _ = merged[n-1].amount.Add(change.amount)
			merged[n-1].minted = merged[n-1].minted || change.minted
			continue
		}
		merged = append(merged, change)
	}
	merged = slices.DeleteFunc(merged, func(c assetChange) bool { return !c.minted && c.amount.IsZero() })
	return p.readSupplies(c, merged)
}

// addSpentAssets adds the assets of the spent outputs to the changes.
func (p *part) addSpentAssets(c *chunk) error {
	if c.inputs == nil {
		return nil
	}
	p.missing = p.missing[:0]
	for i, pk := range c.inputs.spent {
		p.missing = append(p.missing, missing{pk, 0, i})
	}
	slices.SortFunc(p.missing, compareMissing)
	rows, err := p.r.GetMany(schema.FamilyAssets, keysOf(p.missing, func(m *missing) uint64 { return m.pk }))
	if err != nil {
		return err
	}
	txs := make([]int, len(c.inputs.pks))
	if err := c.eachTx(c.inputs.pks, func(row, tx int) { txs[row] = tx }); err != nil {
		return err
	}
	var entries []schema.AssetEntry
	for i, m := range p.missing {
		if rows[i] == nil {
			continue
		}
		if entries, err = schema.AppendAssetEntries(entries[:0], model.UtxoPk(m.pk), rows[i]); err != nil {
			return fmt.Errorf("assets of output %v: %w", model.UtxoPk(m.pk), err)
		}
		for _, e := range schema.Holdings(entries) {
			negative, _ := model.Uint128{}.Sub(e.Amount)
			p.changes = append(p.changes, assetChange{txs[m.input], e.Birth, negative, false})
		}
	}
	return nil
}

// readSupplies reads the rows of supplies that changes can have.
func (p *part) readSupplies(c *chunk, changes []assetChange) error {
	keys := make([][]byte, len(changes))
	for i := range changes {
		keys[i] = schema.AppendSupplyKey(nil, changes[i].birth, model.TxPk(c.pks[changes[i].tx]))
	}
	rows, err := p.r.GetMany(schema.FamilyAssetSupply, keys)
	if err != nil {
		return err
	}
	for i := range changes {
		if rows[i] == nil {
			continue
		}
		row, err := schema.ParseSupplyRow(keys[i], rows[i])
		if err != nil {
			return fmt.Errorf("supply of asset %v: %w", changes[i].birth, err)
		}
		s := &c.sums[changes[i].tx]
		if row.Mints {
			s.mints++
		}
		if row.Burns {
			s.mints++
		}
		c.events = append(c.events, event{changes[i].tx, changes[i].birth, row})
	}
	return nil
}

func (p *part) fillEvents(c *chunk) error {
	b := p.events.begin()
	for _, e := range c.events {
		appendInts(b, eventTx, int64(c.pks[e.tx]))
		appendInts(b, eventBlock, int64(c.heights[e.tx]))
		appendTime(b, eventTime, c.times[e.tx])
		p.events.appendAsset(e.birth)
		for column, amount := range [...]*big.Int{e.Minted, e.Burned} {
			n, ok := uint128(amount)
			if !ok {
				return fmt.Errorf("%s of asset %v in %v exceeds 128 bits", amount, e.birth, model.TxPk(c.pks[e.tx]))
			}
			null := column == 0 && !e.Mints || column == 1 && !e.Burns
			p.appendAssetAmount(b, eventMinted+column, eventMintedText+column, n, null)
		}
	}
	return p.events.send(len(c.events))
}

// uint128 converts an amount; false if it does not fit.
func uint128(n *big.Int) (model.Uint128, bool) {
	if n == nil {
		return model.Uint128{}, true
	}
	low := new(big.Int).And(n, new(big.Int).SetUint64(^uint64(0)))
	return model.Uint128{Hi: new(big.Int).Rsh(n, 64).Uint64(), Lo: low.Uint64()}, n.Sign() >= 0 && n.BitLen() <= 128
}
