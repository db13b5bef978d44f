package blockbook

import (
	"crypto/sha256"
	"strings"

	"birthmark/api/compat/account"
	"birthmark/api/compat/wallet"
	"birthmark/model"
)

// holder is an address, or the addresses of an extended key or a descriptor.
type holder struct {
	name      string // the address, or the key as requested
	isAccount bool
	members   []member
}

// member is an address of a holder.
type member struct {
	*wallet.Script
	key                wallet.Key
	address            string
	path               string // of an account's address
	confirmed, pending wallet.Stats
}

func keyOf(pkScript []byte) wallet.Key { return sha256.Sum256(pkScript) }

func newMember(v *wallet.View, address string, pkScript []byte) (m member, err error) {
	m.key, m.address = keyOf(pkScript), address
	if m.Script, err = v.Script(m.key); err != nil {
		return m, err
	}
	m.confirmed, m.pending, err = m.Stats()
	return m, err
}

// holder finds the addresses of a descriptor, which is an address, an extended key or an output descriptor. A gap of 0
// is the default. Errors are of kind [model.Usage].
func (s *Server) holder(q *question, descriptor string, gap int) (*holder, error) {
	if !account.Is(descriptor) {
		return s.address(q.View, descriptor)
	}
	a, done, err := s.accounts.Get(withoutChecksum(descriptor))
	if err != nil {
		return nil, err
	}
	defer done()
	if gap == 0 {
		gap = account.DefaultGap
	}
	h := &holder{name: descriptor, isAccount: true}
	found, err := a.Discover(gap, func(pkScript []byte) (bool, error) {
		if err := q.meter.Spend(derivePoints); err != nil {
			return false, err
		}
		m, err := newMember(q.View, s.chain.Address(pkScript), pkScript)
		h.members = append(h.members, m)
		return m.confirmed.Txs > 0 || m.pending.Txs > 0, err
	})
	for i := range h.members {
		if err == nil {
			h.members[i].path = a.Path(found[i].Branch, found[i].Index)
		}
	}
	return h, err
}

// derivePoints is the cost of deriving a script of an account, in points of [meter.Unit].
const derivePoints = 50

// withoutChecksum removes the checksum of a descriptor. Blockbook does not verify it, and that of Trezor Suite belongs to
// the descriptor with h in the place of '.
func withoutChecksum(descriptor string) string {
	const digits = 8
	if body, sum, _ := strings.Cut(descriptor, "#"); len(sum) == digits {
		return body
	}
	return descriptor
}

func (s *Server) address(v *wallet.View, address string) (*holder, error) {
	pkScript, err := s.chain.ScriptOfAddress(address)
	if err != nil {
		_, code := model.KindOf(err)
		return nil, model.Errorf(model.Usage, code, "Invalid address, %w", err)
	}
	if normal := s.chain.Address(pkScript); normal != "" {
		address = normal
	}
	m, err := newMember(v, address, pkScript)
	return &holder{name: address, members: []member{m}}, err
}

// totals returns the sums of all members over the confirmed chain.
func (h *holder) totals() (t wallet.Stats) {
	for i := range h.members {
		c := &h.members[i].confirmed
		t.Txs += c.Txs
		t.Funded += c.Funded
		t.Spent += c.Spent
		t.FundedSum += c.FundedSum
		t.SpentSum += c.SpentSum
	}
	return t
}

// addresses returns the set of a holder's addresses.
func (h *holder) addresses() map[string]struct{} {
	set := make(map[string]struct{}, len(h.members))
	for i := range h.members {
		set[h.members[i].address] = struct{}{}
	}
	return set
}
