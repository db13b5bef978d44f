package export

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"golang.org/x/sync/errgroup"

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
}

func newCaches(bytes int64) *caches {
	return &caches{texts: texts{limit: int(min(bytes/4, math.MaxInt32))}, recent: recent{most: outputsIn(bytes / 2)}, memory: map[string]*memory{}}
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

	chunk   chunk
	queue   blockQueue
	missing []missing       // scratch
	added   []model.BirthPk // scratch: new entries of a dictionary
	unknown []model.BirthPk // of these, births whose texts are read
	changes []assetChange
	found   []event
	txCount uint64
	inFile  blockSizes
}

// chunk is the rows of some consecutive transactions.
type chunk struct {
	*txRows
	end     uint64 // the first pointer after it
	outputs *outputRows
	inputs  *inputRows
	assets  *assetRows
	raw     *rawRows

	values, births []uint64 // of the outputs that the inputs spend, and of their addresses
	sums           []txSums
	heights        []model.HeightPk
	times          []int64
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

// export writes the files of the part and returns them.
func (p *part) export(folder Folder, o *Options) ([]File, error) {
	g, ctx := errgroup.WithContext(p.ctx)
	p.ctx = ctx
	for _, t := range p.tables {
		out := newOutput(ctx, t, p.memoryOf(t))
		p.outputs = append(p.outputs, out)
		*map[string]**output{"blocks": &p.blocks, "transactions": &p.txs, "outputs": &p.outs, "inputs": &p.ins, "assets": &p.entries,
			"asset_events": &p.events}[t.Name] = out
		out.file.Path = p.span.path(t.Name, o.Format)
		g.Go(func() error {
			return guard.Call(func() error {
				return folder.Replace(ctx, out.file.Path, func(w io.Writer) error { return out.write(o.Format, w) })
			})
		})
	}
	g.Go(func() error { return guard.Call(func() error { return p.read(g) }) })
	if err := g.Wait(); err != nil {
		return nil, err
	}
	files := make([]File, len(p.outputs))
	for i, out := range p.outputs {
		files[i] = out.file
		files[i].Rows = out.rows
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

// read reads the part chunk by chunk.
func (p *part) read(g *errgroup.Group) error {
	s := &scanning{ctx: p.ctx, g: g, r: p.r, from: uint64(p.l.FirstPk(p.span.from)), to: uint64(p.l.FirstPk(p.span.to + 1))}
	sc := scans{}
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
	err := p.eachChunk(s, func(c *txRows, end uint64) error {
		if err := sc.request(p.ctx, end); err != nil {
			return err
		}
		return p.receive(&sc, c, end)
	})
	if err == nil {
		err = p.endBlocks()
	}
	if err != nil {
		return err
	}
	sc.end()
	for _, out := range p.outputs {
		if err := out.endGroup(); err != nil {
			return err
		}
		close(out.work)
	}
	return nil
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

// eachChunk calls do with the transactions of each chunk and the first pointer after it. It calls it at least once.
func (p *part) eachChunk(s *scanning, do func(c *txRows, end uint64) error) error {
	var from, to [model.PkSize]byte
	binary.BigEndian.PutUint64(from[:], s.from)
	binary.BigEndian.PutUint64(to[:], s.to)
	c := &txRows{}
	for kv, err := range s.r.Scan(schema.FamilyTxHash, from[:], to[:], false) {
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
		if len(c.pks) == chunkTxs {
			if err := do(c, uint64(pk)); err != nil {
				return err
			}
			c.pks, c.hashes, c.fees = c.pks[:0], c.hashes[:0], c.fees[:0]
		}
		c.pks, c.hashes, c.fees = append(c.pks, uint64(pk)), append(c.hashes, hash[:]...), append(c.fees, fee)
	}
	return do(c, s.to)
}

// receive takes the rows of a chunk and adds its rows to the tables.
func (p *part) receive(sc *scans, txs *txRows, end uint64) (err error) {
	c := &p.chunk
	c.txRows, c.end = txs, end
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
	if err := p.takeTexts(sc.ids, assetSpace); err != nil {
		return err
	}
	if err := p.fill(); err != nil {
		return err
	}
	sc.outputs.done(c.outputs)
	sc.inputs.done(c.inputs)
	sc.assets.done(c.assets)
	sc.raw.done(c.raw)
	return nil
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
	from := uint32(0)
	for i, birth := range rows.births {
		p.texts.put(birth, space, rows.bytes[from:rows.ends[i]])
		from = rows.ends[i]
	}
	s.done(rows)
	return nil
}

// fill joins the rows of the chunk and adds them to the tables.
func (p *part) fill() error {
	c := &p.chunk
	c.sums = append(c.sums[:0], make([]txSums, len(c.pks))...)
	if err := p.placeTxs(); err != nil {
		return err
	}
	steps := []func() error{p.joinInputs, p.sumOutputs, p.joinAssets}
	steps = append(steps, p.fillOutputs, p.fillInputs, p.fillAssets, p.fillEvents, p.fillTxs, p.fillBlocks)
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	before := p.txCount
	p.txCount += uint64(len(c.pks))
	rows := uint64(0)
	for _, out := range p.outputs {
		rows += out.rows
	}
	p.done(p.txCount-before, rows)
	return nil
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
