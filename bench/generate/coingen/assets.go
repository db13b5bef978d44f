package coingen

import (
	"birthmark/bench/generate/skeleton"
)

// assets is how a coin has assets in outputs.
type assets struct {
	// issue returns the holding that a transaction with these inputs may issue; nil: none.
	issue func(c *Chain, spent []coin) *Holding
	// wrap returns the value and the script of an output with assets in its serialization.
	wrap func(o output) (value uint64, script []byte)
	// apart: outputs with assets have no value in the coin.
	apart bool
}

// assets gives the assets of the inputs to outputs, burns some, and issues some.
func (c *Chain) assets(spent []coin, outputs []output) []output {
	var held skeleton.Holdings[string]
	for _, s := range spent {
		held.Give(s.held...)
	}
	if c.rng.IntN(8) == 0 {
		if h := c.coin.assets.issue(c, spent); h != nil {
			held.Give(*h)
		}
	}
	give := func(h Holding) {
		if c.coin.assets.apart {
			outputs = append(outputs, output{0, c.script(), []Holding{h}})
			return
		}
		for i := range outputs {
			if len(outputs[i].held) == 0 {
				outputs[i].held = []Holding{h}
				return
			}
		}
		outputs = append(outputs, output{0, c.script(), []Holding{h}})
	}
	for _, h := range held {
		if c.rng.IntN(10) == 0 {
			continue // burned
		}
		if h.Amount > 1 && c.rng.IntN(2) == 0 {
			part := 1 + c.rng.Uint64N(h.Amount-1)
			give(Holding{Asset: h.Asset, Amount: part})
			if h.Amount -= part; c.rng.IntN(10) == 0 {
				continue // burned in part
			}
		}
		give(h)
	}
	return outputs
}

// Supply is the amounts of an asset that were issued and burned.
type Supply struct{ Issued, Burned uint64 }

// account adds the amounts that a transaction issues and burns.
func (c *Chain) account(spent []coin, outputs []output) {
	change := map[string]int64{}
	for _, s := range spent {
		for _, h := range s.held {
			change[h.Asset] -= int64(h.Amount)
		}
	}
	for _, o := range outputs {
		for _, h := range o.held {
			change[h.Asset] += int64(h.Amount)
		}
	}
	for id, n := range change {
		if n > 0 && c.supply[id] == nil {
			c.supply[id] = new(Supply)
			if c.first == "" {
				c.first = id
			}
		}
		switch {
		case n > 0:
			c.supply[id].Issued += uint64(n)
		case n < 0:
			c.supply[id].Burned += uint64(-n)
		}
	}
}

// Assets returns the supply of every asset, by its id.
func (c *Chain) Assets() map[string]*Supply { return c.supply }

// Held returns the amount of an asset in unspent outputs.
func (c *Chain) Held(id string) (sum uint64) {
	for _, u := range c.coins {
		for _, h := range u.held {
			if h.Asset == id {
				sum += h.Amount
			}
		}
	}
	return sum
}
