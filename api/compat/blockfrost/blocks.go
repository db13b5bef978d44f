package blockfrost

import (
	"encoding/hex"
	"maps"
	"math/big"
	"slices"

	"birthmark/api/compat/blockfrost/contents"
	"birthmark/chains/cardano/address"
	byron "birthmark/chains/cardano/genesis"
	"birthmark/chains/cardano/ledger"
	"birthmark/core/schema"
	"birthmark/model"
)

// blockRow is a block of the database with its header.
type blockRow struct {
	schema.BlockRow
	Parsed *ledger.Header
}

// blockAt returns the block at a height, which must exist.
func (v *view) blockAt(h model.HeightPk) (*blockRow, error) {
	row, err := v.Q.BlockRow(h)
	if err != nil {
		return nil, err
	}
	header, err := v.Chain.Model.Header(row.Header)
	if err != nil {
		return nil, err
	}
	return &blockRow{row, header.(*ledger.Header)}, nil
}

// leader returns the pool that made a block, or the name that stands for a genesis key.
func (v *view) leader(row *blockRow) string {
	return contents.Leader(v.Chain.Model.Network(), row.Parsed)
}

// block returns a block as the API does.
func (v *view) block(h model.HeightPk) (*blockValue, error) {
	row, err := v.blockAt(h)
	if err != nil {
		return nil, err
	}
	b := &blockValue{
		Time: row.Time, Hash: row.Hash.String(), Size: row.Size, TxCount: row.TxCount,
		SlotLeader: v.leader(row), Confirmations: uint32(v.Q.Tip.Height - h),
	}
	if row.Parent != (model.Hash{}) {
		b.PreviousBlock = new(row.Parent.String())
	} else if first, err := v.genesisBlock(); err != nil {
		return nil, err
	} else if first != nil {
		b.PreviousBlock = &first.Hash
	}
	if h < v.Q.Tip.Height {
		next, err := v.Q.BlockRow(h + 1)
		if err != nil {
			return nil, err
		}
		b.NextBlock = new(next.Hash.String())
	}
	b.Epoch = row.Parsed.Epoch
	if row.Parsed.Boundary {
		return b, nil
	}
	b.Height, b.Slot = new(uint32(h)), &row.Parsed.Slot
	if chain, ok := v.Chain.Model.(withEpochs); ok && b.Epoch != nil {
		if first, _, known := chain.EpochSlots(*b.Epoch); known {
			b.EpochSlot = new(row.Parsed.Slot - first)
		}
	}
	if row.Parsed.VrfVkey != "" {
		b.Size = int(row.Parsed.BodySize)
		if err := b.setKeys(row); err != nil {
			return nil, err
		}
	}
	if row.TxCount > 0 {
		totals, err := v.View.BlockTotals(v.ctx(), b.Hash)
		if err != nil {
			return nil, err
		}
		b.Output, b.Fees = &totals.OutputValue, text(totals.Fees)
	}
	return b, nil
}

// withGenesis is a chain whose genesis is known.
type withGenesis interface {
	Genesis() (hash string, unix int64, outputs []byron.Output, err error)
}

// genesisBlock returns the Byron genesis as a block, which precedes the block at height 0; nil if it is unknown or that
// block is.
func (v *view) genesisBlock() (*blockValue, error) {
	chain, ok := v.Chain.Model.(withGenesis)
	if first, err := v.firstBlock(); !ok || err != nil || first != 0 {
		return nil, err
	}
	hash, unix, outputs, err := chain.Genesis()
	if err != nil || hash == "" {
		return nil, err
	}
	row, err := v.Q.BlockRow(0)
	if err != nil {
		return nil, err
	}
	sum := new(big.Int)
	for _, o := range outputs {
		sum.Add(sum, bigInt(o.Value))
	}
	return &blockValue{
		Time: unix, Hash: hash, SlotLeader: "Genesis slot leader", TxCount: len(outputs), Output: new(sum.String()), Fees: new("0"),
		NextBlock: new(row.Hash.String()), Confirmations: uint32(v.Q.Tip.Height),
	}, nil
}

