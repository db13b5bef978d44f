package config

import (
	"fmt"
	"strings"
)

// Values of the setting mempool that are not a number of bytes.
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
		return 0, fmt.Errorf("%v for unconfirmed transactions is too small: the least is %v", s, leastMempool)
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

// ReserveMempool takes the memory for unconfirmed transactions from c.Memory, and sets c.Mempool to it. The error is
// that of the setting mempool if less than half of the memory, or than [LeastMemory], would be left.
func (c *Chain) ReserveMempool() error {
	switch c.Mempool {
	case MempoolOff:
		return nil
	case MempoolAuto:
		c.Mempool = min(c.Memory/10, GiB)
		c.Memory = max(c.Memory-c.Mempool, LeastMemory)
		return nil
	}
	if left := c.Memory - c.Mempool; left < c.Mempool || left < LeastMemory {
		return at(c.Origin("mempool"), fmt.Errorf("mempool: %v of the %v of memory of the chain is too much: "+
			"at least half, and %v, must be left", c.Mempool, c.Memory, LeastMemory))
	}
	c.Memory -= c.Mempool
	return nil
}
