package blockfrost

import (
	"encoding/hex"
	"errors"
	"slices"
	"strconv"

	"birthmark/api/compat/blockfrost/contents"
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/ledger"
	"birthmark/core/schema"
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

// epochs is a chain with epochs.
type epochs interface {
	// EpochSlots returns the first slot of an epoch, and the number of its slots; ok is false if they are unknown.
	EpochSlots(epoch uint64) (first, slots uint64, ok bool)
	// SlotTime returns when a slot began, in Unix seconds; ok is false if it is unknown.
	SlotTime(slot uint64) (unix int64, ok bool)
}

// blockRow is a block of the database with its header.
type blockRow struct {
	height model.HeightPk
	schema.BlockRow
	header *ledger.Header
}

func (q *request) blockRow(h model.HeightPk) (*blockRow, error) {
	row, err := q.Q.BlockRow(h)
	if err != nil {
		return nil, err
	}
	header, err := q.Chain.Model.Header(row.Header)
	if err != nil {
		return nil, err
	}
	return &blockRow{h, row, header.(*ledger.Header)}, nil
}

// block returns a block as the API does.
func (q *request) block(h model.HeightPk) (*blockJSON, error) {
	row, err := q.blockRow(h)
	if err != nil {
		return nil, err
	}
	b := &blockJSON{
		Time: row.Time, Hash: row.Hash.String(), Size: row.Size, TxCount: row.TxCount,
		SlotLeader: q.leader(row), Confirmations: uint32(q.Q.Tip.Height - h),
	}
	if row.Parent != (model.Hash{}) {
		b.PreviousBlock = text(row.Parent.String())
	}
	if h < q.Q.Tip.Height {
		next, err := q.Q.BlockRow(h + 1)
		if err != nil {
			return nil, err
		}
		b.NextBlock = text(next.Hash.String())
	}
	b.Epoch = row.header.Epoch
	if row.header.Boundary {
		return b, nil
	}
	height := uint32(h)
	b.Height, b.Slot = &height, &row.header.Slot
	if chain, ok := q.Chain.Model.(epochs); ok && b.Epoch != nil {
		if first, _, known := chain.EpochSlots(*b.Epoch); known {
			slot := row.header.Slot - first
			b.EpochSlot = &slot
		}
	}
	if row.header.VrfVkey != "" {
		b.Size = int(row.header.BodySize)
		if err := b.setKeys(row); err != nil {
			return nil, err
		}
	}
	if row.TxCount > 0 {
		totals, err := q.view.BlockTotals(q.ctx, b.Hash)
		if err != nil {
			return nil, err
		}
		b.Output, b.Fees = &totals.OutputValue, text(totals.Fees)
	}
	return b, nil
}

// setKeys sets the VRF key and the operational certificate of a block since Shelley.
func (b *blockJSON) setKeys(row *blockRow) error {
	vrf, err := hex.DecodeString(row.header.VrfVkey)
	if err != nil {
		return err
	}
	b.BlockVRF = text(address.FormatVRFKey(vrf))
	hot, counter, err := ledger.OperationalCertificate(row.Header)
	if err != nil {
		return err
	}
	b.OpCert, b.OpCertCounter = text(hex.EncodeToString(hot)), text(strconv.FormatUint(counter, 10))
	return nil
}

func (q *request) leader(row *blockRow) string {
	return contents.Leader(q.Chain.Model.Network(), row.header)
}

// text returns a string, nil if it is empty.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// findBlock returns the height of the block of a path: a hash or a number.
func (q *request) findBlock(ref string) (model.HeightPk, error) {
	n, err := strconv.ParseInt(ref, 10, 64)
	if len(ref) != 2*len(model.Hash{}) && (err == nil || errors.Is(err, strconv.ErrRange)) {
		if err != nil || n < 0 || n > 1<<31-1 {
			return 0, errNumber
		}
		first, err := q.firstBlock()
		h := model.HeightPk(n)
		if err != nil || n > model.MaxHeight || h < first || h > q.Q.Tip.Height {
			return 0, orNotFound(err)
		}
		row, err := q.blockRow(h)
		if err == nil && row.header.Boundary {
			err = errNotFound // it has no number
		}
		return h, err
	}
	hash, ok := readHash(ref)
	if !ok {
		return 0, errHash
	}
	h, ok, err := q.Q.HeightOf(hash)
	if err == nil && !ok {
		err = errNotFound
	}
	return h, err
}

// firstBlock returns the height of the first block, or an error if there is none yet.
func (q *request) firstBlock() (model.HeightPk, error) {
	if q.Q.Tip.IsOrigin() {
		return 0, errNotFound
	}
	return q.Q.FirstBlock()
}

func orNotFound(err error) error {
	if err != nil {
		return err
	}
	return errNotFound
}

func readHash(text string) (h model.Hash, ok bool) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(h) {
		return h, false
	}
	return model.Hash(b), true
}

