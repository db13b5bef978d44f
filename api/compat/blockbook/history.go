package blockbook

import (
	"encoding/binary"
	"slices"
)

// defaultGroup is the default period of a balance history in seconds.
const defaultGroup = 3600

// balanceHistory returns the sums of an account per period of group seconds, oldest first. from and to are unix times,
// to is excluded; 0: no limit. Periods without transactions are left out.
func (s *Server) balanceHistory(q *question, descriptor string, gap int, from, to, group int64) ([]balanceChange, error) {
	h, err := s.holder(q, descriptor, gap)
	if err != nil {
		return nil, err
	}
	entries, err := h.merged()
	if err != nil {
		return nil, err
	}
	byTime := map[int64]*balanceChange{}
	height, time := uint32(0), int64(0)
	for _, e := range entries {
		if e.Height != height {
			header, err := q.Header(e.Height)
			if err != nil {
				return nil, err
			}
			height, time = e.Height, timeOf(header)
		}
		if time < from || to > 0 && time >= to {
			continue
		}
		start := time - time%group
		c := byTime[start]
		if c == nil {
			c = &balanceChange{Time: start}
			byTime[start] = c
		}
		c.Txs++
		c.Received += e.Received
		c.Sent += e.Sent
		if e.Sent > 0 {
			c.SentToSelf += e.Received
		}
	}
	list := make([]balanceChange, 0, len(byTime))
	for _, c := range byTime {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b balanceChange) int { return int(a.Time - b.Time) })
	return list, nil
}

// timeOf returns the unix time in a header.
func timeOf(header []byte) int64 { return int64(binary.LittleEndian.Uint32(header[68:])) }
