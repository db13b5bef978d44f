package events

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"

	"birthmark/core/query"
	"birthmark/model"
)

// An event id is base64url without padding of
//
//	version | chain (4 bytes of a hash of its name and network) | sum (4 bytes of a hash of what follows)
//	height of the block | mark (8 bytes) | for each older block: height difference to the block before | mark (4 bytes)
//
// Numbers are uvarints. A mark is the beginning of a hash of the block hash, which itself can begin with many zeros. The
// origin has no blocks.
const (
	idVersion = 1
	chainSize = 4
	sumSize   = 4
	markSize  = 8
	olderSize = 4
	headSize  = 1 + chainSize + sumSize
	maxOlder  = 63      // more than core.FollowLocator returns
	maxIDSize = 1 << 10 // characters
)

// ids formats and parses the event ids of one chain.
type ids struct{ chain [chainSize]byte }

func idsOf(c model.Chain) (i ids) {
	sum := sha256.Sum256([]byte(c.Name() + "/" + c.Network()))
	copy(i.chain[:], sum[:])
	return i
}

func markOf(h model.Hash, size int) []byte {
	sum := sha256.Sum256(h[:])
	return sum[:size]
}

// id returns the id of the first of points, which are sorted newest first; no points: the origin.
func (i ids) id(points []model.Point) string {
	b := append([]byte{idVersion}, i.chain[:]...)
	b = append(b, make([]byte, sumSize)...)
	for n, p := range points {
		if n == 0 {
			b = binary.AppendUvarint(b, uint64(p.Height))
			b = append(b, markOf(p.Hash, markSize)...)
			continue
		}
		if n > maxOlder {
			break
		}
		b = binary.AppendUvarint(b, uint64(points[n-1].Height-p.Height))
		b = append(b, markOf(p.Hash, olderSize)...)
	}
	sum := sha256.Sum256(b[headSize:])
	copy(b[1+chainSize:headSize], sum[:])
	return base64.RawURLEncoding.EncodeToString(b)
}

// anchor is a block of an event id.
type anchor struct {
	height model.HeightPk
	mark   []byte
}

// parse returns the blocks of an event id, newest first. The error is of kind Usage (bad_event_id).
func (i ids) parse(id string) ([]anchor, error) {
	bad := func(why string) error {
		return model.Errorf(model.Usage, "bad_event_id", "event id %.80q %s: pass the id of an event of this chain", id, why)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(id)
	if len(id) > maxIDSize || err != nil || len(b) < headSize || b[0] != idVersion || base64.RawURLEncoding.EncodeToString(b) != id {
		return nil, bad("is not valid")
	}
	sum := sha256.Sum256(b[headSize:])
	switch {
	case !bytes.Equal(b[1+chainSize:headSize], sum[:sumSize]):
		return nil, bad("is damaged")
	case !bytes.Equal(b[1:1+chainSize], i.chain[:]):
		return nil, bad("is of another chain or network")
	}
	anchors, err := parseAnchors(b[headSize:])
	if err != nil {
		return nil, bad("is damaged")
	}
	return anchors, nil
}

var errAnchors = errors.New("not the blocks of an event id")

func parseAnchors(b []byte) (anchors []anchor, err error) {
	for size := markSize; len(b) > 0; size = olderSize {
		number, n := binary.Uvarint(b)
		if n <= 0 || len(b) < n+size || len(anchors) > maxOlder {
			return nil, errAnchors
		}
		if len(anchors) > 0 {
			above := uint64(anchors[len(anchors)-1].height)
			if number == 0 || number > above {
				return nil, errAnchors
			}
			number = above - number
		}
		if number > model.MaxHeight {
			return nil, errAnchors
		}
		anchors = append(anchors, anchor{model.HeightPk(number), b[n : n+size]})
		b = b[n+size:]
	}
	return anchors, nil
}

// newest returns the newest anchor on the chain; the origin if there is none.
func newest(ctx context.Context, v *query.View, anchors []anchor) (model.Point, error) {
	for _, a := range anchors {
		p, err := v.PointAt(ctx, a.height)
		if kind, _ := model.KindOf(err); kind == model.NotFound {
			continue
		}
		if err != nil {
			return model.Point{}, err
		}
		if bytes.Equal(a.mark, markOf(p.Hash, len(a.mark))) {
			return p, nil
		}
	}
	return model.Point{}, nil
}
