package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"slices"
	"sync/atomic"
	"unsafe"

	"birthmark/core/export/tablefile"
	"birthmark/core/schema"
	"birthmark/model"
)

// Limits of a group of rows. They do not depend on the memory, so that the files do not either. Tests change them.
var (
	groupRows  = 1 << 20
	groupBytes = 20 << 20 // of its pages and the entries of its dictionaries

	// pendingBytes are the bytes of texts that are read at once.
	pendingBytes = 4 << 20
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
	*memory
	table   *tablefile.Table
	part    *part
	fill    func(c *chunk) error // adds the rows of a chunk
	end     func() error         // adds the last rows; nil: none are left after the last chunk
	work    chan *chunk
	w       tablefile.Writer
	texts   bool // each batch needs the texts of its entries
	grouped int  // rows of the group
	rows    atomic.Uint64
	file    File
}

// memory is the memory that the outputs of a table reuse, part after part.
type memory struct {
	batch   *tablefile.Batch
	entries []dictionary
}

func (c *caches) memoryOf(t *tablefile.Table) *memory {
	m := c.memory[t.Name]
	if m == nil {
		n := t.Dictionaries()
		m = &memory{&tablefile.Batch{
			Columns: make([]tablefile.Column, len(t.Fields)), Positions: make([]tablefile.Positions, n), Entries: make([]tablefile.Dictionary, n),
		}, make([]dictionary, n)}
		c.memory[t.Name] = m
	}
	return m
}

// newOutput returns the output of a table. The texts of its dictionaries are those of values.
func newOutput(p *part, t *tablefile.Table, fill func(c *chunk) error, values ...*values) *output {
	o := &output{memory: p.memoryOf(t), table: t, part: p, fill: fill, work: make(chan *chunk, cap(p.free)+1)}
	for i := range o.entries {
		o.entries[i].values = values[i]
	}
	o.begin()
	return o
}

// begin empties the batch.
func (o *output) begin() *tablefile.Batch {
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

// send writes the batch, and ends the group if it is large enough.
func (o *output) send(rows int) error {
	b := o.batch
	b.Rows = rows
	for i := range b.Columns {
		if c := &b.Columns[i]; len(c.Nulls) == 0 {
			c.Nulls = nil
		}
	}
	held := 0
	for i := range o.entries {
		d := &o.entries[i]
		if o.texts || d.full() {
			if err := o.part.resolve(d); err != nil {
				return err
			}
		}
		b.Entries[i] = d.Dictionary
		held += len(d.Texts) + len(d.IDs)*int(unsafe.Sizeof(model.Uint128{}))
	}
	o.rows.Add(uint64(rows))
	o.grouped += rows
	if err := o.w.Write(b); err != nil {
		return err
	}
	if o.grouped >= groupRows || held+o.w.Held() >= groupBytes {
		return o.endGroup()
	}
	return nil
}

func (o *output) endGroup() error {
	entries := make([]tablefile.Dictionary, len(o.entries))
	for i := range o.entries {
		if err := o.part.resolve(&o.entries[i]); err != nil {
			return err
		}
		entries[i] = o.entries[i].Dictionary
	}
	if err := o.w.EndGroup(entries); err != nil {
		return err
	}
	for i := range o.entries {
		o.entries[i].reset()
	}
	o.grouped = 0
	return nil
}

// write writes the file until work is closed.
func (o *output) write(ctx context.Context, format string, w io.Writer) (err error) {
	counted := &counter{w: w, sum: sha256.New()}
	o.texts = format != Formats[0]
	if o.w, err = tablefile.New(format, counted, o.table); err != nil {
		return err
	}
	for open := true; open; {
		var c *chunk
		select {
		case c, open = <-o.work:
		case <-ctx.Done():
			return ctx.Err()
		}
		if open {
			if err := o.fill(c); err != nil {
				return err
			}
			o.part.release(c)
		}
	}
	if o.end != nil {
		if err := o.end(); err != nil {
			return err
		}
	}
	if err := o.endGroup(); err != nil {
		return err
	}
	if err := o.w.Close(); err != nil {
		return err
	}
	o.file.Table, o.file.Rows, o.file.Bytes = o.table.Name, o.rows.Load(), counted.n
	o.file.SHA256 = hex.EncodeToString(counted.sum.Sum(nil))
	return nil
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
