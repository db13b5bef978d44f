package blockfrost

import (
	"errors"
	"strconv"
	"strings"

	"birthmark/core/query/setops"
	"birthmark/model"
)

const (
	maxCount = 100
	maxPage  = 21474836
)

// paging is the page of a list that a request selects.
type paging struct {
	count, page int
	descending  bool
}

// paging reads the parameters count, page and order.
func (q *request) paging() (p paging, err error) {
	if p.count, err = q.integer("count", maxCount, maxCount); err == nil {
		p.page, err = q.integer("page", 1, maxPage)
	}
	if err != nil {
		return p, err
	}
	switch q.last("order") {
	case "", "asc":
	case "desc":
		p.descending = true
	default:
		err = errOrder
	}
	if q.has("order") && q.last("order") == "" {
		err = errOrder
	}
	return p, err
}

func (q *request) has(name string) bool { return len(q.values[name]) > 0 }

// last returns the last value of a parameter.
func (q *request) last(name string) string {
	if all := q.values[name]; len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// integer returns a parameter from 1 to most.
func (q *request) integer(name string, without, most int) (int, error) {
	if !q.has(name) {
		return without, nil
	}
	n, err := strconv.ParseInt(q.last(name), 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) && !strings.HasPrefix(q.last(name), "-"), err == nil && n > int64(most):
		return 0, bad("querystring/" + name + " must be <= " + strconv.Itoa(most))
	case err == nil && n < 1, errors.Is(err, strconv.ErrRange):
		return 0, bad("querystring/" + name + " must be >= 1")
	case err != nil:
		return 0, bad("querystring/" + name + " must be integer")
	}
	return int(n), nil
}

// span returns the transactions that the parameters from and to select: HEIGHT or HEIGHT:INDEX, both included.
func (q *request) span() (s setops.Span, err error) {
	s = setops.Everywhere
	if q.has("from") {
		h, index, ok := readPlace(q.last("from"))
		if !ok {
			return s, errRange
		}
		tx, err := q.txAt(h, max(index, 0))
		if err != nil {
			return s, err
		}
		s.First = model.UtxoPk(tx)
	}
	if q.has("to") {
		h, index, ok := readPlace(q.last("to"))
		if !ok {
			return s, errRange
		}
		if index < 0 {
			s.Last = h.Last()
		} else {
			tx, err := q.txAt(h, index)
			if err != nil {
				return s, err
			}
			s.Last = model.UtxoPk(tx) | model.MaxIndex
		}
	}
	if s.Empty() {
		return s, errRange
	}
	return s, nil
}

// txAt returns the transaction at a position of the block at h. Genesis transactions do not count.
func (q *request) txAt(h model.HeightPk, index int) (model.TxPk, error) {
	if h == 0 {
		index += int(q.Q.Totals.GenesisTxs)
	}
	tx, err := model.NewTxPk(h, index)
	if err != nil {
		return 0, errRange
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
