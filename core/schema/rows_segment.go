package schema

import (
	"encoding/binary"

	"birthmark/model"
	"birthmark/storage"
)

// SegmentFamily is the family of a database whose updates are numbered. It is not part of a [Layout]: package segment
// declares it.
var SegmentFamily = segmentFamily.Declaration

var segmentFamily = declare(FamilySegments, "segment_state", storage.Lookup, 0,
	"name", "bytes",
	"the state of replication: its rows are listed below. They depend on the history of the database, not on the chain: "+
		"dumps and the counts in meta leave them out")

// Keys of the family segment_state.
var (
	SegmentPosition = []byte("position")
	SegmentPrimary  = []byte("primary")
)

// segmentSchema describes the rows of segment_state.
var segmentSchema = []struct{ name, value, purpose string }{
	{string(SegmentPosition), "lineage|seq|segment_hash",
		"the last update: the 16-byte lineage, the number of the update as 8 bytes, big-endian, and the SHA-256 of its segment; " +
			"32 random bytes if the update has no segment"},
	{string(SegmentPrimary), "text", "exists in a replica: where its segments come from"},
}

// Lineage identifies the updates of one primary. It is random.
type Lineage [16]byte

// Position is the number of an update in its lineage. Update 0 is the empty database.
type Position struct {
	Lineage Lineage
	Seq     uint64
	Hash    model.Hash // SHA-256 of the update's segment; random bytes without one; zero for update 0
}

// AppendPosition appends the row of a position.
func AppendPosition(b []byte, p *Position) []byte {
	b = append(b, p.Lineage[:]...)
	b = binary.BigEndian.AppendUint64(b, p.Seq)
	return append(b, p.Hash[:]...)
}

// ParsePosition parses the row of a position.
func ParsePosition(b []byte) (p Position, err error) {
	r := reader{b: b}
	copy(p.Lineage[:], r.take(len(p.Lineage), "lineage"))
	p.Seq = binary.BigEndian.Uint64(r.take(8, "seq"))
	p.Hash = r.hash("segment_hash")
	return p, r.end()
}

// ReadPosition returns the position of a database whose updates are numbered; ok is false if they are not.
func ReadPosition(r storage.Reader) (p Position, ok bool, err error) {
	b, err := find(r, FamilySegments, SegmentPosition)
	if b == nil || err != nil {
		return p, false, err
	}
	p, err = ParsePosition(b)
	return p, err == nil, err
}

// ReadPrimary returns the source of the segments of a replica, or "" if the database is not a replica.
func ReadPrimary(r storage.Reader) (string, error) {
	b, err := find(r, FamilySegments, SegmentPrimary)
	return string(b), err
}
