package esplora

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"net/http"

	"birthmark/api/compat/script"
	"birthmark/api/compat/wallet"
	"birthmark/api/exchange"
	"birthmark/chains/tapyrus/coloredcoin"
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

// scriptKey names a script. If it has a color, it stands for the outputs with that color.
type scriptKey struct {
	wallet.Key
	color string
}

func (v *view) script(k scriptKey) (*wallet.Script, error) {
	if k.color == "" {
		return v.Script(k.Key)
	}
	return v.ScriptOf(k.Key, []byte(k.color))
}

// addressKey reads an address.
func (p *protocol) addressKey(text string) (k scriptKey, err error) {
	s, err := p.ScriptOfAddress(text)
	k.Key = sha256.Sum256(s)
	if p.tapyrus && err == nil {
		k.color = string(coloredcoin.ColorOf(text))
	}
	return k, err
}

// scriptHashKey reads a script hash.
func scriptHashKey(text string) (k scriptKey, err error) {
	b, err := hex.DecodeString(text)
	if err != nil {
		return k, errHex
	}
	if len(b) != len(k.Key) {
		return k, errorf(http.StatusBadRequest, "Invalid scripthash")
	}
	return scriptKey{Key: wallet.Key(b)}, nil
}

// aboutScript returns an answer about the script of the argument address or hash. Its lists move with the tip.
func (p *protocol) aboutScript(r *request, about func(*view, *wallet.Script) (any, error)) answer {
	text, isAddress := r.Arg("address")
	key := p.addressKey
	if !isAddress {
		text, _ = r.Arg("hash")
		key = scriptHashKey
	}
	k, err := key(text)
	if err != nil {
		r.Refuse(err)
	}
	return func(v *view) (any, error) {
		r.CacheFor(shortly)
		s, err := v.script(k)
		if err != nil {
			return nil, err
		}
		return about(v, s)
	}
}

func (p *protocol) scriptStats(r *request) answer {
	address, _ := r.Arg("address")
	hash, _ := r.Arg("hash")
	return p.aboutScript(r, func(_ *view, s *wallet.Script) (any, error) {
		if p.tapyrus {
			return coloredScriptOf(address, hash, s)
		}
		confirmed, unconfirmed, err := s.Stats()
		return &scriptValue{address, statsOf(confirmed), statsOf(unconfirmed), hash}, err
	})
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

// page are the parameters of lists of transactions of mempool.space's electrs.
type page struct {
	max         int // transactions in all; 0: the defaults
	after       *model.Hash
	unconfirmed bool // after is unconfirmed
}

func pageParams(r *request) page {
	p := page{max: limitParam(r, "max_txs", maxTxs, 0)}
	if id, ok := parseHash(r.Param("after_txid")); ok {
		p.after = &id
	}
	return p
}

// place finds the transaction after which a page begins.
func (p *page) place(v *view) error {
	if p.after == nil {
		return nil
	}
	at, err := v.Place(*p.after)
	if is(err, "unknown_tx") {
		return errNoAfter
	}
	p.unconfirmed = !at.Confirmed
	return err
}

// scriptTxs returns unconfirmed transactions in the order of arrival, then confirmed ones, newest first.
func (p *protocol) scriptTxs(r *request) answer {
	page := pageParams(r)
	return p.aboutScript(r, func(v *view, s *wallet.Script) (any, error) {
		if err := page.place(v); err != nil {
			return nil, err
		}
		most, left := mempoolTxs, txsPerPage
		if page.max > 0 {
			most = page.max
		}
		var ids []model.Hash
		after := page.after
		if after == nil || page.unconfirmed {
			ids, after = unconfirmedIDs(nil, s, after, most), nil
		}
		if page.max > 0 {
			left = page.max - len(ids)
		}
		ids, err := confirmedIDs(ids, s, after, left)
		if err != nil {
			return nil, err
		}
		return p.txs(v, ids)
	})
}

// confirmedTxs returns a page of confirmed transactions. The last one of the previous page is excluded; if it is not a
// confirmed transaction of the script, the page is empty, and if it is not a hash, it is the first page.
func (p *protocol) confirmedTxs(r *request) answer {
	last := lastArg(r)
	return p.aboutScript(r, func(v *view, s *wallet.Script) (any, error) {
		ids, err := confirmedIDs(nil, s, last, txsPerPage)
		if err != nil {
			return nil, err
		}
		return p.txs(v, ids)
	})
}

// lastArg returns the transaction of the argument last; nil if it is absent or not a hash.
func lastArg(r *request) *model.Hash {
	text, _ := r.Arg("last")
	if id, ok := parseHash(text); ok {
		return &id
	}
	return nil
}

func (p *protocol) unconfirmedTxs(r *request) answer {
	return p.aboutScript(r, func(v *view, s *wallet.Script) (any, error) {
		return p.txs(v, unconfirmedIDs(nil, s, nil, mempoolTxs))
	})
}

// summary returns the net change that each confirmed transaction makes to a script, newest first.
func (p *protocol) summary(r *request) answer {
	page := summaryParams(r)
	return p.aboutScript(r, func(v *view, s *wallet.Script) (any, error) {
		if err := page.place(v); err != nil {
			return nil, err
		}
		return v.changes(s.History(page.after, true), page.max), nil
	})
}

func summaryParams(r *request) page {
	return page{max: limitParam(r, "max_txs", maxSummary, maxSummary), after: lastArg(r)}
}

// changes lists the net changes of up to most transactions.
func (v *view) changes(history iter.Seq2[wallet.Entry, error], most int) any {
	return exchange.List(func(yield func(changeValue, error) bool) {
		n := most
		for e, err := range history {
			var at wallet.Place
			if err == nil {
				at, err = v.placeAt(e.Height)
			}
			change := changeValue{script.Hash(e.Tx), e.Height, int64(e.Received) - int64(e.Sent), at.BlockTime, e.Position}
			if n--; !yield(change, err) || n == 0 {
				return
			}
		}
	})
}

// unspent returns all unspent outputs.
func (p *protocol) unspent(r *request) answer {
	return p.aboutScript(r, func(v *view, s *wallet.Script) (any, error) {
		return exchange.List(func(yield func(unspentValue, error) bool) {
			for u, err := range s.Unspent() {
				var at wallet.Place
				if err == nil && u.Height > 0 {
					at, err = v.placeAt(u.Height)
				}
				if !yield(unspentValue{script.Hash(u.Tx), u.Index, statusOf(at), u.Value, p.colorText([]byte(u.Color))}, err) {
					return
				}
			}
		}), nil
	})
}

func addressPrefix(r *request) answer {
	prefix, _ := r.Arg("prefix")
	return func(v *view) (any, error) {
		all, err := v.AddressesByPrefix(prefix, maxPrefix)
		if is(err, "not_kept") {
			return nil, errorf(http.StatusBadRequest, "address search disabled")
		}
		if err != nil {
			return nil, err
		}
		r.CacheFor(shortly)
		return append([]string{}, all...), nil
	}
}
