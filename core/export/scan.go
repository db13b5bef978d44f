package export

import (
	"context"
	"encoding/binary"
	"fmt"

	"golang.org/x/sync/errgroup"

	"birthmark/core/schema"
	"birthmark/internal/guard"
	"birthmark/model"
	"birthmark/storage"
)

// chunkTxs is the number of transactions that are joined at once. It determines the pages of the files. Tests change it.
var chunkTxs = 16 << 10

// chunkBlocks is the largest number of blocks of a chunk. It bounds the memory for their headers.
const chunkBlocks = 8 << 10

// noBirth stands for an absent value: no output has this pointer.
const noBirth = ^uint64(0)

// rows is the parsed rows of a family for a chunk.
type rows interface{ reset() }

// scan reads the rows of a family in chain order. It receives the end of each chunk, and sends the rows before it.
type scan[R rows] struct {
	ends chan uint64
	full chan R
	free chan R
}

// scanning has the common values of the scans of a part.
type scanning struct {
	ctx      context.Context
	g        *errgroup.Group
	r        storage.Reader
	from, to uint64 // pointers
}

// ahead is how many chunks a scan may be ahead.
const ahead = 2

// startScan begins to read a family. parse adds a row to rows. The scan ends after the end of the part.
func startScan[R rows](s *scanning, f storage.Family, create func() R, parse func(rows R, pk uint64, key, value []byte) error) *scan[R] {
	c := &scan[R]{ends: make(chan uint64, ahead), full: make(chan R, ahead), free: make(chan R, 2*ahead)}
	s.g.Go(func() error {
		return guard.Call(func() error { return c.run(s, f, create, parse) })
	})
	return c
}

func (c *scan[R]) run(s *scanning, f storage.Family, create func() R, parse func(R, uint64, []byte, []byte) error) error {
	var out R
	end, open := uint64(0), false // open: out has rows before end
	// advance sends the rows of the chunk and receives the next end; false at the end of the part.
	advance := func() (bool, error) {
		if open {
			select {
			case c.full <- out:
			case <-s.ctx.Done():
				return false, s.ctx.Err()
			}
		}
		select {
		case end, open = <-c.ends:
		case <-s.ctx.Done():
			return false, s.ctx.Err()
		}
		if !open {
			return false, nil
		}
		select {
		case out = <-c.free:
			out.reset()
		default:
			out = create()
		}
		return true, nil
	}
	if ok, err := advance(); !ok {
		return err
	}
	var from, to [model.PkSize]byte
	binary.BigEndian.PutUint64(from[:], s.from)
	binary.BigEndian.PutUint64(to[:], s.to)
	for kv, err := range s.r.Scan(f, from[:], to[:], false) {
		if err != nil {
			return err
		}
		if len(kv.Key) < model.PkSize {
			return fmt.Errorf("%w: key %x", schema.ErrRow, kv.Key)
		}
		pk := binary.BigEndian.Uint64(kv.Key)
		for pk >= end {
			if ok, err := advance(); !ok {
				return err
			}
		}
		if err := parse(out, pk, kv.Key, kv.Value); err != nil {
			return fmt.Errorf("row %x: %w", kv.Key, err)
		}
	}
	for {
		if ok, err := advance(); !ok {
			return err
		}
	}
}

