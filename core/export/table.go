package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"slices"

	"birthmark/core/export/tablefile"
	"birthmark/core/schema"
	"birthmark/internal/guard"
	"birthmark/model"
)

// Limits of a group of rows. They do not depend on the memory, so that the files do not either. Tests change them.
var (
	groupRows  = 1 << 20
	groupTexts = 64 << 20 // bytes of the texts of a dictionary
)

// columns are the tables of a database and the indexes that they have.
type columns struct {
	tables  []*tablefile.Table
	indexes []*schema.Index // that are columns of outputs; the first is that of addresses, if holders is set
	holders bool
	header  []headerField
	binary  bool // hashes
	raw     bool // the database has raw transactions
	sizes   bool // the sizes of transactions are known: it has them or their places in files
	weigher model.TxWeigher
	tokens  bool // amounts of assets can exceed 38 digits
}

// columnsOf returns the columns of the tables. header is the header of any block; nil: unknown.
func columnsOf(l *schema.Layout, header []byte, o *Options) (*columns, error) {
	c := &columns{binary: o.Hashes == HashesBinary, raw: l.Raw, sizes: l.Raw || l.RawFiles, tokens: l.Traits.Tokens != nil}
	if l.Raw {
		c.weigher, _ = l.Chain.(model.TxWeigher)
	}
	for _, x := range l.Indexes {
		if x.Name == schema.HoldersIndex && x.Kind == model.OneToMany {
			c.indexes, c.holders = slices.Insert(c.indexes, 0, x), true
		} else {
			c.indexes = append(c.indexes, x)
		}
	}
	var err error
	if c.header, err = headerFields(l.Chain, header); err != nil {
		return nil, err
	}
	all := map[string][]tablefile.Field{
		"blocks": c.blockFields(), "transactions": c.txFields(), "outputs": c.outputFields(), "inputs": c.inputFields(),
		"assets": c.assetFields(), "asset_events": c.eventFields(),
	}
	for _, name := range Tables {
		if slices.Contains(o.Tables, name) {
			c.tables = append(c.tables, &tablefile.Table{Name: name, Fields: all[name], Metadata: [][2]string{
				{"birthmark.chain", l.Chain.Name()}, {"birthmark.network", l.Chain.Network()},
			}})
		}
	}
	return c, nil
}

// hashField returns the field of a hash.
func (c *columns) hashField(name string) tablefile.Field {
	if c.binary {
		return tablefile.Field{Name: name, Type: tablefile.Hash}
	}
	return tablefile.Field{Name: name, Type: tablefile.Text}
}

// output writes the file of a table in a goroutine of its own.
type output struct {
	table   *tablefile.Table
	ctx     context.Context
	work    chan work
	free    chan *tablefile.Batch
	used    chan []tablefile.Dictionary // of written groups
	batch   *tablefile.Batch            // being filled
	entries []dictionary
	grouped int // rows of the group
	rows    uint64
	file    File
}

// work is a batch, or the end of a group.
type work struct {
	batch   *tablefile.Batch
	entries []tablefile.Dictionary // of a group that ends
}

const queued = 2

// memory is the memory that the outputs of a table reuse, part after part.
type memory struct {
	free    chan *tablefile.Batch
	used    chan []tablefile.Dictionary
	entries []dictionary
}

func (c *caches) memoryOf(t *tablefile.Table) *memory {
	m := c.memory[t.Name]
	if m == nil {
		m = &memory{make(chan *tablefile.Batch, 2*queued), make(chan []tablefile.Dictionary, 2), make([]dictionary, t.Dictionaries())}
		c.memory[t.Name] = m
	}
	return m
}

func newOutput(ctx context.Context, t *tablefile.Table, m *memory) *output {
	return &output{table: t, ctx: ctx, work: make(chan work, queued), free: m.free, used: m.used, entries: m.entries}
}

