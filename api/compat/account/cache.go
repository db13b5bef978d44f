package account

import (
	"birthmark/api/bounded"
	"birthmark/chains/bitcoin/descriptor"
)

// Cache keeps the accounts that were used last with the scripts that they have derived. It is safe for concurrent use.
type Cache struct {
	net  *descriptor.Network
	kept bounded.Cache[string, *Account] // by text
}

// scriptBytes is the approximate memory of a derived script.
const scriptBytes = 80

// NewCache returns a cache of up to a number of scripts for accounts of a network.
func NewCache(net *descriptor.Network, scripts int) *Cache {
	return &Cache{net, bounded.Cache[string, *Account]{
		Max: scripts * scriptBytes, Largest: scripts * scriptBytes, Size: func(a *Account) int { return a.Kept() * scriptBytes },
	}}
}

// Get returns an account as [Parse] does. The caller calls done after it has derived all it needs.
func (c *Cache) Get(text string) (a *Account, done func(), err error) {
	a, known := c.kept.Get(text)
	if !known {
		if a, err = Parse(text, c.net); err != nil {
			return nil, nil, err
		}
	}
	return a, func() { c.kept.Put(text, a) }, nil
}
