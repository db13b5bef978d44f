package config

import (
	"fmt"
	"strings"
)

// Values of the settings mempool and watch that are not a number of bytes.
const (
	MempoolAuto Size = 0  // a tenth of the memory of the chain, at most 1 GiB
	MempoolOff  Size = -1 // unconfirmed transactions are not read
)

// leastMempool is the minimum: the transactions of some blocks.
const leastMempool = 4 * MiB

// ParseMempool parses auto, off or a size.
func ParseMempool(text string) (Size, error) {
	switch strings.ToLower(text) {
	case "auto":
		return MempoolAuto, nil
	case "off", "no", "false":
		return MempoolOff, nil
	}
	s, err := ParseSize(text)
	if err != nil {
		return 0, fmt.Errorf("%w: expected a size, auto or off", err)
	}
	if s < leastMempool {
		return 0, fmt.Errorf("%v is too small: the least is %v", s, leastMempool)
	}
	return s, nil
}

// mempool formats a size that ParseMempool returned.
func (s Size) mempool() string {
	switch s {
	case MempoolAuto:
		return "auto"
	case MempoolOff:
		return "off"
	}
	return s.String()
}

// ReserveMempool takes the memory for unconfirmed transactions from c.Memory, and sets c.Mempool to it. limit is the
// maximum of auto. It returns an error about the setting mempool if less than half of the memory, or than
// [LeastMemory], would be left.
func (c *Chain) ReserveMempool(limit Size) error {
	return c.reserve("mempool", &c.Mempool, c.Memory/10, limit)
}

// ReserveWatch takes the memory for watch lists from c.Memory, as ReserveMempool does.
func (c *Chain) ReserveWatch() error { return c.reserve("watch", &c.Watch, c.Memory/20, 256*MiB) }

// reserve takes memory for a setting. auto takes part, at most limit.
func (c *Chain) reserve(setting string, size *Size, part, limit Size) error {
	switch *size {
	case MempoolOff:
		return nil
	case MempoolAuto:
		*size = min(part, limit)
		c.Memory = max(c.Memory-*size, LeastMemory)
		return nil
	}
	if left := c.Memory - *size; left < *size || left < LeastMemory {
		return at(c.Origin(setting), fmt.Errorf("%s: %v of the %v of memory of the chain is too much: "+
			"at least half, and %v, must be left", setting, *size, c.Memory, LeastMemory))
	}
	c.Memory -= *size
	return nil
}
