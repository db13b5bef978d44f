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

// seen counts the members of a JSON object that have to be there.
type seen uint32

// require fails where a member is missing; names are in the order of their bits.
func (s *scanner) require(got seen, what string, names ...string) {
	if s.err != nil {
		return
	}
	for i, name := range names {
		if got&(1<<i) == 0 {
			s.fail("%s has no %s", what, name)
			return
		}
	}
}

const mostTime = 1 << 53 // milliseconds

func (d *decoder) readHeader() {
	s, h := &d.s, &d.header
	if !s.begin('{', "a header") {
		return
	}
	*h = blockHeader{}
	var got seen
	for name := range s.members() {
		switch string(name) {
		case "id":
			s.hex(h.id[:], "header id")
			got |= 1 << 0
		case "version":
			h.Version = byte(s.uint(255, "version"))
			got |= 1 << 1
		case "parentId":
			s.hex(h.Parent[:], "parent id")
			got |= 1 << 2
		case "adProofsRoot":
			s.hex(h.ADProofsRoot[:], "adProofsRoot")
			got |= 1 << 3
		case "transactionsRoot":
			s.hex(h.TransactionsRoot[:], "transactionsRoot")
			got |= 1 << 4
		case "stateRoot":
			s.hex(h.StateRoot[:], "stateRoot")
			got |= 1 << 5
		case "timestamp":
			h.Timestamp = s.uint(mostTime, "timestamp")
			got |= 1 << 6
		case "extensionHash":
			s.hex(h.ExtensionRoot[:], "extensionHash")
			got |= 1 << 7
		case "nBits":
			h.NBits = uint32(s.uint(1<<32-1, "nBits"))
			got |= 1 << 8
		case "height":
			h.Height = uint32(s.uint(1<<31-1, "height"))
			got |= 1 << 9
		case "votes":
			s.hex(h.Votes[:], "votes")
			got |= 1 << 10
		case "powSolutions":
			d.readSolution()
			got |= 1 << 11
		case "unparsedBytes":
			if !s.null() {
				h.Unparsed = d.hex("unparsedBytes")
			}
			if len(h.Unparsed) > 255 {
				s.fail("unparsedBytes are %d, the most is 255", len(h.Unparsed))
			}
		default:
			s.skip()
		}
	}
	s.require(got, "the header", "id", "version", "parentId", "adProofsRoot", "transactionsRoot", "stateRoot", "timestamp",
		"extensionHash", "nBits", "height", "votes", "powSolutions")
	h.found = s.err == nil
}

// readSolution reads what the miner found. Since version 2 only key and nonce are part of the header.
func (d *decoder) readSolution() {
	s, h := &d.s, &d.header
	if !s.begin('{', "powSolutions") {
		return
	}
	var got seen
	for name := range s.members() {
		switch string(name) {
		case "pk":
			s.hex(h.MinerKey[:], "pk")
			got |= 1 << 0
		case "n":
			s.hex(h.Nonce[:], "n")
			got |= 1 << 1
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
	s.require(got, "powSolutions", "pk", "n")
}

// distance is a whole number of up to 255 bytes.
func (s *scanner) distance() []byte {
	if s.null() {
		return nil
	}
	const mostDigits = 600
	digits := s.number("d")
	if len(digits) == 1 && digits[0] == '0' {
		return nil
	}
	if s.err == nil && len(digits) <= mostDigits {
		if d, ok := new(big.Int).SetString(string(digits), 10); ok && d.Sign() >= 0 {
			return d.Bytes()
		}
	}
	s.failAt(s.at-len(digits), fmt.Errorf("d is %s: expected a whole number", adapter.Truncate(string(digits))))
	return nil
}

// hex decodes a string of digits of any length to memory of the block under way.
func (d *decoder) hex(what string) []byte {
	start := len(d.arena)
	d.arena = d.s.appendHex(d.arena, what)
	return d.arena[start:len(d.arena):len(d.arena)]
}

// readBody reads the transactions.
func (d *decoder) readBody() {
	s := &d.s
	if !s.begin('{', "blockTransactions") {
		return
	}
	d.body, d.txs = section{}, d.txs[:0]
	start := s.at
	for name := range s.members() {
		switch string(name) {
		case "headerId":
			d.body.readOwner(s)
		case "transactions":
			if !s.begin('[', "transactions") {
				continue
			}
			d.body.found = true
			for i := 0; s.element(&i); {
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

// readExtension reads the fields of the extension.
func (d *decoder) readExtension() {
	s := &d.s
	if !s.begin('{', "extension") {
		return
	}
	d.ext, d.fields = section{}, d.fields[:0]
	for name := range s.members() {
		switch string(name) {
		case "headerId":
			d.ext.readOwner(s)
		case "fields":
			if !s.begin('[', "fields") {
				continue
			}
			d.ext.found = true
			for i := 0; s.element(&i); {
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
	if !s.begin('[', "a field of the extension") {
		return
	}
	var f sigma.Field
	n := 0
	for s.element(&n) {
		switch n {
		case 1:
			s.hex(f.Key[:], "key of a field")
		case 2:
			f.Value = d.hex("value of a field")
		default:
			s.fail("a field of more than a key and a value")
		}
	}
	if s.err == nil && n != 2 {
		s.fail("a field without key and value")
	}
	d.fields = append(d.fields, f)
}
