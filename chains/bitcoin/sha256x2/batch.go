package sha256x2

import (
	"crypto/sha256"
	"encoding/binary"
)

const blockSize = sha256.BlockSize

// batchSize is how many bytes wait in a batch before they are hashed: few enough for a processor's near caches, and so
// many that the last message, which may be a long one without another beside it, hardly counts.
const batchSize = 32 << 10

// Batch hashes messages, collected until there are some of them. The zero Batch is ready. It keeps its buffers, so
// that one that is used again allocates nothing; it belongs to one goroutine at a time.
type Batch struct {
	Twice bool // SHA-256 of SHA-256

	padded []byte // messages, each as blocks (FIPS 180-4, 5.1.1)
	jobs   []job
}

// job is a message that waits.
type job struct {
	to     *[sha256.Size]byte
	at     int // where its first block is
	size   int // of the message alone
	blocks int
}

// Add puts the hash of a message, which is given in pieces, at to: not before [Batch.Sum], but maybe at once. The pieces
// may be used again when Add returns.
func (b *Batch) Add(to *[sha256.Size]byte, pieces ...[]byte) {
	at := len(b.padded)
	for _, p := range pieces {
		b.padded = append(b.padded, p...)
	}
	size := len(b.padded) - at
	blocks := (size + 1 + 8 + blockSize - 1) / blockSize
	b.padded = append(b.padded, padding[:blocks*blockSize-size]...)
	binary.BigEndian.PutUint64(b.padded[len(b.padded)-8:], 8*uint64(size))
	b.jobs = append(b.jobs, job{to, at, size, blocks})
	if len(b.padded) >= batchSize {
		b.Sum()
	}
}

// padding is what follows a message, but for its length.
var padding = [2 * blockSize]byte{0x80}

// Sum hashes what waits.
func (b *Batch) Sum() { b.sum(twoLanes) }

func (b *Batch) sum(twoLanes bool) {
	if twoLanes {
		b.side()
	} else {
		b.one()
	}
	clear(b.jobs) // who made the messages may be done with where their hashes went
	b.jobs, b.padded = b.jobs[:0], b.padded[:0]
}

// one hashes message by message.
func (b *Batch) one() {
	for _, j := range b.jobs {
		*j.to = sha256.Sum256(b.padded[j.at : j.at+j.size])
		if b.Twice {
			*j.to = sha256.Sum256(j.to[:])
		}
	}
}

// lane is a message under way.
type lane struct {
	state
	job  *job
	at   int
	left int // blocks
}

// side hashes two messages side by side; whichever ends first makes place for the next.
func (b *Batch) side() {
	var lanes [2]lane
	next := 0
	take := func(l *lane) {
		l.job = nil
		if next < len(b.jobs) {
			l.job = &b.jobs[next]
			l.state, l.at, l.left = initial, l.job.at, l.job.blocks
			next++
		}
	}
	one, other := &lanes[0], &lanes[1]
	take(one)
	take(other)
	for one.job != nil && other.job != nil {
		n := min(one.left, other.left)
		blocksNI(&one.state, &other.state, &b.padded[one.at], &b.padded[other.at], n)
		for _, l := range [...]*lane{one, other} {
			l.at += n * blockSize
			if l.left -= n; l.left == 0 {
				b.finish(l)
				take(l)
			}
		}
	}
	if one.job == nil {
		one, other = other, one
	}
	if one.job != nil {
		from := &b.padded[one.at]
		blocksNI(&one.state, &other.state, from, from, one.left)
		b.finish(one)
	}
	if b.Twice {
		b.again()
	}
}

// finish puts the hash of a message where it belongs, or in place of its first block, to be hashed again.
func (b *Batch) finish(l *lane) {
	if !b.Twice {
		l.put(l.job.to)
		return
	}
	l.putBlock((*[blockSize]byte)(b.padded[l.job.at:]))
}

// again hashes the hashes.
func (b *Batch) again() {
	for i := 0; i < len(b.jobs); i += 2 {
		j, k := &b.jobs[i], &b.jobs[min(i+1, len(b.jobs)-1)]
		one, other := initial, initial
		blocksNI(&one, &other, &b.padded[j.at], &b.padded[k.at], 1)
		one.put(j.to)
		other.put(k.to)
	}
}
