package exchange

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"birthmark/core/query/setops"
	"birthmark/model"
)

// MaxCount is the number of entries of a page, at most and without the parameter.
const (
	MaxCount = 100
	maxPage  = 21474836
)

// Paging is the page of a list that a request selects.
type Paging struct {
	Count, Page int
	Descending  bool
}

// Paged reads the parameters count and page, and Listed also order.
func Paged(q *Request) (err error) {
	if q.Page.Count, err = q.integer("count", MaxCount, MaxCount); err == nil {
		q.Page.Page, err = q.integer("page", 1, maxPage)
	}
	return err
}

func Listed(q *Request) error {
	if err := Paged(q); err != nil || !q.has("order") {
		return err
	}
	if len(q.Values["order"]) > 1 {
		return Bad("querystring/order must be string")
	}
	q.Page.Descending = q.last("order") == "desc"
	if !q.Page.Descending && q.last("order") != "asc" {
		return ErrOrder
	}
	return nil
}

// Ranged reads the parameters of Listed, and from and to: HEIGHT or HEIGHT:INDEX, both included.
func Ranged(q *Request) (err error) {
	if err := Listed(q); err != nil {
		return err
	}
	if q.from, err = q.place("from"); err == nil {
		q.to, err = q.place("to")
	}
	if err == nil && q.from != nil && q.to != nil && q.to.before(q.from) {
		err = ErrRange
	}
	return err
}

func (q *Request) has(name string) bool { return len(q.Values[name]) > 0 }

// last returns the last value of a parameter.
func (q *Request) last(name string) string {
	if all := q.Values[name]; len(all) > 0 {
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

// IsInteger reports whether a part of a path is an integer for Blockfrost.
func IsInteger(text string) bool {
	_, ok := toInteger(text)
	return ok
}

// integer returns a parameter from 1 to most.
func (q *Request) integer(name string, without, most int) (int, error) {
	if !q.has(name) {
		return without, nil
	}
	n, isInteger := toInteger(q.last(name))
	switch {
	case len(q.Values[name]) > 1, !isInteger:
		return 0, Bad("querystring/" + name + " must be integer")
	case n > float64(most):
		return 0, Bad("querystring/" + name + " must be <= " + strconv.Itoa(most))
	case n < 1:
		return 0, Bad("querystring/" + name + " must be >= 1")
	}
	return int(n), nil
}

// place is the position of a transaction in the chain. Without an index it is that of all transactions of the block.
type place struct {
	height model.HeightPk
	index  int // -1: none
}

// before reports whether no transaction lies from other to p.
func (p *place) before(other *place) bool {
	return p.height < other.height || p.height == other.height && p.index >= 0 && p.index < other.index
}

// place parses HEIGHT or HEIGHT:INDEX; nil: the parameter is absent.
func (q *Request) place(name string) (*place, error) {
	if !q.has(name) {
		return nil, nil
	}
	height, position, hasIndex := strings.Cut(q.last(name), ":")
	n, err := strconv.ParseUint(height, 10, 31)
	if err != nil {
		return nil, ErrRange
	}
	p := &place{model.HeightPk(min(n, model.MaxHeight)), -1} // there are no higher blocks
	if hasIndex {
		i, err := strconv.ParseUint(position, 10, 31)
		if err != nil {
			return nil, ErrRange
		}
		p.index = int(i)
	}
	return p, nil
}

// Span returns the transactions from the parameter from to the parameter to.
func (q *Request) Span() (s setops.Span, err error) {
	s = setops.Everywhere
	if q.from != nil {
		tx, err := q.TxAt(q.from.height, max(q.from.index, 0))
		if err != nil {
			return s, err
		}
		s.First = model.UtxoPk(tx)
	}
	if q.to != nil && q.to.index < 0 {
		s.Last = q.to.height.Last()
	} else if q.to != nil {
		tx, err := q.TxAt(q.to.height, q.to.index)
		if err != nil {
			return s, err
		}
		s.Last = model.UtxoPk(tx) | model.MaxIndex
	}
	return s, nil
}

// TxAt returns the transaction at a position of the block at h. Genesis transactions do not count.
func (q *Request) TxAt(h model.HeightPk, index int) (model.TxPk, error) {
	if h == 0 {
		index += int(q.Q.Totals.GenesisTxs)
	}
	return model.NewTxPk(h, min(index, model.MaxTxIndex))
}
