package blockfrost

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"birthmark/core/query/setops"
	"birthmark/model"
)

// parameters are the query parameters of an endpoint.
type parameters struct {
	names []string
	read  func(*call) error
}

var (
	paged    = &parameters{[]string{"count", "page"}, (*call).readPage}
	listed   = &parameters{[]string{"count", "page", "order"}, (*call).readOrder}
	ranged   = &parameters{[]string{"count", "page", "order", "from", "to"}, (*call).readRange}
	filtered = &parameters{[]string{"count", "page", "order", "order_by", "retired", "expired"}, (*call).readFilter}
)

// maxCount is the number of entries of a page, at most and without the parameter.
const (
	maxCount = 100
	maxPage  = 21474836
)

// paging is the page of a list that a request selects.
type paging struct {
	count, number int
	descending    bool
}

func (c *call) readPage() (err error) {
	if c.page.count, err = c.integer("count", maxCount, maxCount); err == nil {
		c.page.number, err = c.integer("page", 1, maxPage)
	}
	return err
}

func (c *call) readOrder() error {
	if err := c.readPage(); err != nil || !c.has("order") {
		return err
	}
	if len(c.values["order"]) > 1 {
		return bad("querystring/order must be string")
	}
	c.page.descending = c.last("order") == "desc"
	if !c.page.descending && c.last("order") != "asc" {
		return errOrder
	}
	return nil
}

// readRange reads also from and to: HEIGHT or HEIGHT:INDEX, both included.
func (c *call) readRange() (err error) {
	if err := c.readOrder(); err != nil {
		return err
	}
	if c.from, err = c.place("from"); err == nil {
		c.to, err = c.place("to")
	}
	if err == nil && c.from != nil && c.to != nil && c.to.before(c.from) {
		err = errRange
	}
	return err
}

// filter is the part of the DReps that a request selects; nil: also the others.
type filter struct {
	byAmount         bool
	retired, expired *bool
}

func (c *call) readFilter() error {
	err := c.readOrder()
	if err != nil {
		return err
	}
	if c.filter.byAmount = c.values.Has("order_by"); c.filter.byAmount && c.values.Get("order_by") != "amount" {
		return bad("querystring/order_by must be equal to one of the allowed values")
	}
	if c.filter.retired, err = c.flag("retired"); err == nil {
		c.filter.expired, err = c.flag("expired")
	}
	return err
}

// flag returns a parameter that is true or false; nil if it is absent.
func (c *call) flag(name string) (*bool, error) {
	if !c.values.Has(name) {
		return nil, nil
	}
	on := c.values.Get(name) == "true"
	if !on && c.values.Get(name) != "false" {
		return nil, bad("querystring/" + name + " must be boolean")
	}
	return &on, nil
}

func (c *call) has(name string) bool { return len(c.values[name]) > 0 }

// last returns the last value of a parameter.
func (c *call) last(name string) string {
	if all := c.values[name]; len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// number matches the texts that JavaScript converts to a number.
var number = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// toInteger converts a text as JavaScript does, as Blockfrost accepts it in place of an integer.
func toInteger(text string) (n float64, ok bool) {
	text = strings.TrimSpace(text)
	n, _ = strconv.ParseFloat(text, 64) // an infinity if it is out of range
	return n, number.MatchString(text) && n == math.Trunc(n)
}

// isInteger reports whether a part of a path is an integer for Blockfrost.
func isInteger(text string) bool {
	_, ok := toInteger(text)
	return ok
}

// integer returns a parameter from 1 to most.
func (c *call) integer(name string, without, most int) (int, error) {
	if !c.has(name) {
		return without, nil
	}
	n, isInteger := toInteger(c.last(name))
	switch {
	case len(c.values[name]) > 1, !isInteger:
		return 0, bad("querystring/" + name + " must be integer")
	case n > float64(most):
		return 0, bad("querystring/" + name + " must be <= " + strconv.Itoa(most))
	case n < 1:
		return 0, bad("querystring/" + name + " must be >= 1")
	}
	return int(n), nil
}

// place is the position of a transaction in the chain. Without an index it is the position of the whole block.
type place struct {
	height model.HeightPk
	index  int // -1: none
}

// before reports whether no transaction lies from other to p.
func (p *place) before(other *place) bool {
	return p.height < other.height || p.height == other.height && p.index >= 0 && p.index < other.index
}

// place parses HEIGHT or HEIGHT:INDEX; nil: the parameter is absent.
func (c *call) place(name string) (*place, error) {
	if !c.has(name) {
		return nil, nil
	}
	height, position, hasIndex := strings.Cut(c.last(name), ":")
	n, err := strconv.ParseUint(height, 10, 31)
	if err != nil {
		return nil, errRange
	}
	p := &place{model.HeightPk(min(n, model.MaxHeight)), -1} // there are no higher blocks
	if hasIndex {
		i, err := strconv.ParseUint(position, 10, 31)
		if err != nil {
			return nil, errRange
		}
		p.index = int(i)
	}
	return p, nil
}

// span returns the transactions from the parameter from to the parameter to.
func (v *view) span() (s setops.Span, err error) {
	s = setops.Everywhere
	if v.from != nil {
		tx, err := v.txAt(v.from.height, max(v.from.index, 0))
		if err != nil {
			return s, err
		}
		s.First = model.UtxoPk(tx)
	}
	if v.to != nil && v.to.index < 0 {
		s.Last = v.Q.LastPk(v.to.height)
	} else if v.to != nil {
		tx, err := v.txAt(v.to.height, v.to.index)
		if err != nil {
			return s, err
		}
		s.Last = tx.Last()
	}
	return s, nil
}

// txAt returns the transaction at a position of the block at h. Genesis transactions do not count.
func (v *view) txAt(h model.HeightPk, index int) (model.TxPk, error) {
	if h == 0 {
		index += int(v.Q.Totals.GenesisTxs)
	}
	return v.Q.NewTxPk(h, min(index, model.MaxTxIndex))
}