// setKeys sets the VRF key and the operational certificate of a block since Shelley.
func (b *blockValue) setKeys(row *blockRow) error {
	vrf, err := hex.DecodeString(row.Parsed.VrfVkey)
	if err != nil {
		return err
	}
	b.BlockVRF = new(address.FormatVRFKey(vrf))
	hot, counter, err := ledger.OperationalCertificate(row.Header)
	if err != nil {
		return err
	}
	b.OpCert, b.OpCertCounter = new(hex.EncodeToString(hot)), new(decimal(counter))
	return nil
}

// pathBlock returns the height of the block of the path: a hash or a number.
func (v *view) pathBlock() (model.HeightPk, error) {
	hash, isHash := readHash(v.arg("block"))
	if !isHash {
		n := v.number("block")
		first, err := v.firstBlock()
		h := model.HeightPk(n)
		if err != nil || n > model.MaxHeight || h < first || h > v.Q.Tip.Height {
			return 0, orNotFound(err)
		}
		row, err := v.blockAt(h)
		if err == nil && row.Parsed.Boundary {
			err = errNotFound // it has no number
		}
		return h, err
	}
	h, ok, err := v.Q.HeightOf(hash)
	if err == nil && !ok {
		err = errNotFound
	}
	return h, err
}

// firstBlock returns the height of the first block. It returns errNotFound if the database is empty.
func (v *view) firstBlock() (model.HeightPk, error) {
	if v.Q.Tip.IsOrigin() {
		return 0, errNotFound
	}
	return v.Q.FirstBlock()
}

// answerBlock answers the block at a height.
func (v *view) answerBlock(h model.HeightPk, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return v.block(h)
}

func (v *view) tip() (model.HeightPk, error) {
	if v.Q.Tip.IsOrigin() {
		return 0, errNotFound
	}
	return v.Q.Tip.Height, nil
}

func latestBlock(v *view) (any, error) { return v.answerBlock(v.tip()) }

func oneBlock(v *view) (any, error) {
	h, err := v.pathBlock()
	if err == errNotFound {
		first, err := v.genesisBlock()
		if err != nil {
			return nil, err
		}
		if first != nil && first.Hash == v.arg("block") {
			return first, nil
		}
	}
	return v.answerBlock(h, err)
}

func blockAtSlot(v *view) (any, error) {
	return v.answerBlock(v.atSlot(v.number("slot_number")))
}

// atSlot returns the block at a slot.
func (v *view) atSlot(slot uint64) (model.HeightPk, error) {
	h, ok, err := v.LastUntil(slot)
	if err != nil || !ok {
		return 0, orNotFound(err)
	}
	row, err := v.blockAt(h)
	if err == nil && (row.Parsed.Slot != slot || row.Parsed.Boundary) {
		err = errNotFound
	}
	return h, err
}

func blockInEpoch(v *view) (any, error) {
	slot := v.number("slot_number")
	first, slots, err := v.epochSlots(v.number("epoch_number"))
	if err != nil || slot >= slots {
		return nil, orNotFound(err)
	}
	return v.answerBlock(v.atSlot(first + slot))
}

// nextBlocks and previousBlocks answer blocks in ascending order; pages count away from the block.
func nextBlocks(v *view) (any, error)     { return v.neighbours(false) }
func previousBlocks(v *view) (any, error) { return v.neighbours(true) }

