package blockfrost

import (
	"encoding/hex"
	"math/big"
	"slices"
	"strconv"

	"birthmark/api/compat/blockfrost/exchange"
	"birthmark/chains/cardano/address"
	byron "birthmark/chains/cardano/genesis"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// blockJSON is a block.
type blockJSON struct {
	Time          int64   `json:"time"`
	Height        *uint32 `json:"height"` // null: a boundary block of Byron
	Hash          string  `json:"hash"`
	Slot          *uint64 `json:"slot"`
	Epoch         *uint64 `json:"epoch"`
	EpochSlot     *uint64 `json:"epoch_slot"`
	SlotLeader    string  `json:"slot_leader"`
	Size          int     `json:"size"`
	TxCount       int     `json:"tx_count"`
	Output        *string `json:"output"` // null: the block has no transactions
	Fees          *string `json:"fees"`
	BlockVRF      *string `json:"block_vrf"` // null in Byron, as the next
	OpCert        *string `json:"op_cert"`
	OpCertCounter *string `json:"op_cert_counter"`
	PreviousBlock *string `json:"previous_block"`
	NextBlock     *string `json:"next_block"`
	Confirmations uint32  `json:"confirmations"`
}

// block returns a block as the API does.
func (q *request) block(h model.HeightPk) (*blockJSON, error) {
	row, err := q.Block(h)
	if err != nil {
		return nil, err
	}
	b := &blockJSON{
		Time: row.Time, Hash: row.Hash.String(), Size: row.Size, TxCount: row.TxCount,
		SlotLeader: q.Leader(row), Confirmations: uint32(q.Q.Tip.Height - h),
	}
	if row.Parent != (model.Hash{}) {
		b.PreviousBlock = exchange.Text(row.Parent.String())
	} else if first, err := q.genesisBlock(); err != nil {
		return nil, err
	} else if first != nil {
		b.PreviousBlock = &first.Hash
	}
	if h < q.Q.Tip.Height {
		next, err := q.Q.BlockRow(h + 1)
		if err != nil {
			return nil, err
		}
		b.NextBlock = exchange.Text(next.Hash.String())
	}
	b.Epoch = row.Parsed.Epoch
	if row.Parsed.Boundary {
		return b, nil
	}
	height := uint32(h)
	b.Height, b.Slot = &height, &row.Parsed.Slot
	if chain, ok := q.Chain.Model.(exchange.Epochs); ok && b.Epoch != nil {
		if first, _, known := chain.EpochSlots(*b.Epoch); known {
			slot := row.Parsed.Slot - first
			b.EpochSlot = &slot
		}
	}
	if row.Parsed.VrfVkey != "" {
		b.Size = int(row.Parsed.BodySize)
		if err := b.setKeys(row); err != nil {
			return nil, err
		}
	}
	if row.TxCount > 0 {
		totals, err := q.View.BlockTotals(q.Ctx, b.Hash)
		if err != nil {
			return nil, err
		}
		b.Output, b.Fees = &totals.OutputValue, exchange.Text(totals.Fees)
	}
	return b, nil
}

// withGenesis is a chain whose genesis is known.
type withGenesis interface {
	Genesis() (hash string, unix int64, outputs []byron.Output, err error)
}

// genesisBlock returns the Byron genesis as a block, which precedes the block at height 0; nil if it is unknown or that
// block is.
func (q *request) genesisBlock() (*blockJSON, error) {
	chain, ok := q.Chain.Model.(withGenesis)
	if first, err := q.firstBlock(); !ok || err != nil || first != 0 {
		return nil, err
	}
	hash, unix, outputs, err := chain.Genesis()
	if err != nil || hash == "" {
		return nil, err
	}
	row, err := q.Q.BlockRow(0)
	if err != nil {
		return nil, err
	}
	sum := new(big.Int)
	for _, o := range outputs {
		sum.Add(sum, exchange.Int(o.Value))
	}
	output, fees := sum.String(), "0"
	return &blockJSON{
		Time: unix, Hash: hash, SlotLeader: "Genesis slot leader", TxCount: len(outputs), Output: &output, Fees: &fees,
		NextBlock: exchange.Text(row.Hash.String()), Confirmations: uint32(q.Q.Tip.Height),
	}, nil
}

// setKeys sets the VRF key and the operational certificate of a block since Shelley.
func (b *blockJSON) setKeys(row *exchange.Block) error {
	vrf, err := hex.DecodeString(row.Parsed.VrfVkey)
	if err != nil {
		return err
	}
	b.BlockVRF = exchange.Text(address.FormatVRFKey(vrf))
	hot, counter, err := ledger.OperationalCertificate(row.Header)
	if err != nil {
		return err
	}
	b.OpCert, b.OpCertCounter = exchange.Text(hex.EncodeToString(hot)), exchange.Text(strconv.FormatUint(counter, 10))
	return nil
}

// findBlock returns the height of the block of a path: a hash or a number.
func (q *request) findBlock(ref string) (model.HeightPk, error) {
	hash, isHash := exchange.ReadHash(ref)
	if !isHash {
		n, err := exchange.ReadNumber(ref)
		if err != nil {
			return 0, err
		}
		first, err := q.firstBlock()
		h := model.HeightPk(n)
		if err != nil || n > model.MaxHeight || h < first || h > q.Q.Tip.Height {
			return 0, exchange.OrNotFound(err)
		}
		row, err := q.Block(h)
		if err == nil && row.Parsed.Boundary {
			err = exchange.ErrNotFound // it has no number
		}
		return h, err
	}
	h, ok, err := q.Q.HeightOf(hash)
	if err == nil && !ok {
		err = exchange.ErrNotFound
	}
	return h, err
}

// firstBlock returns the height of the first block, or an error if there is none yet.
func (q *request) firstBlock() (model.HeightPk, error) {
	if q.Q.Tip.IsOrigin() {
		return 0, exchange.ErrNotFound
	}
	return q.Q.FirstBlock()
}

// answerBlock answers the block at a height.
func (q *request) answerBlock(h model.HeightPk, err error) error {
	if err != nil {
		return err
	}
	q.Answer, err = q.block(h)
	return err
}

func (q *request) tip() (model.HeightPk, error) {
	if q.Q.Tip.IsOrigin() {
		return 0, exchange.ErrNotFound
	}
	return q.Q.Tip.Height, nil
}

func latestBlock(q *request) error { return q.answerBlock(q.tip()) }

func oneBlock(q *request) error {
	h, err := q.findBlock(q.Args[0])
	if err == exchange.ErrNotFound {
		first, err := q.genesisBlock()
		if err != nil {
			return err
		}
		if first != nil && first.Hash == q.Args[0] {
			q.Answer = first
			return nil
		}
	}
	return q.answerBlock(h, err)
}

func blockAtSlot(q *request) error {
	slot, err := exchange.ReadNumber(q.Args[0])
	if err != nil {
		return err
	}
	return q.answerBlock(q.atSlot(slot))
}

// atSlot returns the block at a slot.
func (q *request) atSlot(slot uint64) (model.HeightPk, error) {
	h, ok, err := q.LastUntil(slot)
	if err != nil || !ok {
		return 0, exchange.OrNotFound(err)
	}
	row, err := q.Block(h)
	if err == nil && (row.Parsed.Slot != slot || row.Parsed.Boundary) {
		err = exchange.ErrNotFound
	}
	return h, err
}

func blockInEpoch(q *request) error {
	epoch, err := exchange.ReadNumber(q.Args[0])
	if err != nil {
		return err
	}
	slot, err := exchange.ReadNumber(q.Args[1])
	if err != nil {
		return err
	}
	first, slots, err := q.EpochSlots(epoch)
	if err != nil {
		return err
	}
	if slot >= slots {
		return exchange.ErrNotFound
	}
	return q.answerBlock(q.atSlot(first + slot))
}

// nextBlocks and previousBlocks answer blocks in ascending order; pages count away from the block.
func nextBlocks(q *request) error     { return q.neighbours(false) }
func previousBlocks(q *request) error { return q.neighbours(true) }

func (q *request) neighbours(before bool) error {
	p := q.Page
	height, err := q.firstBlock()
	if err != nil {
		return err
	}
	first := int64(height)
	genesis, err := q.genesisBlock()
	if err != nil {
		return err
	}
	if genesis != nil {
		first--
	}
	of := first
	if genesis == nil || genesis.Hash != q.Args[0] {
		h, err := q.findBlock(q.Args[0])
		if err != nil {
			return err
		}
		of = int64(h)
	}
	from, to := q.around(of, first, int64(q.Q.Tip.Height), p, before)
	blocks := []*blockJSON{}
	for at := from; at <= to; at++ {
		if at < 0 {
			blocks = append(blocks, genesis)
			continue
		}
		b, err := q.block(model.HeightPk(at))
		if err != nil {
			return err
		}
		blocks = append(blocks, b)
	}
	q.Answer = blocks
	return nil
}

// around returns the numbers of a page before or after a number, within first and last.
func (q *request) around(n, first, last int64, p exchange.Paging, before bool) (from, to int64) {
	skip, count := int64(p.Page-1)*int64(p.Count), int64(p.Count)
	if before {
		to = n - 1 - skip
		return max(first, to-count+1), to
	}
	from = n + 1 + skip
	return from, min(last, from+count-1)
}

func latestBlockTxs(q *request) error  { return q.blockTxs(q.tip()) }
func blockTxs(q *request) error        { return q.blockTxs(q.findBlock(q.Args[0])) }
func latestBlockCBOR(q *request) error { return q.blockCBOR(q.tip()) }
func blockCBOR(q *request) error       { return q.blockCBOR(q.findBlock(q.Args[0])) }

// txsOf returns the pointers and the hashes of the transactions of a block on a page.
func (q *request) txsOf(h model.HeightPk) (pks []model.TxPk, ids []model.Hash, err error) {
	p := q.Page
	row, err := q.Q.BlockRow(h)
	if err != nil {
		return nil, nil, err
	}
	skip := (p.Page - 1) * p.Count
	n := min(p.Count, row.TxCount-skip)
	if n <= 0 {
		return nil, nil, nil
	}
	first := skip
	if p.Descending {
		first = row.TxCount - skip - n
	}
	at, err := q.TxAt(h, first)
	if err != nil {
		return nil, nil, err
	}
	if ids, err = q.Q.BlockTxIDs(h, at.TxIndex(), n); err != nil {
		return nil, nil, err
	}
	for i := range ids {
		pk, err := q.TxAt(h, first+i)
		if err != nil {
			return nil, nil, err
		}
		pks = append(pks, pk)
	}
	if p.Descending {
		slices.Reverse(ids)
		slices.Reverse(pks)
	}
	return pks, ids, nil
}

func (q *request) blockTxs(h model.HeightPk, err error) error {
	if err != nil {
		return err
	}
	_, ids, err := q.txsOf(h)
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = id.String()
	}
	q.Answer = all
	return err
}

// txWithCBOR is a serialized transaction.
type txWithCBOR struct {
	TxHash string `json:"tx_hash"`
	CBOR   string `json:"cbor"`
}

func (q *request) blockCBOR(h model.HeightPk, err error) error {
	if err != nil {
		return err
	}
	pks, ids, err := q.txsOf(h)
	if err != nil {
		return err
	}
	raws, err := q.Q.RawTxs(pks)
	all := make([]txWithCBOR, len(raws))
	for i, raw := range raws {
		all[i] = txWithCBOR{ids[i].String(), hex.EncodeToString(raw)}
	}
	q.Answer = all
	return err
}
