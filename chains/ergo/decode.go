package ergo

import (
	"errors"
	"fmt"

	"birthmark/chains/adapter"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// decoder makes model blocks from a node's JSON. It reads a block once into lists that it reuses, recomputes every id, and
// then makes one array of each kind. It trusts no id of any source: one with a wrong id can be wrong about anything.
// Recomputing them takes 10 to 20 µs per transaction. A block does not reference the JSON, which can be reused.
//
// A decoder must not be used by several goroutines at the same time.
type decoder struct {
	chain    *chain
	net      *network
	names    []string // of the selected indexes
	selected []adapter.Selected
	user     *userIndexes // nil if no custom index is selected
	raw      bool         // fill [model.Tx.Raw]
	unmined  bool         // the transaction is in no block
	signed   bool         // ids may be missing, as in a transaction that a client signed

	s scanner
	e sigma.Encoder

	points points

	// The current block.
	header  blockHeader
	body    section // blockTransactions
	ext     section // extension
	size    int     // stated by the block, 0 if it is not
	txs     []transaction
	inputs  []sigma.Input
	vars    []sigma.Variable
	data    []sigma.ID
	boxes   []sigma.Box
	claims  []claim
	tokens  []sigma.Token
	regs    [][]byte
	fields  []sigma.Field
	arena   []byte // what the slices in the lists above point to
	ids     []sigma.ID
	witness [][31]byte
}

// section is a part of a block other than the header.
type section struct {
	found  bool
	header sigma.ID // of the block it belongs to
	named  bool     // header is set
	size   int
}

// newDecoder returns a decoder for the named indexes. An error is of kind [model.Usage], code unknown_index.
func newDecoder(c *chain, names []string) (*decoder, error) {
	selected, err := c.Select(names)
	if err != nil {
		return nil, err
	}
	d := &decoder{chain: c, net: c.net, names: names, selected: selected}
	d.user = newUserIndexes(d)
	return d, nil
}

// clone returns a decoder with the same options for another goroutine.
func (d *decoder) clone() *decoder {
	c := &decoder{chain: d.chain, net: d.net, names: d.names, selected: d.selected, raw: d.raw}
	c.user = newUserIndexes(c)
	return c
}

// block decodes one full block as the node's GET /blocks/{id} returns it. It recomputes the ids of the transactions,
// their boxes and the header, and the roots in the header: of the transactions with their proofs, and of the extension
// if the block has one. Members may have any order, unknown ones are skipped. An error is of kind [model.BadSource],
// code bad_block, and names the block.
func (d *decoder) block(raw []byte) (*model.Block, error) {
	d.reset(raw)
	d.document()
	err := d.s.err
	var b *model.Block
	if err == nil {
		b, err = d.check()
	}
	if err != nil {
		name := d.named(raw)
		if v := d.header.Version; v > newestVersion {
			err = fmt.Errorf("its version %d is newer than this release supports (%d): update the program; %w", v, newestVersion, err)
		}
		return nil, model.Errorf(model.BadSource, "bad_block", "%s: %w", name, err)
	}
	d.build(b)
	return b, nil
}

// newestVersion is the newest known block version, of the 6.0 soft fork. Blocks of a later version are read if all ids
// and roots in their headers are right.
const newestVersion = 4

func (d *decoder) reset(raw []byte) {
	d.s = scanner{b: raw}
	d.header, d.body, d.ext, d.size = blockHeader{}, section{}, section{}, 0
	d.txs, d.inputs, d.vars, d.data = d.txs[:0], d.inputs[:0], d.vars[:0], d.data[:0]
	d.boxes, d.claims, d.tokens, d.regs = d.boxes[:0], d.claims[:0], d.tokens[:0], d.regs[:0]
	d.fields, d.arena, d.ids, d.witness = d.fields[:0], d.arena[:0], d.ids[:0], d.witness[:0]
}

// document reads a full block and nothing more.
func (d *decoder) document() {
	s := &d.s
	if s.null() {
		s.fail("unexpected null, expected a full block")
	}
	for o := s.object("a full block", nil); o.next(); {
		switch string(o.name) {
		case "header":
			d.readHeader()
		case "blockTransactions":
			d.readBody()
		case "extension":
			d.readExtension()
		case "size":
			d.size = int(s.uint(1<<31, "size of the block"))
		default:
			s.skip()
		}
	}
	if s.err == nil && s.next() != 0 || s.err == nil && s.at < len(s.b) {
		s.unexpected("the end of the block")
	}
}

// check verifies what the header commits to, and starts the block with its fields.
func (d *decoder) check() (*model.Block, error) {
	switch {
	case !d.header.found:
		return nil, errors.New("missing header")
	case !d.body.found:
		return nil, errors.New("missing blockTransactions: expected a full block")
	}
	h := &d.header
	height, err := model.NewHeightPk(uint64(h.Height))
	if err != nil {
		return nil, err
	}
	if height < firstHeight {
		return nil, fmt.Errorf("height %d: the first block is %d", height, firstHeight)
	}
	raw := h.AppendTo(make([]byte, 0, headerSize))
	if id := sigma.HeaderID(raw); id != h.id {
		return nil, fmt.Errorf("the header has the id %x, its bytes have %x", h.id, id)
	}
	for _, x := range []struct {
		section
		what string
	}{{d.body, "transactions"}, {d.ext, "fields of the extension"}} {
		if x.named && x.header != h.id {
			return nil, fmt.Errorf("the %s belong to block %x", x.what, x.header)
		}
	}
	for i := range d.txs {
		d.ids = append(d.ids, d.txs[i].id)
		d.witness = append(d.witness, d.txs[i].witness)
	}
	if root := sigma.TransactionsRoot(h.Version, d.ids, d.witness); root != h.TransactionsRoot {
		return nil, fmt.Errorf("the header has the transactions root %x, the transactions have %x", h.TransactionsRoot, root)
	}
	if d.ext.found {
		if root := sigma.ExtensionRoot(d.fields); root != h.ExtensionRoot {
			return nil, fmt.Errorf("the header has the extension root %x, the fields have %x", h.ExtensionRoot, root)
		}
	}
	size := d.size
	if size == 0 {
		size = len(raw) + d.body.size
	}
	return &model.Block{
		Height: height, Hash: model.Hash(h.id), Parent: model.Hash(h.Parent), Time: int64(h.Timestamp / 1000),
		Size: size, Header: raw,
	}, nil
}

// named returns the name of the current block for errors.
func (d *decoder) named(raw []byte) string {
	h := &d.header
	if !h.found {
		// The header follows the error, or is invalid itself.
		if d.s = (scanner{b: raw}); d.s.member("header") {
			d.readHeader()
		}
	}
	if h.id == (sigma.ID{}) {
		return "a block"
	}
	return fmt.Sprintf("block %d %x", h.Height, h.id)
}
