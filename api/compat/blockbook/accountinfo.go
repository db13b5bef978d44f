package blockbook

import (
	"cmp"
	"slices"
	"time"

	"birthmark/api/compat/wallet"
	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// details is how much an answer about an account has. Each level has the levels before it.
type details int

const (
	detailsBasic details = iota
	detailsTokens
	detailsTokenBalances
	detailsTxIDs
	detailsTxsLight
	detailsTxs
)

var detailsNames = map[string]details{
	"basic": detailsBasic, "tokens": detailsTokens, "tokenBalances": detailsTokenBalances,
	"txids": detailsTxIDs, "txslight": detailsTxsLight, "txs": detailsTxs,
}

// tokenFilter selects addresses of an extended key.
type tokenFilter int

const (
	tokensNonzero tokenFilter = iota // with a confirmed balance
	tokensUsed                       // with confirmed transactions
	tokensDerived                    // all
)

var tokenFilters = map[string]tokenFilter{"nonzero": tokensNonzero, "used": tokensUsed, "derived": tokensDerived}

// direction selects transactions of an account.
type direction int

const (
	anyDirection direction = iota
	inputsOnly             // that spend from it
	outputsOnly            // that pay to it
)

var directions = map[string]direction{"inputs": inputsOnly, "outputs": outputsOnly}

// accountRequest are the parameters of a question about an account.
type accountRequest struct {
	descriptor     string
	details        details
	tokens         tokenFilter
	page, pageSize int    // page from 0
	from, to       uint32 // heights, inclusive; to 0: no limit
	direction      direction
	gap            int // 0: the default
}

func (r *accountRequest) filtered() bool {
	return r.from > 0 || r.to > 0 || r.direction != anyDirection
}

func (r *accountRequest) matches(e *wallet.Entry) bool {
	switch r.direction {
	case inputsOnly:
		return e.Sent > 0
	case outputsOnly:
		return e.Received > 0
	}
	return true
}

// accountInfo answers a question about an account.
func (s *Server) accountInfo(q *question, r *accountRequest) (*accountInfo, error) {
	h, err := s.holder(q, r.descriptor, r.gap)
	if err != nil {
		return nil, err
	}
	t := h.totals()
	a := &accountInfo{
		Address: h.name, Balance: t.FundedSum - t.SpentSum, TotalReceived: t.FundedSum, TotalSent: t.SpentSum, Txs: t.Txs,
	}
	if h.isAccount {
		a.AddrTxCount = t.Txs
		for i := range h.members {
			if h.members[i].confirmed.Txs > 0 {
				a.UsedTokens++
			}
		}
	}
	var pending []wallet.Entry
	if r.to == 0 {
		pending = h.pending()
		a.setPending(h, pending)
	}
	if r.details >= detailsTxIDs {
		if err := s.list(q.View, h, r, pending, a); err != nil {
			return nil, err
		}
	}
	if h.isAccount && r.details > detailsBasic {
		a.Tokens = h.tokens(r)
	}
	return a, nil
}

// setPending sets the sums of unconfirmed transactions.
func (a *accountInfo) setPending(h *holder, pending []wallet.Entry) {
	var received, sent uint64
	for i := range pending {
		received += pending[i].Received
		sent += pending[i].Sent
	}
	a.UnconfirmedTxs, a.UnconfirmedBalance = len(pending), int64(received-sent)
	if h.isAccount {
		return
	}
	if received > 0 {
		a.UnconfirmedReceiving = &received
	}
	if sent > 0 {
		a.UnconfirmedSending = &sent
	}
}

// list adds a page of transactions: the unconfirmed ones on the first page, newest first, at most a page of them, and
// the confirmed ones, newest first.
func (s *Server) list(v *wallet.View, h *holder, r *accountRequest, pending []wallet.Entry, a *accountInfo) error {
	var ids []model.Hash
	if r.page == 0 && r.from == 0 {
		ids = newest(v, h, r, pending)
	}
	confirmed, err := h.page(r, a)
	if err != nil {
		return err
	}
	for i := range confirmed {
		ids = append(ids, confirmed[i].Tx)
	}
	if r.details == detailsTxIDs {
		for _, id := range ids {
			a.TxIDs = append(a.TxIDs, block.FormatHash(id))
		}
		return nil
	}
	a.Transactions, err = s.transactions(v, ids, form{light: r.details == detailsTxsLight, own: h.addresses()})
	return err
}

// newest returns a page of unconfirmed transactions.
func newest(v *wallet.View, h *holder, r *accountRequest, pending []wallet.Entry) []model.Hash {
	var ids []model.Hash
	for i := len(pending) - 1; i >= 0; i-- {
		if r.matches(&pending[i]) {
			ids = append(ids, pending[i].Tx)
		}
	}
	if len(h.members) > 1 && len(ids) > 1 { // the order of arrival is known only within a member
		seen := make(map[model.Hash]time.Time, len(ids))
		for _, id := range ids {
			seen[id] = v.Seen(id)
		}
		slices.SortStableFunc(ids, func(a, b model.Hash) int { return seen[b].Compare(seen[a]) })
	}
	return ids[:min(len(ids), r.pageSize)]
}

// tokens returns the addresses of an account.
func (h *holder) tokens(r *accountRequest) (list []token) {
	for i := range h.members {
		m := &h.members[i]
		balance := m.confirmed.FundedSum - m.confirmed.SpentSum
		if r.tokens == tokensUsed && m.confirmed.Txs == 0 || r.tokens == tokensNonzero && balance == 0 {
			continue
		}
		t := token{
			Type: "XPUBAddress", Standard: "XPUBAddress", Name: m.address, Path: m.path,
			Transfers: m.confirmed.Txs, Decimals: decimals,
		}
		if r.details >= detailsTokenBalances && m.confirmed.Txs > 0 {
			t.Balance, t.TotalReceived, t.TotalSent = &balance, &m.confirmed.FundedSum, &m.confirmed.SpentSum
		}
		list = append(list, t)
	}
	return list
}

// pending returns the unconfirmed transactions of all members, each once with its sums, in the order of arrival of each
// member.
func (h *holder) pending() (all []wallet.Entry) {
	at := map[model.Hash]int{}
	for i := range h.members {
		for _, e := range h.members[i].Mempool() {
			if known, ok := at[e.Tx]; ok {
				all[known].Received += e.Received
				all[known].Sent += e.Sent
				continue
			}
			at[e.Tx] = len(all)
			all = append(all, e)
		}
	}
	return all
}

// page returns a page of confirmed transactions and sets the paging of the answer. A page after the last one is the
// last one. If filters hide transactions, the number of pages is -1, which means unknown, unless the page is not full.
func (h *holder) page(r *accountRequest, a *accountInfo) ([]wallet.Entry, error) {
	if !h.isAccount && !r.filtered() {
		from, to, p := pageOf(int(a.Txs), r.page, r.pageSize)
		a.paging = p
		return h.members[0].entries(&accountRequest{}, from, to)
	}
	var found []wallet.Entry
	var err error
	if h.isAccount {
		var all []wallet.Entry
		if all, err = h.merged(); err != nil {
			return nil, err
		}
		a.Txs = uint64(len(all))
		for i := range all {
			if e := &all[i]; r.matches(e) && e.Height >= r.from && (r.to == 0 || e.Height <= r.to) {
				found = append(found, *e)
			}
		}
	} else if found, err = h.members[0].entries(r, 0, (r.page+1)*r.pageSize); err != nil {
		return nil, err
	}
	from, to, p := pageOf(len(found), r.page, r.pageSize)
	if r.filtered() && len(found) >= r.pageSize {
		p.TotalPages = -1
	}
	a.paging = p
	return found[from:to], nil
}

// pageOf returns the bounds of a page of count items, and its position.
func pageOf(count, page, size int) (from, to int, p paging) {
	last := max(count-1, 0) / size
	page = min(page, last)
	from = page * size
	return from, min(from+size, count), paging{Page: page + 1, TotalPages: last + 1, ItemsOnPage: size}
}

// entries returns the confirmed transactions of a member, newest first, that a request selects: those from a number on
// up to another one.
func (m *member) entries(r *accountRequest, from, to int) (list []wallet.Entry, err error) {
	n := 0
	for e, err := range m.History(nil, true) {
		if err != nil {
			return nil, err
		}
		if e.Height < r.from || n == to {
			break
		}
		if r.to > 0 && e.Height > r.to || !r.matches(&e) {
			continue
		}
		if n >= from {
			list = append(list, e)
		}
		n++
	}
	return list, nil
}

// merged returns the confirmed transactions of all members, each once with its sums, newest first. The error is of kind
// Usage if they are more than maxEntries.
func (h *holder) merged() (all []wallet.Entry, err error) {
	for i := range h.members {
		if h.members[i].confirmed.Txs == 0 {
			continue
		}
		for e, err := range h.members[i].History(nil, true) {
			if err != nil {
				return nil, err
			}
			if all = append(all, e); len(all) > maxEntries {
				return nil, tooMany("transactions")
			}
		}
	}
	slices.SortStableFunc(all, func(a, b wallet.Entry) int {
		return cmp.Or(cmp.Compare(b.Height, a.Height), cmp.Compare(b.Position, a.Position))
	})
	once := all[:0]
	for _, e := range all {
		if n := len(once); n > 0 && once[n-1].Tx == e.Tx && once[n-1].Height == e.Height {
			once[n-1].Received += e.Received
			once[n-1].Sent += e.Sent
			continue
		}
		once = append(once, e)
	}
	return once, nil
}

// maxEntries bounds lists that are not pages.
const maxEntries = 500_000

func tooMany(what string) error {
	return model.Errorf(model.Usage, "too_many", "the account has more than %d %s, the limit of this request", maxEntries, what)
}
