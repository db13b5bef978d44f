package export

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"birthmark/core/export/tablefile"
	"birthmark/core/schema"
	"birthmark/internal/guard"
	"birthmark/model"
	"birthmark/storage"
)

// caches are memory that an exporter reuses for its next part.
type caches struct {
	texts  texts
	recent recent
	memory map[string]*memory // by table
	free   chan *chunk
	joined int // chunks that are joined at once
}

// Chunks of most chains need less than chunkBytes. Joining several at once makes reads of outputs near each other share
// blocks of the store.
const (
	chunkBytes = 4 << 20
	mostJoined = 4
)

// newCaches returns caches that use some bytes. An input needs the output that it spends and the text of its address: if the
// texts have three quarters of the memory, both are kept for about the same number of blocks.
func newCaches(bytes int64) *caches {
	c := &caches{
		texts:  texts{limit: int(min(bytes/8*3, math.MaxInt32))}, // two generations
		recent: recent{most: outputsIn(bytes / 4)}, memory: map[string]*memory{},
		joined: int(min(max(bytes/12/chunkBytes, 1), mostJoined)),
	}
	c.free = make(chan *chunk, 2*c.joined+ahead)
	for range cap(c.free) {
		c.free <- &chunk{}
	}
	return c
}

// part exports the rows of a span from one snapshot.
type part struct {
	*columns
	*caches
	ctx     context.Context
	l       *schema.Layout
	r       storage.Reader
	span    span
	genesis uint64 // transactions of the genesis
	assets  bool   // the database has assets
	done    func(txs, rows uint64)

	outputs                                 []*output // of the selected tables
	blocks, txs, outs, ins, entries, events *output   // nil: not selected

	scans   scans
	queue   blockQueue
	missing []missing // scratch
	changes []assetChange
	sums    blockSums
	inFile  blockSizes
	txCount uint64
}

// chunk is the rows of some consecutive transactions.
type chunk struct {
	txRows
	end     uint64 // the first pointer after it
	outputs *outputRows
	inputs  *inputRows
	assets  *assetRows
	raw     *rawRows

	values, births []uint64 // of the outputs that the inputs spend, and of their addresses
	sums           []txSums
	heights        []model.HeightPk
	times          []int64
	blocks         []blockRow // up to that of the last transaction, after those of earlier chunks
	events         []event
	users          atomic.Int32 // tables that have not added its rows
}

// txRows is rows of transactions.
type txRows struct {
	pks    []uint64
	hashes []byte
	fees   []model.Fee
}

// txSums are the sums of a transaction.
type txSums struct {
	schema.TxSums
	mints int
}

// addTable adds the output of a table.
func (p *part) addTable(t *tablefile.Table) {
	var o *output
	switch t.Name {
	case "blocks":
		o = newOutput(p, t, p.fillBlocks)
		o.end, p.blocks = p.endBlocks, o
	case "transactions":
		o = newOutput(p, t, p.fillTxs)
		p.txs = o
	case "outputs":
		all := make([]*values, len(p.indexes))
		for i := range all {
			all[i] = p.valuesOf(i)
		}
		o = newOutput(p, t, p.fillOutputs, all...)
		p.outs = o
	case "inputs":
		var all []*values
		if p.holders {
			all = append(all, p.valuesOf(0))
		}
		o = newOutput(p, t, p.fillInputs, all...)
		p.ins = o
	case "assets":
		o = newOutput(p, t, p.fillAssets, p.valuesOfAssets())
		p.entries = o
	case "asset_events":
		o = newOutput(p, t, p.fillEvents, p.valuesOfAssets())
		p.events = o
	}
	p.outputs = append(p.outputs, o)
}

// export writes the files of the part and returns them.
func (p *part) export(folder Folder, o *Options) ([]File, error) {
	g, ctx := errgroup.WithContext(p.ctx)
	p.ctx = ctx
	for _, t := range p.tables {
		p.addTable(t)
	}
	for _, out := range p.outputs {
		out.file.Path = p.span.path(out.table.Name, o.Format)
		g.Go(func() error {
			return guard.Call(func() error {
				return folder.Replace(ctx, out.file.Path, func(w io.Writer) error { return out.write(ctx, o.Format, w) })
			})
		})
	}
	ready := make(chan *chunk, ahead)
	p.scan(g)
	g.Go(func() error { return guard.Call(func() error { return p.readTxs(ready) }) })
	g.Go(func() error { return guard.Call(func() error { return p.joinAll(ready) }) })
	if err := g.Wait(); err != nil {
		return nil, err
	}
	files := make([]File, len(p.outputs))
	for i, out := range p.outputs {
		files[i] = out.file
	}
	return files, nil
}

