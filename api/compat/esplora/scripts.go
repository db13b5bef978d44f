package esplora

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"

	"birthmark/api/compat/wallet"
	"birthmark/model"
)

const (
	mempoolTxs = 50   // unconfirmed transactions of a list
	maxTxs     = 1000 // of the parameter max_txs
	maxSummary = 5000 // entries of a summary
	maxPrefix  = 10   // addresses of a prefix
	maxScripts = 300  // of a list over several scripts
	idDigits   = 2 * 32
)

// key reads an address or a script hash, which of the two depends on the first segment of the route.
func (q *request) key(kind, text string) (k wallet.Key, err error) {
	if strings.HasPrefix(kind, "address") {
		s, err := q.Chain.Script(text)
		return sha256.Sum256(s), err
	}
	b, err := hex.DecodeString(text)
	if err != nil {
		return k, errHex
	}
	if len(b) != len(k) {
		return k, errorf(http.StatusBadRequest, "Invalid scripthash")
	}
	return wallet.Key(b), nil
}

// kind returns whether the request is about addresses or script hashes.
func (q *request) kind() string {
	kind, _, _ := strings.Cut(strings.TrimPrefix(q.r.URL.Path, q.Path+"/"), "/")
	return kind
}

// script returns the script of the first argument. Its lists move with the tip.
func (q *request) script() (*wallet.Script, error) {
	k, err := q.key(q.kind(), q.args[0])
	if err != nil {
		return nil, err
	}
	q.maxAge = shortly
	return q.view.Script(k)
}

func scriptStats(q *request) error {
	s, err := q.script()
	if err != nil {
		return err
	}
	confirmed, unconfirmed, err := s.Stats()
	if err != nil {
		return err
	}
	// The keys are in alphabetical order, as electrs writes them.
	address := q.kind() == "address"
	q.str("{")
	if address {
		q.str(`"address":"`)
		q.str(q.args[0])
		q.str(`",`)
	}
	q.str(`"chain_stats":`)
	q.stats(confirmed)
	q.str(`,"mempool_stats":`)
	q.stats(unconfirmed)
	if !address {
		q.str(`,"scripthash":"`)
		q.str(q.args[0])
		q.str(`"`)
	}
	q.str("}")
	return nil
}

// confirmedIDs appends up to n confirmed transactions, newest first, after one that is excluded.
func confirmedIDs(ids []model.Hash, s *wallet.Script, after *model.Hash, n int) ([]model.Hash, error) {
	if n <= 0 {
		return ids, nil
	}
	for e, err := range s.History(after, true) {
		if err != nil {
			return ids, err
		}
		if ids = append(ids, e.Tx); n == 1 {
			break
		}
		n--
	}
	return ids, nil
}

// unconfirmedIDs appends up to n unconfirmed transactions in the order of arrival, after one that is excluded.
func unconfirmedIDs(ids []model.Hash, s *wallet.Script, after *model.Hash, n int) []model.Hash {
	for _, e := range s.Mempool() {
		switch {
		case after != nil:
			if e.Tx == *after {
				after = nil
			}
		case n > 0:
			ids = append(ids, e.Tx)
			n--
		}
	}
	return ids
}

// txsOf answers with transactions.
func (q *request) txsOf(ids []model.Hash) error {
	txs, err := q.view.Txs(ids)
	if err == nil {
		q.txs(txs)
	}
	return err
}

// page are the parameters of lists of transactions of mempool.space's electrs.
type page struct {
	max         int // transactions in all; 0: the defaults
	after       *model.Hash
	unconfirmed bool // after is unconfirmed
}

func (q *request) page() (p page, err error) {
	if n, err := strconv.Atoi(q.param("max_txs")); err == nil && n > 0 {
		p.max = min(n, maxTxs)
	}
	id, ok := parseHash(q.param("after_txid"))
	if !ok {
		return p, nil
	}
	at, err := q.view.Place(id)
	if is(err, "unknown_tx") {
		return p, errNoAfter
	}
	p.after, p.unconfirmed = &id, !at.Confirmed
	return p, err
}

