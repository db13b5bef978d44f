package mempool

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

const (
	// dumpLeast is how many transactions must be requested at once to make the node save its mempool.
	dumpLeast = 1000
	// dumpAgain is the minimum time between two requests to the node to save its mempool.
	dumpAgain = 10 * time.Minute
	// dumpUse is how long an index of the file is kept after its last use.
	dumpUse = time.Minute
)

// Versions of mempool.dat (Core's kernel/mempool_persist.cpp). Since version 2 the bytes after the key are XORed with
// it.
const (
	dumpPlain = 1
	dumpXOR   = 2
	// dumpKeySize is the size of the key in bytes.
	dumpKeySize = 8
	// mostDumped is the maximum size of a transaction in bytes, for coins without a limit.
	mostDumped = 32 << 20
)

// dump is an index of a mempool.dat. It has no transactions, which are read from the file when they are requested.
type dump struct {
	file  *os.File // nil: the node does not save its mempool, or not on this machine
	key   []byte   // of the XOR; nil: none
	at    map[model.Hash]place
	made  time.Time
	until time.Time
}

// place is a transaction in a mempool.dat.
type place struct {
	offset, seen int64 // seen in Unix seconds
	size         int
}

// fromDump returns the transactions of ids that are in the node's mempool.dat, nil for the others, and when the node
// received them. Failures are logged: the transactions are then requested.
func (p *Pool) fromDump(ctx context.Context, ids []model.Hash) (raws [][]byte, seen []time.Time) {
	raws, seen = make([][]byte, len(ids)), make([]time.Time, len(ids))
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if d := p.dump; d != nil && d.file != nil && now.After(d.until) {
		_ = p.forgetDump() // it was only read
	}
	if len(ids) >= dumpLeast && (p.dump == nil || now.Sub(p.dump.made) > dumpAgain) {
		_ = p.forgetDump()
		p.dump = p.makeDump(ctx)
	}
	if p.dump == nil || p.dump.file == nil {
		return raws, seen
	}
	p.dump.until = now.Add(dumpUse)
	for i, id := range ids {
		found, ok := p.dump.at[id]
		if !ok {
			continue
		}
		raw, err := p.dump.read(found)
		if err != nil {
			slog.Warn("cannot read the file of the node's mempool: requesting its transactions", "file", p.dump.file.Name(), "error", err)
			_ = p.forgetDump()
			return make([][]byte, len(ids)), seen
		}
		raws[i], seen[i] = raw, time.Unix(found.seen, 0)
	}
	return raws, seen
}

// forgetDump closes the file. It keeps the time of the file, which delays the next request to save.
func (p *Pool) forgetDump() error {
	d := p.dump
	if d == nil || d.file == nil {
		return nil
	}
	p.dump = &dump{made: d.made}
	return d.file.Close()
}

// makeDump makes the node save its mempool, and indexes the file if it is on this machine.
func (p *Pool) makeDump(ctx context.Context) *dump {
	none := &dump{made: time.Now()}
	if host, _, err := net.SplitHostPort(p.node.Host()); err != nil || !isLoopback(host) || p.format.Extension != nil {
		return none // the end of a transaction with an extension is unknown
	}
	path, err := p.node.SaveMempool(ctx)
	if err != nil || path == "" {
		return none // the next request returns the error
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return none // the node has another file system, as in a container
	}
	file, err := os.Open(path)
	if err != nil {
		slog.Info("the file of the node's mempool is not readable: requesting its transactions, which takes longer", "error", err)
		return none
	}
	began := time.Now()
	d, err := indexDump(p.format, file)
	if err != nil {
		slog.Warn("cannot read the file of the node's mempool: requesting its transactions", "file", path, "error", err)
		_ = file.Close()
		return none
	}
	slog.Info("reading unconfirmed transactions from the node's file", "file", path, "transactions", len(d.at),
		"indexed in", time.Since(began).Round(time.Millisecond))
	return d
}

// indexDump reads the file from its beginning.
func indexDump(format *block.Format, file *os.File) (*dump, error) {
	d := &dump{file: file, made: time.Now()}
	var head [8]byte
	if _, err := io.ReadFull(file, head[:]); err != nil {
		return nil, err
	}
	begin := int64(len(head))
	switch version := binary.LittleEndian.Uint64(head[:]); version {
	case dumpPlain:
	case dumpXOR:
		key := make([]byte, 1+dumpKeySize)
		if _, err := io.ReadFull(file, key); err != nil {
			return nil, err
		}
		if key[0] != dumpKeySize {
			return nil, fmt.Errorf("a key of %d bytes, expected %d", key[0], dumpKeySize)
		}
		d.key = key[1:]
		begin += int64(len(key))
	default:
		return nil, fmt.Errorf("version %d of the format, expected %d or %d", version, dumpPlain, dumpXOR)
	}
	r := &dumpReader{format: format, in: bufio.NewReaderSize(&unmasked{file, d.key, begin}, min(format.MaxSize, mostDumped)+64), at: begin}
	count, err := r.uint64()
	if err != nil {
		return nil, err
	}
	d.at = make(map[model.Hash]place, min(count, 1<<20))
	for range count {
		raw, offset, err := r.tx()
		if err != nil {
			return nil, err
		}
		id, err := format.TxID(raw)
		if err != nil {
			return nil, err
		}
		size := len(raw)
		if err := r.skip(size); err != nil {
			return nil, err
		}
		seen, err := r.uint64()
		if err != nil {
			return nil, err
		}
		if _, err := r.uint64(); err != nil { // the fee delta, which only affects mining
			return nil, err
		}
		d.at[id] = place{offset, int64(seen), size}
	}
	return d, nil
}

// read reads a transaction and checks nothing.
func (d *dump) read(p place) ([]byte, error) {
	raw := make([]byte, p.size)
	if _, err := d.file.ReadAt(raw, p.offset); err != nil {
		return nil, err
	}
	unmask(raw, d.key, p.offset)
	return raw, nil
}

// unmasked undoes the XOR of a file.
type unmasked struct {
	io.Reader
	key []byte
	at  int64 // offset of the next byte in the file
}

func (u *unmasked) Read(b []byte) (int, error) {
	n, err := u.Reader.Read(b)
	unmask(b[:n], u.key, u.at)
	u.at += int64(n)
	return n, err
}

// unmask undoes the XOR of bytes from an offset of the file.
func unmask(b, key []byte, at int64) {
	if key == nil {
		return
	}
	for i := range b {
		b[i] ^= key[(at+int64(i))%dumpKeySize]
	}
}

// dumpReader reads entries of a mempool.dat.
type dumpReader struct {
	format *block.Format
	in     *bufio.Reader
	at     int64
}

func (r *dumpReader) skip(n int) error {
	_, err := r.in.Discard(n)
	r.at += int64(n)
	return err
}

func (r *dumpReader) uint64() (uint64, error) {
	b, err := r.in.Peek(8)
	if err != nil {
		return 0, err
	}
	n := binary.LittleEndian.Uint64(b)
	return n, r.skip(8)
}

// tx returns the next transaction without consuming it. It is valid until the next call.
func (r *dumpReader) tx() (raw []byte, offset int64, err error) {
	b, _ := r.in.Peek(r.in.Buffered())
	size, err := r.format.TxSize(b)
	if err != nil {
		// It may end in the part of the file that is not yet in the buffer.
		b, _ = r.in.Peek(min(r.format.MaxSize, mostDumped))
		if size, err = r.format.TxSize(b); err != nil {
			return nil, 0, fmt.Errorf("offset %d: %w", r.at, err)
		}
	}
	return b[:size], r.at, nil
}
