package account

import (
	"container/list"
	"sync"

	"github.com/btcsuite/btcd/chaincfg/v2"
)

// Cache keeps the accounts that were used last with the scripts that they have derived, up to a number of scripts. A
// script takes about 80 bytes. It is safe for concurrent use.
type Cache struct {
	net     *chaincfg.Params
	scripts int

	mu   sync.Mutex
	by   map[string]*list.Element
	used list.List // of *entry, the last used one first
	kept int       // scripts of all entries, as of their last return
}

type entry struct {
	*Account
	scripts int
}

// NewCache returns a cache of up to a number of scripts for accounts of a network.
func NewCache(net *chaincfg.Params, scripts int) *Cache {
	return &Cache{net: net, scripts: scripts, by: map[string]*list.Element{}}
}

// Get returns an account as [Parse] does. The caller calls done after it has derived all it needs.
func (c *Cache) Get(text string) (a *Account, done func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.by[text]; at != nil {
		c.used.MoveToFront(at)
		a := at.Value.(*entry).Account
		return a, func() { c.keep(a) }, nil
	}
	if a, err = Parse(text, c.net); err != nil {
		return nil, nil, err
	}
	return a, func() { c.keep(a) }, nil
}

// keep counts the scripts of an account and evicts the accounts that were not used for longest.
func (c *Cache) keep(a *Account) {
	n := 1 + a.Derived()
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.by[a.Text]
	if at == nil {
		at = c.used.PushFront(&entry{Account: a})
		c.by[a.Text] = at
	}
	e := at.Value.(*entry)
	if e.Account != a { // another request has parsed the same text
		return
	}
	c.kept += n - e.scripts
	e.scripts = n
	for c.kept > c.scripts {
		oldest := c.used.Back()
		c.kept -= oldest.Value.(*entry).scripts
		delete(c.by, oldest.Value.(*entry).Text)
		c.used.Remove(oldest)
	}
}