// begin returns an empty batch.
func (o *output) begin() *tablefile.Batch {
	select {
	case o.batch = <-o.free:
	default:
		o.batch = &tablefile.Batch{
			Columns: make([]tablefile.Column, len(o.table.Fields)), Positions: make([]tablefile.Positions, len(o.entries)),
			Entries: make([]tablefile.Dictionary, len(o.entries)),
		}
	}
	b := o.batch
	b.Rows = 0
	for i := range b.Columns {
		c := &b.Columns[i]
		c.Ints, c.Doubles, c.Amounts, c.Bytes, c.Ends, c.Nulls = c.Ints[:0], c.Doubles[:0], c.Amounts[:0], c.Bytes[:0], c.Ends[:0], c.Nulls[:0]
	}
	for i := range b.Positions {
		p := &b.Positions[i]
		p.At, p.Ends = p.At[:0], p.Ends[:0]
	}
	return b
}

// send passes the batch to the writer, and ends the group if it is large enough.
func (o *output) send(rows int) error {
	b := o.batch
	b.Rows = rows
	for i := range b.Columns {
		if c := &b.Columns[i]; len(c.Nulls) == 0 {
			c.Nulls = nil
		}
	}
	large := false
	for i := range o.entries {
		b.Entries[i] = o.entries[i].Dictionary
		large = large || len(b.Entries[i].Texts) > groupTexts
	}
	o.rows += uint64(rows)
	o.grouped += rows
	if err := o.pass(work{batch: b}); err != nil {
		return err
	}
	if large || o.grouped >= groupRows {
		return o.endGroup()
	}
	return nil
}

func (o *output) endGroup() error {
	w, used := work{entries: make([]tablefile.Dictionary, len(o.entries))}, make([]tablefile.Dictionary, len(o.entries))
	select {
	case used = <-o.used:
	default:
	}
	for i := range o.entries {
		w.entries[i] = o.entries[i].Dictionary
		o.entries[i].reset(used[i])
	}
	o.grouped = 0
	return o.pass(w)
}

func (o *output) pass(w work) error {
	select {
	case o.work <- w:
		return nil
	case <-o.ctx.Done():
		return o.ctx.Err()
	}
}

// write writes the file until work is closed.
func (o *output) write(format string, w io.Writer) error {
	return guard.Call(func() error {
		counted := &counter{w: w, sum: sha256.New()}
		t, err := tablefile.New(format, counted, o.table)
		if err != nil {
			return err
		}
		for {
			var next work
			var open bool
			select {
			case next, open = <-o.work:
			case <-o.ctx.Done():
				return o.ctx.Err()
			}
			if !open {
				break
			}
			if next.batch == nil {
				if err = t.EndGroup(next.entries); err == nil {
					select {
					case o.used <- next.entries:
					default:
					}
				}
			} else if err = t.Write(next.batch); err == nil {
				select {
				case o.free <- next.batch:
				default:
				}
			}
			if err != nil {
				return err
			}
		}
		if err := t.Close(); err != nil {
			return err
		}
		o.file.Table, o.file.Bytes, o.file.SHA256 = o.table.Name, counted.n, hex.EncodeToString(counted.sum.Sum(nil))
		return nil
	})
}

// counter counts and hashes bytes.
type counter struct {
	w   io.Writer
	n   uint64
	sum hash.Hash
}

// Write implements [io.Writer].
func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += uint64(n)
	c.sum.Write(b[:n])
	return n, err
}

// appendText appends a value of a Text column.
func appendText(c *tablefile.Column, text string) {
	c.Bytes = append(c.Bytes, text...)
	c.Ends = append(c.Ends, uint32(len(c.Bytes)))
}

// appendHash appends a hash in the representation of the export.
func (p *part) appendHash(c *tablefile.Column, h *model.Hash) {
	if p.binary {
		c.Bytes = append(c.Bytes, h[:]...)
		return
	}
	appendText(c, p.l.Chain.FormatHash(*h))
}