func (v *view) neighbours(before bool) (any, error) {
	height, err := v.firstBlock()
	if err != nil {
		return nil, err
	}
	first := int64(height)
	genesis, err := v.genesisBlock()
	if err != nil {
		return nil, err
	}
	if genesis != nil {
		first--
	}
	of := first
	if genesis == nil || genesis.Hash != v.arg("block") {
		h, err := v.pathBlock()
		if err != nil {
			return nil, err
		}
		of = int64(h)
	}
	from, to := v.page.around(of, first, int64(v.Q.Tip.Height), before)
	blocks := []*blockValue{}
	for at := from; at <= to; at++ {
		if at < 0 {
			blocks = append(blocks, genesis)
			continue
		}
		b, err := v.block(model.HeightPk(at))
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// around returns the numbers of a page before or after a number, within first and last.
func (p *paging) around(n, first, last int64, before bool) (from, to int64) {
	skip, count := int64(p.number-1)*int64(p.count), int64(p.count)
	if before {
		to = n - 1 - skip
		return max(first, to-count+1), to
	}
	from = n + 1 + skip
	return from, min(last, from+count-1)
}

func latestBlockTxs(v *view) (any, error)  { return v.blockTxs(v.tip()) }
func blockTxs(v *view) (any, error)        { return v.blockTxs(v.pathBlock()) }
func latestBlockCBOR(v *view) (any, error) { return v.blockCBOR(v.tip()) }
func blockCBOR(v *view) (any, error)       { return v.blockCBOR(v.pathBlock()) }

// txsOf returns the pointers and the hashes of the transactions of a block on a page.
func (v *view) txsOf(h model.HeightPk) (pks []model.TxPk, ids []model.Hash, err error) {
	p := v.page
	row, err := v.Q.BlockRow(h)
	if err != nil {
		return nil, nil, err
	}
	skip := (p.number - 1) * p.count
	n := min(p.count, row.TxCount-skip)
	if n <= 0 {
		return nil, nil, nil
	}
	first := skip
	if p.descending {
		first = row.TxCount - skip - n
	}
	at, err := v.txAt(h, first)
	if err != nil {
		return nil, nil, err
	}
	if ids, err = v.Q.BlockTxIDs(h, at.TxIndex(), n); err != nil {
		return nil, nil, err
	}
	for i := range ids {
		pk, err := v.txAt(h, first+i)
		if err != nil {
			return nil, nil, err
		}
		pks = append(pks, pk)
	}
	if p.descending {
		slices.Reverse(ids)
		slices.Reverse(pks)
	}
	return pks, ids, nil
}

func (v *view) blockTxs(h model.HeightPk, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	_, ids, err := v.txsOf(h)
	return texts(ids), err
}

func (v *view) blockCBOR(h model.HeightPk, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	pks, ids, err := v.txsOf(h)
	if err != nil {
		return nil, err
	}
	raws, err := v.Q.RawTxs(pks)
	all := make([]txWithCBOR, len(raws))
	for i, raw := range raws {
		all[i] = txWithCBOR{ids[i].String(), hex.EncodeToString(raw)}
	}
	return all, err
}

// blockAddresses answers the addresses that the transactions of a block pay or spend from, ordered by their text.
func blockAddresses(v *view) (any, error) {
	h, err := v.pathBlock()
	if err != nil {
		return nil, err
	}
	row, err := v.Q.BlockRow(h)
	if err != nil {
		return nil, err
	}
	first, err := v.txAt(h, 0)
	if err != nil {
		return nil, err
	}
	ids, err := v.Q.BlockTxIDs(h, first.TxIndex(), row.TxCount)
	if err != nil {
		return nil, err
	}
	var pks []model.UtxoPk
	var in []int // the transaction of each output in pks
	for i := range ids {
		tx, err := v.txAt(h, i)
		if err != nil {
			return nil, err
		}
		spent, err := v.Q.SpendsOf(tx)
		if err != nil {
			return nil, err
		}
		created, err := v.Q.OutputsOf(tx)
		if err != nil {
			return nil, err
		}
		for _, pk := range slices.Concat(spent, created) {
			pks, in = append(pks, pk), append(in, i)
		}
	}
	owners, err := v.Owners(pks)
	if err != nil {
		return nil, err
	}
	byAddress := map[string][]int{}
	for i, o := range owners {
		if at := byAddress[o.Text]; len(at) == 0 || at[len(at)-1] != in[i] {
			byAddress[o.Text] = append(at, in[i])
		}
	}
	all := []addressTxsValue{}
	for _, a := range slicePage(slices.Sorted(maps.Keys(byAddress)), v.page) {
		e := addressTxsValue{Address: a}
		for _, i := range byAddress[a] {
			e.Transactions = append(e.Transactions, txHash{ids[i].String()})
		}
		all = append(all, e)
	}
	return all, nil
}