// next requests the rows before an end, in order.
func (c *scan[R]) request(ctx context.Context, end uint64) error {
	if c == nil {
		return nil
	}
	select {
	case c.ends <- end:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// receive returns the rows of the next chunk; nothing if c is nil. Pass them to done after use.
func (c *scan[R]) receive(ctx context.Context) (out R, err error) {
	if c == nil {
		return out, nil
	}
	select {
	case out = <-c.full:
		return out, nil
	case <-ctx.Done():
		return out, ctx.Err()
	}
}

func (c *scan[R]) done(out R) {
	if c == nil {
		return
	}
	select {
	case c.free <- out:
	default:
	}
}

func (c *scan[R]) end() {
	if c != nil {
		close(c.ends)
	}
}

// outputRows is rows of outputs.
type outputRows struct {
	pks, values []uint64
	keys        []keyRows // per exported index
}

// keyRows is the births of the values of an index in outputs.
type keyRows struct {
	births   []uint64 // noBirth: none
	ordinals []uint16 // of a many-valued index, as long as births
	ends     []uint32 // of each output in births, of a many-valued index
}

func (o *outputRows) reset() {
	o.pks, o.values = o.pks[:0], o.values[:0]
	for i := range o.keys {
		k := &o.keys[i]
		k.births, k.ordinals, k.ends = k.births[:0], k.ordinals[:0], k.ends[:0]
	}
}

// inputRows is rows of inputs.
type inputRows struct{ pks, spent []uint64 }

func (i *inputRows) reset() { i.pks, i.spent = i.pks[:0], i.spent[:0] }

// assetRows is the assets of outputs.
type assetRows struct {
	pks     []uint64
	ends    []uint32 // of the entries of each output
	entries []schema.AssetEntry
}

func (a *assetRows) reset() { a.pks, a.ends, a.entries = a.pks[:0], a.ends[:0], a.entries[:0] }

// textRows is the texts of new values or assets.
type textRows struct {
	births []model.BirthPk
	ends   []uint32 // of each text in bytes
	bytes  []byte
}

func (t *textRows) reset() { t.births, t.ends, t.bytes = t.births[:0], t.ends[:0], t.bytes[:0] }

// rawRows is the sizes of raw transactions.
type rawRows struct {
	pks            []uint64
	sizes, weights []int64
	virtual        []int64
}

func (r *rawRows) reset() {
	r.pks, r.sizes, r.weights, r.virtual = r.pks[:0], r.sizes[:0], r.weights[:0], r.virtual[:0]
}

// keyIndexes returns for the number of each index of a database its position among the exported ones; -1: not exported.
func keyIndexes(indexes []*schema.Index) func(*schema.Index) int {
	positions := map[*schema.Index]int{}
	for i, x := range indexes {
		positions[x] = i
	}
	if len(indexes) == 1 { // the usual case
		only := indexes[0]
		return func(x *schema.Index) int {
			if x == only {
				return 0
			}
			return -1
		}
	}
	return func(x *schema.Index) int {
		if i, ok := positions[x]; ok {
			return i
		}
		return -1
	}
}

func scanOutputs(s *scanning, l *schema.Layout, indexes []*schema.Index) *scan[*outputRows] {
	position := keyIndexes(indexes)
	create := func() *outputRows { return &outputRows{keys: make([]keyRows, len(indexes))} }
	var out *outputRows
	visit := func(x *schema.Index, birth model.BirthPk) {
		i := position(x)
		if i < 0 {
			return
		}
		k := &out.keys[i]
		if x.Kind.HasOrdinal() {
			k.births, k.ordinals = append(k.births, uint64(birth.Utxo)), append(k.ordinals, birth.Ordinal)
		} else {
			k.births[len(k.births)-1] = uint64(birth.Utxo)
		}
	}
	return startScan(s, schema.FamilyUtxo, create, func(rows *outputRows, pk uint64, _, row []byte) error {
		out = rows
		for i, x := range indexes {
			if !x.Kind.HasOrdinal() {
				out.keys[i].births = append(out.keys[i].births, noBirth)
			}
		}
		value, err := l.VisitUtxoRow(model.UtxoPk(pk), row, visit)
		out.pks, out.values = append(out.pks, pk), append(out.values, value)
		for i, x := range indexes {
			if k := &out.keys[i]; x.Kind.HasOrdinal() {
				k.ends = append(k.ends, uint32(len(k.births)))
			}
		}
		return err
	})
}

func scanInputs(s *scanning) *scan[*inputRows] {
	create := func() *inputRows { return &inputRows{} }
	return startScan(s, schema.FamilySpentUtxo, create, func(rows *inputRows, pk uint64, _, row []byte) error {
		spent, err := model.ParseUtxoPk(row)
		rows.pks, rows.spent = append(rows.pks, pk), append(rows.spent, uint64(spent))
		return err
	})
}

func scanAssets(s *scanning) *scan[*assetRows] {
	create := func() *assetRows { return &assetRows{} }
	return startScan(s, schema.FamilyAssets, create, func(rows *assetRows, pk uint64, _, row []byte) (err error) {
		rows.entries, err = schema.AppendAssetEntries(rows.entries, model.UtxoPk(pk), row)
		rows.pks, rows.ends = append(rows.pks, pk), append(rows.ends, uint32(len(rows.entries)))
		return err
	})
}

// scanTexts reads the new values of a family by birth.
func scanTexts(s *scanning, f storage.Family, ordinal bool, format func([]byte) string) *scan[*textRows] {
	create := func() *textRows { return &textRows{} }
	return startScan(s, f, create, func(rows *textRows, _ uint64, key, value []byte) error {
		birth, err := model.ParseBirthPk(key, ordinal)
		rows.births = append(rows.births, birth)
		rows.bytes = append(rows.bytes, format(value)...)
		rows.ends = append(rows.ends, uint32(len(rows.bytes)))
		return err
	})
}

func scanRaw(s *scanning, weigher model.TxWeigher) *scan[*rawRows] {
	create := func() *rawRows { return &rawRows{} }
	return startScan(s, schema.FamilyRaw, create, func(rows *rawRows, pk uint64, _, raw []byte) error {
		rows.pks, rows.sizes = append(rows.pks, pk), append(rows.sizes, int64(len(raw)))
		if weigher == nil {
			return nil
		}
		weight, virtual, err := weigher.WeighTx(raw)
		rows.weights, rows.virtual = append(rows.weights, int64(weight)), append(rows.virtual, int64(virtual))
		return err
	})
}