// scans are the scans of a part; nil: not needed.
type scans struct {
	outputs *scan[*outputRows]
	inputs  *scan[*inputRows]
	assets  *scan[*assetRows]
	raw     *scan[*rawRows]
	texts   []*scan[*textRows] // of the indexes
	ids     *scan[*textRows]   // of the assets
}

// scan starts the scans.
func (p *part) scan(g *errgroup.Group) {
	from, to := p.bounds()
	s, sc := &scanning{ctx: p.ctx, g: g, r: p.r, from: from, to: to}, &p.scans
	sums := p.blocks != nil || p.txs != nil
	withAssets := p.assets && (p.entries != nil || p.events != nil || p.txs != nil || p.outs != nil)
	if sums || p.outs != nil || p.ins != nil {
		sc.outputs = scanOutputs(s, p.l, p.indexes)
	}
	if sums || p.ins != nil || p.assets && p.events != nil {
		sc.inputs = scanInputs(s)
	}
	if withAssets {
		sc.assets = scanAssets(s)
		sc.ids = scanTexts(s, schema.FamilyAssetID, true, p.l.Chain.FormatAsset)
	}
	if p.outs != nil || p.ins != nil {
		for i, x := range p.indexes {
			if p.outs != nil || i == 0 && p.holders {
				sc.texts = append(sc.texts, scanTexts(s, x.Family(schema.IndexValue), x.Kind.HasOrdinal(), x.Format))
			}
		}
	}
	if p.raw && sums {
		sc.raw = scanRaw(s, p.weigher)
	}
	p.queue.rows = scanBlocks(s, p.span, p.blocks != nil)
}

// bounds returns the pointers of the part: the first one, and the first one after it.
func (p *part) bounds() (from, to uint64) {
	return uint64(p.l.FirstPk(p.span.from)), uint64(p.l.FirstPk(p.span.to + 1))
}

func (sc *scans) request(ctx context.Context, end uint64) error {
	err := errors.Join(sc.outputs.request(ctx, end), sc.inputs.request(ctx, end), sc.assets.request(ctx, end), sc.raw.request(ctx, end),
		sc.ids.request(ctx, end))
	for _, t := range sc.texts {
		err = errors.Join(err, t.request(ctx, end))
	}
	return err
}

func (sc *scans) end() {
	sc.outputs.end()
	sc.inputs.end()
	sc.assets.end()
	sc.raw.end()
	sc.ids.end()
	for _, t := range sc.texts {
		t.end()
	}
}

// readTxs sends chunks with their transactions to ready, at least one, and requests their rows of other families.
func (p *part) readTxs(ready chan *chunk) error {
	defer close(ready)
	bounds := [2][model.PkSize]byte{}
	from, to := p.bounds()
	binary.BigEndian.PutUint64(bounds[0][:], from)
	binary.BigEndian.PutUint64(bounds[1][:], to)
	c, err := p.newChunk()
	if err != nil {
		return err
	}
	send := func(end uint64) error {
		c.end = end
		if err := p.scans.request(p.ctx, end); err != nil {
			return err
		}
		select {
		case ready <- c:
			return nil
		case <-p.ctx.Done():
			return p.ctx.Err()
		}
	}
	for kv, err := range p.r.Scan(schema.FamilyTxHash, bounds[0][:], bounds[1][:], false) {
		if err != nil {
			return err
		}
		pk, err := model.ParseTxPk(kv.Key)
		if err != nil {
			return err
		}
		hash, fee, err := schema.ParseTxHashRow(kv.Value)
		if err != nil {
			return fmt.Errorf("transaction %v: %w", pk, err)
		}
		if n := len(c.pks); n == chunkTxs || n > 0 && pk.Height()-model.TxPk(c.pks[0]).Height() >= chunkBlocks {
			if err := send(uint64(pk)); err != nil {
				return err
			}
			if c, err = p.newChunk(); err != nil {
				return err
			}
		}
		c.pks, c.hashes, c.fees = append(c.pks, uint64(pk)), append(c.hashes, hash[:]...), append(c.fees, fee)
	}
	if err := send(to); err != nil {
		return err
	}
	p.scans.end()
	return nil
}

// newChunk returns an empty chunk when one is free.
func (p *part) newChunk() (*chunk, error) {
	select {
	case c := <-p.free:
		c.pks, c.hashes, c.fees = c.pks[:0], c.hashes[:0], c.fees[:0]
		return c, nil
	case <-p.ctx.Done():
		return nil, p.ctx.Err()
	}
}