// scriptTxs returns unconfirmed transactions in the order of arrival, then confirmed ones, newest first.
func scriptTxs(q *request) error {
	s, err := q.script()
	if err != nil {
		return err
	}
	p, err := q.page()
	if err != nil {
		return err
	}
	most, left := mempoolTxs, txsPerPage
	if p.max > 0 {
		most = p.max
	}
	var ids []model.Hash
	after := p.after
	if after == nil || p.unconfirmed {
		ids, after = unconfirmedIDs(nil, s, after, most), nil
	}
	if p.max > 0 {
		left = p.max - len(ids)
	}
	if ids, err = confirmedIDs(ids, s, after, left); err != nil {
		return err
	}
	return q.txsOf(ids)
}

// confirmedTxs returns a page of confirmed transactions. The last one of the previous page is excluded; if it is not a
// confirmed transaction of the script, the page is empty, and if it is not a hash, it is the first page.
func confirmedTxs(q *request) error {
	s, err := q.script()
	if err != nil {
		return err
	}
	ids, err := confirmedIDs(nil, s, q.last(), txsPerPage)
	if err != nil {
		return err
	}
	return q.txsOf(ids)
}

// last returns the transaction of the second argument; nil if it is absent or not a hash.
func (q *request) last() *model.Hash {
	if len(q.args) < 2 {
		return nil
	}
	if id, ok := parseHash(q.args[1]); ok {
		return &id
	}
	return nil
}

func unconfirmedTxs(q *request) error {
	s, err := q.script()
	if err != nil {
		return err
	}
	return q.txsOf(unconfirmedIDs(nil, s, nil, mempoolTxs))
}

// summary returns the net change of each confirmed transaction, newest first.
func summary(q *request) error {
	s, err := q.script()
	if err != nil {
		return err
	}
	last := q.last()
	if last != nil {
		if _, err := q.view.Place(*last); is(err, "unknown_tx") {
			return errNoAfter
		} else if err != nil {
			return err
		}
	}
	n := maxSummary
	if m, err := strconv.Atoi(q.param("max_txs")); err == nil && m > 0 {
		n = min(m, n)
	}
	q.str("[")
	separator := `{"txid":`
	for e, err := range s.History(last, true) {
		if err != nil {
			return err
		}
		at, err := q.placeAt(e.Height)
		if err != nil {
			return err
		}
		q.id(separator, e.Tx)
		q.num(`,"height":`, uint64(e.Height))
		q.str(`,"value":`)
		q.out = strconv.AppendInt(q.out, int64(e.Received)-int64(e.Sent), 10)
		q.num(`,"time":`, uint64(at.BlockTime))
		q.str("}")
		if separator = `,{"txid":`; n == 1 {
			break
		}
		n--
	}
	q.str("]")
	return nil
}

// unspent returns all unspent outputs; a long list is sent in parts.
func unspent(q *request) error {
	s, err := q.script()
	if err != nil {
		return err
	}
	q.str("[")
	separator := `{"txid":`
	for u, err := range s.Unspent() {
		if err != nil {
			return err
		}
		var at wallet.Place
		if u.Height > 0 {
			if at, err = q.placeAt(u.Height); err != nil {
				return err
			}
		}
		q.id(separator, u.Tx)
		q.num(`,"vout":`, uint64(u.Index))
		q.str(`,"status":`)
		q.status(at)
		q.num(`,"value":`, u.Value)
		q.str("}")
		if separator = `,{"txid":`; len(q.out) >= flushAt {
			if err := q.flush(); err != nil {
				return err
			}
		}
	}
	q.str("]")
	return nil
}

func addressPrefix(q *request) error {
	all, err := q.view.AddressesByPrefix(q.args[0], maxPrefix)
	if is(err, "not_kept") {
		return errorf(http.StatusBadRequest, "address search disabled")
	}
	if err != nil {
		return err
	}
	q.maxAge = shortly
	q.list(len(all), func(i int) { q.str(`"` + all[i] + `"`) })
	return nil
}
