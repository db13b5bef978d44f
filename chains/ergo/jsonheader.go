package ergo

import (
	"fmt"
	"math/big"

	"birthmark/chains/adapter"
	"birthmark/chains/ergo/sigma"
)

// blockHeader is a header as JSON has it.
type blockHeader struct {
	found bool
	id    sigma.ID
	sigma.Header
}

const maxTime = 1 << 53 // milliseconds

func (d *decoder) readHeader() {
	s, h := &d.s, &d.header
	if s.null() {
		return
	}
	*h = blockHeader{}
	for o := s.object("a header", headerMembers); o.next(); {
		switch string(o.name) {
		case "id":
			s.hex(h.id[:], "header id")
		case "version":
			h.Version = byte(s.uint(255, "version"))
		case "parentId":
			s.hex(h.Parent[:], "parent id")
		case "adProofsRoot":
			s.hex(h.ADProofsRoot[:], "adProofsRoot")
		case "transactionsRoot":
			s.hex(h.TransactionsRoot[:], "transactionsRoot")
		case "stateRoot":
			s.hex(h.StateRoot[:], "stateRoot")
		case "timestamp":
			h.Timestamp = s.uint(maxTime, "timestamp")
		case "extensionHash":
			s.hex(h.ExtensionRoot[:], "extensionHash")
		case "nBits":
			h.NBits = uint32(s.uint(1<<32-1, "nBits"))
		case "height":
			h.Height = uint32(s.uint(1<<31-1, "height"))
		case "votes":
			s.hex(h.Votes[:], "votes")
		case "powSolutions":
			d.readSolution()
		case "unparsedBytes":
			if !s.null() {
				h.Unparsed = d.hex("unparsedBytes")
			}
			if len(h.Unparsed) > 255 {
				s.fail("unparsedBytes has %d bytes, the maximum is 255", len(h.Unparsed))
			}
		default:
			s.skip()
		}
	}
	h.found = s.err == nil
}

// readSolution reads the solution of the proof of work. Since version 2 only key and nonce are part of the header.
func (d *decoder) readSolution() {
	s, h := &d.s, &d.header
	for o := s.object("powSolutions", solutionMembers); o.next(); {
		switch string(o.name) {
		case "pk":
			s.hex(h.MinerKey[:], "pk")
		case "n":
			s.hex(h.Nonce[:], "n")
		case "w":
			if !s.null() {
				s.hex(h.W[:], "w")
			}
		case "d":
			h.D = s.distance()
		default:
			s.skip()
		}
	}
}

// distance is a whole number of up to 255 bytes.
func (s *scanner) distance() []byte {
	if s.null() {
		return nil
	}
	digits := s.number("d")
	if len(digits) == 1 && digits[0] == '0' {
		return nil
	}
	if plain, ok := plainNumber(string(digits)); s.err == nil && ok {
		if d, ok := new(big.Int).SetString(plain, 10); ok {
			return d.Bytes()
		}
	}
	s.failAt(s.at-len(digits), fmt.Errorf("d is %s: expected a whole number", adapter.Truncate(string(digits))))
	return nil
}

// hex decodes a string of digits of any length into the arena of the current block.
func (d *decoder) hex(what string) []byte {
	start := len(d.arena)
	d.arena = d.s.appendHex(d.arena, what)
	return d.arena[start:len(d.arena):len(d.arena)]
}

func (d *decoder) readBody() {
	s := &d.s
	if s.null() {
		return
	}
	d.body, d.txs = section{}, d.txs[:0]
	start := s.at
	for o := s.object("blockTransactions", nil); o.next(); {
		switch string(o.name) {
		case "headerId":
			d.body.readOwner(s)
		case "transactions":
			d.body.found = s.next() == '['
			for l := s.list("transactions"); l.next(); {
				d.readTx()
			}
		case "size":
			d.body.size = int(s.uint(1<<31, "size of the transactions"))
		default:
			s.skip()
		}
	}
	if d.body.size == 0 {
		d.body.size = (s.at - start) / 2 // most of it is hex
	}
}

func (x *section) readOwner(s *scanner) {
	if s.null() {
		return
	}
	s.hex(x.header[:], "headerId")
	x.named = true
}

func (d *decoder) readExtension() {
	s := &d.s
	if s.null() {
		return
	}
	d.ext, d.fields = section{}, d.fields[:0]
	for o := s.object("extension", nil); o.next(); {
		switch string(o.name) {
		case "headerId":
			d.ext.readOwner(s)
		case "fields":
			d.ext.found = s.next() == '['
			for l := s.list("fields"); l.next(); {
				d.readField()
			}
		default:
			s.skip()
		}
	}
}

// readField reads a field of the extension: its key and its value in an array.
func (d *decoder) readField() {
	s := &d.s
	if s.null() {
		return
	}
	var f sigma.Field
	l := s.list("a field of the extension")
	for l.next() {
		switch l.n {
		case 1:
			s.hex(f.Key[:], "key of a field")
		case 2:
			f.Value = d.hex("value of a field")
		default:
			s.fail("a field with more than a key and a value")
		}
	}
	if s.err == nil && l.n != 2 {
		s.fail("a field without key and value")
	}
	d.fields = append(d.fields, f)
}
