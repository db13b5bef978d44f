package block

import (
	"encoding/binary"
	"math/big"

	"birthmark/model"
)

// Format is how a coin serializes blocks and transactions, and their limits. A function that is nil has the form of
// Bitcoin.
type Format struct {
	MaxSize  int    // of a block in bytes
	MaxMoney uint64 // of an output, in the smallest unit
	Witness  bool   // transactions can have witnesses (BIP 144), and scripts are witness programs (BIP 141)

	// Header reads the header, which is hashed as a whole.
	Header func(r *Reader)
	// Hash returns the hash of a header, which identifies its block.
	Hash func(header []byte) model.Hash
	// Tail reads the data between the header and the transactions, such as the proof of merged mining.
	Tail func(r *Reader, header []byte)
	// TimeAt and RootAt are the offsets of time and merkle root in the header; 0: 68 and 36. The target follows the time.
	TimeAt, RootAt int
	// Work checks the proof of work of a header and its tail, if it is not that the block hash meets the target.
	Work func(header, tail []byte) error

	// Flag is a bit of the flag after a marker, in addition to that of witnesses. Extension reads the data that it
	// announces, between witnesses and lock time, of a transaction in a block, or of a separate transaction, which ends
	// after its lock time.
	// If the last transaction of a block has it, more data follows that transaction.
	Flag      byte
	Extension func(r *Reader, confirmed bool)
	// VersionMask has the bits of the first field of a transaction that are its version; 0: all.
	VersionMask uint32
	// Prefix returns the size in bytes of the fields between that field and the inputs, and the offset of the lock
	// time in the transaction; 0: it follows the outputs.
	Prefix func(first uint32) (size, lock int)
	// Check calls [Reader.Newer] if the form of a transaction with this first field, and these fields before the inputs,
	// is not known.
	Check func(r *Reader, first uint32, fields []byte)
	// Payload reads the data after the lock time or, if that precedes the inputs, after the outputs.
	Payload func(r *Reader, first uint32)
	// Inputless reports whether a transaction with this first field can have no inputs, and no outputs.
	Inputless func(first uint32) bool
	// Coinbase reports whether an outpoint marks the input of a coinbase.
	Coinbase func(outpoint []byte) bool
	// AppendHashed appends the bytes whose hash is the id of a transaction, from its parts in raw. Transactions then
	// have two hashes, and headers two merkle roots: that at offset 36 is of the hashes of all bytes.
	AppendHashed func(to, raw []byte, s Span) []byte
	// TxHash returns the id of a transaction from its parts in raw.
	TxHash func(raw []byte, s Span) model.Hash

	// Solve classifies a script as [Solve] does.
	Solve func(script []byte) (Kind, []byte)
	// FalseReturn: data can follow OP_FALSE OP_RETURN as well as OP_RETURN.
	FalseReturn bool
	// Output splits the value and the script of an output into the value in the coin, the script that locks it, and
	// assets.
	Output func(value uint64, script []byte) (uint64, []byte, []model.Asset)
}

// Bitcoin is the format of Bitcoin. Each byte of a block counts at least one unit of weight (BIP 141).
var Bitcoin = Format{MaxSize: MaxSize, MaxMoney: maxMoney, Witness: true}

// takeHeader reads the header and what follows it, and returns their sizes.
func (f *Format) takeHeader(r *Reader) (size, tail int) {
	size = f.onlyHeader(r)
	if f.Tail != nil && r.err == nil {
		f.Tail(r, r.b[:size])
		tail = r.at - size
	}
	return size, tail
}

func (f *Format) onlyHeader(r *Reader) (size int) {
	if f.Header == nil {
		r.Take(HeaderSize, "header")
	} else {
		f.Header(r)
	}
	return r.at
}

// HeaderSize returns the size of the header at the beginning of raw, without what follows it. A truncated header is an
// error.
func (f *Format) HeaderSize(raw []byte) (int, error) {
	r := Reader{b: raw}
	size := f.onlyHeader(&r)
	return size, r.err
}

// SplitHeaders splits a sequence of headers, each with its tail (the bytes between header and transactions), and
// returns the headers without tails.
func (f *Format) SplitHeaders(raw []byte) (headers []Header, err error) {
	for len(raw) > 0 {
		r := Reader{b: raw}
		size, tail := f.takeHeader(&r)
		if r.err != nil {
			return nil, r.err
		}
		headers, raw = append(headers, raw[:size]), raw[size+tail:]
	}
	return headers, nil
}