// answerBlock answers the block at a height.
func (q *request) answerBlock(h model.HeightPk, err error) error {
	if err != nil {
		return err
	}
	q.answer, err = q.block(h)
	return err
}

func (q *request) tip() (model.HeightPk, error) {
	if q.Q.Tip.IsOrigin() {
		return 0, errNotFound
	}
	return q.Q.Tip.Height, nil
}

func latestBlock(q *request) error { return q.answerBlock(q.tip()) }
func oneBlock(q *request) error    { return q.answerBlock(q.findBlock(q.args[0])) }

func blockAtSlot(q *request) error {
	slot, err := readNumber(q.args[0], errSlot)
	if err != nil {
		return err
	}
	return q.answerBlock(q.atSlot(slot))
}

// atSlot returns the block at a slot.
func (q *request) atSlot(slot uint64) (model.HeightPk, error) {
	h, ok, err := q.LastUntil(slot)
	if err != nil || !ok {
		return 0, orNotFound(err)
	}
	row, err := q.blockRow(h)
	if err == nil && (row.header.Slot != slot || row.header.Boundary) {
		err = errNotFound
	}
	return h, err
}

func blockInEpoch(q *request) error {
	epoch, err := readNumber(q.args[0], errEpoch)
	if err != nil {
		return err
	}
	slot, err := readNumber(q.args[1], errSlot)
	if err != nil {
		return err
	}
	first, slots, err := q.epochSlots(epoch)
	if err != nil {
		return err
	}
	if slot >= slots {
		return errNotFound
	}
	return q.answerBlock(q.atSlot(first + slot))
}

// epochSlots returns the first slot of an epoch, and the number of its slots.
func (q *request) epochSlots(epoch uint64) (first, slots uint64, err error) {
	if chain, ok := q.Chain.Model.(epochs); ok {
		if first, slots, known := chain.EpochSlots(epoch); known {
			return first, slots, nil
		}
	}
	return 0, 0, notImplemented("the epochs of a network are known only with its genesis files")
}

// readNumber reads a number of at most 31 bits.
func readNumber(text string, fault error) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fault
	}
	return n, nil
}

// nextBlocks and previousBlocks answer blocks in ascending order; pages count away from the block.
func nextBlocks(q *request) error     { return q.neighbours(false) }
func previousBlocks(q *request) error { return q.neighbours(true) }

func (q *request) neighbours(before bool) error {
	h, err := q.findBlock(q.args[0])
	if err != nil {
		return err
	}
	p, err := q.paging()
	if err != nil {
		return err
	}
	first, err := q.firstBlock()
	if err != nil {
		return err
	}
	from, to := q.around(int64(h), int64(first), int64(q.Q.Tip.Height), p, before)
	blocks := []*blockJSON{}
	for at := from; at <= to; at++ {
		b, err := q.block(model.HeightPk(at))
		if err != nil {
			return err
		}
		blocks = append(blocks, b)
	}
	q.answer = blocks
	return nil
}

// around returns the numbers of a page before or after a number, within first and last.
func (q *request) around(n, first, last int64, p paging, before bool) (from, to int64) {
	skip, count := int64(p.page-1)*int64(p.count), int64(p.count)
	if before {
		to = n - 1 - skip
		return max(first, to-count+1), to
	}
	from = n + 1 + skip
	return from, min(last, from+count-1)
}

func latestBlockTxs(q *request) error  { return q.blockTxs(q.tip()) }
func blockTxs(q *request) error        { return q.blockTxs(q.findBlock(q.args[0])) }
func latestBlockCBOR(q *request) error { return q.blockCBOR(q.tip()) }
func blockCBOR(q *request) error       { return q.blockCBOR(q.findBlock(q.args[0])) }

// txsOf returns the pointers and the hashes of the transactions of a block on a page.
func (q *request) txsOf(h model.HeightPk) (pks []model.TxPk, ids []model.Hash, err error) {
	p, err := q.paging()
	if err != nil {
		return nil, nil, err
	}
	row, err := q.Q.BlockRow(h)
	if err != nil {
		return nil, nil, err
	}
	skip := (p.page - 1) * p.count
	n := min(p.count, row.TxCount-skip)
	if n <= 0 {
		return nil, nil, nil
	}
	first := skip
	if p.descending {
		first = row.TxCount - skip - n
	}
	at, err := q.txAt(h, first)
	if err != nil {
		return nil, nil, err
	}
	if ids, err = q.Q.BlockTxIDs(h, at.TxIndex(), n); err != nil {
		return nil, nil, err
	}
	for i := range ids {
		pk, err := q.txAt(h, first+i)
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

func (q *request) blockTxs(h model.HeightPk, err error) error {
	if err != nil {
		return err
	}
	_, ids, err := q.txsOf(h)
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = id.String()
	}
	q.answer = all
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
	q.answer = all
	return err
}
