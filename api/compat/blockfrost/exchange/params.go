package exchange

import (
	"errors"
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

// Paging reads the parameters count, page and order.
func (q *Request) Paging() (p Paging, err error) {
	if p.Count, err = q.integer("count", MaxCount, MaxCount); err == nil {
		p.Page, err = q.integer("page", 1, maxPage)
	}
	if err != nil {
		return p, err
	}
	switch q.last("order") {
	case "", "asc":
	case "desc":
		p.Descending = true
	default:
		err = ErrOrder
	}
	if q.has("order") && q.last("order") == "" {
		err = ErrOrder
	}
	return p, err
}

func (q *Request) has(name string) bool { return len(q.Values[name]) > 0 }

// last returns the last value of a parameter.
func (q *Request) last(name string) string {
	if all := q.Values[name]; len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// integer returns a parameter from 1 to most.
func (q *Request) integer(name string, without, most int) (int, error) {
	if !q.has(name) {
		return without, nil
	}
	n, err := strconv.ParseInt(q.last(name), 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) && !strings.HasPrefix(q.last(name), "-"), err == nil && n > int64(most):
		return 0, Bad("querystring/" + name + " must be <= " + strconv.Itoa(most))
	case err == nil && n < 1, errors.Is(err, strconv.ErrRange):
		return 0, Bad("querystring/" + name + " must be >= 1")
	case err != nil:
		return 0, Bad("querystring/" + name + " must be integer")
	}
	return int(n), nil
}

// Span returns the transactions that the parameters from and to select: HEIGHT or HEIGHT:INDEX, both included.
func (q *Request) Span() (s setops.Span, err error) {
	s = setops.Everywhere
	if q.has("from") {
		h, index, ok := readPlace(q.last("from"))
		if !ok {
			return s, ErrRange
		}
		tx, err := q.TxAt(h, max(index, 0))
		if err != nil {
			return s, err
		}
		s.First = model.UtxoPk(tx)
	}
	if q.has("to") {
		h, index, ok := readPlace(q.last("to"))
		if !ok {
			return s, ErrRange
		}
		if index < 0 {
			s.Last = h.Last()
		} else {
			tx, err := q.TxAt(h, index)
			if err != nil {
				return s, err
			}
			s.Last = model.UtxoPk(tx) | model.MaxIndex
		}
	}
	if s.Empty() {
		return s, ErrRange
	}
	return s, nil
}

// TxAt returns the transaction at a position of the block at h. Genesis transactions do not count.
func (q *Request) TxAt(h model.HeightPk, index int) (model.TxPk, error) {
	if h == 0 {
		index += int(q.Q.Totals.GenesisTxs)
	}
	tx, err := model.NewTxPk(h, index)
	if err != nil {
		return 0, ErrRange
	}
	return tx, nil
}

// readPlace parses HEIGHT or HEIGHT:INDEX; without an index it is -1.
func readPlace(text string) (h model.HeightPk, index int, ok bool) {
	height, position, hasIndex := strings.Cut(text, ":")
	n, err := strconv.ParseUint(height, 10, 31)
	if err != nil {
		return 0, 0, false
	}
	if h, err = model.NewHeightPk(n); err != nil {
		return 0, 0, false
	}
	if !hasIndex {
		return h, -1, true
	}
	i, err := strconv.ParseUint(position, 10, 31)
	return h, int(i), err == nil
}