// joinAll joins the rows of chunks and passes them to the tables.
func (p *part) joinAll(ready chan *chunk) error {
	var chunks []*chunk
	for open := true; open; {
		var c *chunk
		select {
		case c, open = <-ready:
		case <-p.ctx.Done():
			return p.ctx.Err()
		}
		if open {
			if err := p.receive(c); err != nil {
				return err
			}
			chunks = append(chunks, c)
		}
		if len(chunks) == p.joined || !open {
			if err := p.join(chunks); err != nil {
				return err
			}
			chunks = chunks[:0]
		}
	}
	if err := p.lastBlocks(); err != nil {
		return err
	}
	for _, out := range p.outputs {
		close(out.work)
	}
	return nil
}

// receive takes the rows of a chunk.
func (p *part) receive(c *chunk) (err error) {
	sc := &p.scans
	if c.outputs, err = sc.outputs.receive(p.ctx); err != nil {
		return err
	}
	if c.inputs, err = sc.inputs.receive(p.ctx); err != nil {
		return err
	}
	if c.assets, err = sc.assets.receive(p.ctx); err != nil {
		return err
	}
	if c.raw, err = sc.raw.receive(p.ctx); err != nil {
		return err
	}
	for i, t := range sc.texts {
		if err := p.takeTexts(t, uint16(i+1)); err != nil {
			return err
		}
	}
	return p.takeTexts(sc.ids, assetSpace)
}

// assetSpace is the space of the births of assets in caches; that of an index is its position plus 1.
const assetSpace = 0

// takeTexts puts the texts of new values into the cache.
func (p *part) takeTexts(s *scan[*textRows], space uint16) error {
	if s == nil {
		return nil
	}
	rows, err := s.receive(p.ctx)
	if err != nil {
		return err
	}
	p.texts.mu.Lock()
	defer p.texts.mu.Unlock()
	from := uint32(0)
	for i, birth := range rows.births {
		p.texts.put(birth, space, rows.bytes[from:rows.ends[i]])
		from = rows.ends[i]
	}
	s.done(rows)
	return nil
}

// join joins the rows of chunks and passes them to the tables.
func (p *part) join(chunks []*chunk) error {
	if err := p.joinInputs(chunks); err != nil {
		return err
	}
	for _, c := range chunks {
		if err := p.placeTxs(c); err != nil {
			return err
		}
		if err := p.joinAssets(c); err != nil {
			return err
		}
		p.txCount += uint64(len(c.pks))
		c.users.Store(int32(len(p.outputs)) + 1)
		for _, out := range p.outputs {
			out.work <- c // it has room for all chunks
		}
		p.release(c)
	}
	return nil
}

// release ends the use of a chunk by a table.
func (p *part) release(c *chunk) {
	if c.users.Add(-1) > 0 {
		return
	}
	rows := uint64(0)
	for _, out := range p.outputs {
		rows += out.rows.Load()
	}
	p.done(uint64(len(c.pks)), rows)
	p.scans.outputs.done(c.outputs)
	p.scans.inputs.done(c.inputs)
	p.scans.assets.done(c.assets)
	p.scans.raw.done(c.raw)
	p.free <- c
}

// isGenesis reports whether a transaction is of the genesis.
func (p *part) isGenesis(pk uint64) bool {
	tx := model.TxPk(pk)
	return tx.Height() == 0 && uint64(tx.TxIndex()) < p.genesis
}

// noTime is the time of transactions of the genesis.
const noTime = math.MinInt64

// eachTx calls do for every row with the position of its transaction in the chunk. pks are in chain order.
func (c *chunk) eachTx(pks []uint64, do func(row, tx int)) error {
	tx, last := -1, noBirth
	for row, pk := range pks {
		if of := uint64(model.UtxoPk(pk).Tx()); of != last {
			for tx++; tx < len(c.pks) && c.pks[tx] < of; tx++ {
			}
			if tx == len(c.pks) || c.pks[tx] != of {
				return fmt.Errorf("input or output %v has no transaction: run birthmark check", model.UtxoPk(pk))
			}
			last = of
		}
		do(row, tx)
	}
	return nil
}

// number converts an amount to a signed number. Chains have no larger ones.
func number(what string, pk uint64, amount model.Uint128) (int64, error) {
	if amount.Hi > 0 || amount.Lo > math.MaxInt64 {
		return 0, fmt.Errorf("%s of %v is %s, which exceeds 63 bits", what, model.UtxoPk(pk), amount.Big())
	}
	return int64(amount.Lo), nil
}