// WithTail returns the header of a valid block and the bytes between header and transactions.
func (f *Format) WithTail(raw []byte) []byte {
	r := Reader{b: raw}
	size, tail := f.takeHeader(&r)
	return raw[:size+tail]
}

// HashOf returns the hash of the header at the beginning of raw; the zero hash if it is truncated.
func (f *Format) HashOf(raw []byte) model.Hash {
	size, err := f.HeaderSize(raw)
	if err != nil {
		return model.Hash{}
	}
	return f.hash(raw[:size])
}

func (f *Format) hash(header []byte) model.Hash {
	if f.Hash != nil {
		return f.Hash(header)
	}
	return DoubleHash(header)
}

// fromTime returns a header in which the time, and the target after it, have the offsets of Bitcoin's.
func (f *Format) fromTime(h Header) Header {
	if f.TimeAt == 0 {
		return h
	}
	return h[f.TimeAt-timeAt:]
}

// Bits returns the compact target of a header.
func (f *Format) Bits(h Header) uint32 { return f.fromTime(h).Bits() }

// CheckTarget is [Header.CheckTarget] of a header in this format.
func (f *Format) CheckTarget(h Header, limit *big.Int) error { return f.fromTime(h).CheckTarget(limit) }

// CheckWork is [Header.CheckWork] of a header in this format.
func (f *Format) CheckWork(h Header, hash model.Hash, limit *big.Int) error {
	return f.fromTime(h).CheckWork(hash, limit)
}

// Time returns the time of a header in unix seconds.
func (f *Format) Time(h Header) uint32 { return f.fromTime(h).Time() }

// root returns the merkle root of the ids.
func (f *Format) root(h Header) model.Hash {
	if f.RootAt == 0 {
		return h.MerkleRoot()
	}
	return model.Hash(h[f.RootAt:])
}

// Classify classifies a script.
func (f *Format) Classify(script []byte) (Kind, []byte) {
	if f.Solve != nil {
		return f.Solve(script)
	}
	return Solve(script)
}

// output is Output of a format.
func (f *Format) output(value uint64, script []byte) (uint64, []byte, []model.Asset) {
	if f.Output == nil {
		return value, script, nil
	}
	return f.Output(value, script)
}

// minTxSize returns the size in bytes of the smallest transaction.
func (f *Format) minTxSize() int {
	if f.Inputless != nil {
		return minEmptySize
	}
	return minTxSize
}

func (f *Format) isCoinbase(outpoint []byte) bool {
	if f.Coinbase != nil {
		return f.Coinbase(outpoint)
	}
	return isNull(outpoint)
}

// takeFlag reads the marker and the flag of a transaction, if it has them (BIP 144); 0: it does not.
func (f *Format) takeFlag(r *Reader) byte {
	flag := r.peek(1)
	if !f.Witness || r.peek(0) != 0 || flag == 0 || flag&^(witnessFlag|f.Flag) != 0 {
		return 0
	}
	r.Take(2, "marker")
	return flag
}

const witnessFlag = 1

// Version returns the version of a transaction from its first field.
func (f *Format) Version(first uint32) uint32 {
	if f.VersionMask == 0 {
		return first
	}
	return first & f.VersionMask
}

// takeFirst reads the first field of a transaction, and the fields between it and the inputs. lock is the offset of the
// lock time if it has been read, else 0.
func (f *Format) takeFirst(r *Reader) (first uint32, flag byte, lock int) {
	start := r.at
	field := r.Take(4, "version")
	if field == nil {
		return 0, 0, 0
	}
	first = binary.LittleEndian.Uint32(field)
	var fields []byte
	if f.Prefix != nil {
		size, at := f.Prefix(first)
		fields = r.Take(size, "fields before the inputs")
		if at > 0 {
			lock = start + at
		}
	}
	if f.Check != nil && r.err == nil {
		f.Check(r, first, fields)
	}
	if f.Prefix == nil {
		flag = f.takeFlag(r)
	}
	return first, flag, lock
}

// takeRest reads the part of a transaction after its outputs. lock is the offset of the lock time if it precedes the
// inputs. It returns the offset.
func (f *Format) takeRest(r *Reader, first uint32, flag byte, lock, inputs int, confirmed bool) int {
	if flag&witnessFlag != 0 {
		takeWitness(r, inputs)
	}
	if flag&f.Flag != 0 {
		f.Extension(r, confirmed)
	}
	if lock == 0 {
		lock = r.at
		r.Take(4, "lock time")
	}
	if f.Payload != nil && r.err == nil {
		f.Payload(r, first)
	}
	return lock
}
