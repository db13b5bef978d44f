package explorer

import (
	"cmp"
	"context"
	"slices"

	"birthmark/api/explorer/format"
	"birthmark/core/query"
	"birthmark/model"
)

// subjectIndex is the index of the names in certificates, votes and proposals, of the preset blockfrost.
const subjectIndex = "subject"

// Values of the index for all transactions of a kind.
const allProposals = "proposal"

var drepCertificates = []string{"reg_drep", "update_drep", "unreg_drep"}
var committeeCertificates = []string{"auth_committee_hot", "resign_committee_cold"}

const (
	governanceTxs  = 20 // transactions per page of a list
	proposalsPerTx = 3  // of a list
	newestNamed    = 5  // newest transactions of each kind on the overview
)

// governs returns the governance of the chain; nil: it has none.
func (v *visit) governs() model.GovernanceReader {
	g, _ := v.chain.Model.(model.GovernanceReader)
	return g
}

// linksGovernance reports whether pages link to the pages of governance: without the index of names these have little.
func (v *visit) linksGovernance() bool {
	if v.governs() == nil || v.View == nil {
		return false
	}
	if v.governed == nil {
		has, err := v.hasSubjects()
		v.governed, v.fault = &has, cmp.Or(v.fault, err)
	}
	return *v.governed
}

// governanceURL returns the path of the page of a governance action, or of a voter other than a pool; empty: no page links
// to it.
func (v *visit) governanceURL(name string) string {
	if !v.linksGovernance() {
		return ""
	}
	g := v.governs()
	_, _, is := g.ParseAction(name)
	if role := g.VoterRole(name); is || role != "" && role != model.StakePool {
		return v.URL("governance", name)
	}
	return ""
}

// governanceBody is the governance actions of a chain.
type governanceBody struct {
	Missing     bool // the index
	Proposals   []proposalRow
	Pager       pager
	Whole       bool // the first page
	DReps       []eventRow
	Committee   []eventRow
	Late        bool // a list takes too long
	NoProposals bool
}

// certificates is the data of a template.
type certificates struct {
	V    *visit
	Rows []eventRow
}

// proposalRow is a proposal in the list.
type proposalRow struct {
	Action link
	Type   string
	Tx     link
	Time   int64
	More   int // other proposals of the transaction, which are not in the list
}

// governance is the list of governance actions, newest first.
func (v *visit) governance() (*page, error) {
	if v.governs() == nil {
		return nil, model.Errorf(model.NotFound, "unknown_page", "%s has no governance", titleOf(v.chain.Model))
	}
	b := &governanceBody{Whole: v.query("after") == ""}
	p := &page{Kind: "governance", Title: "Governance", Section: "governance", Body: b, Crumbs: []link{{Text: "Governance"}}, LacksRaw: v.lacksRaw(),
		Description: "Governance actions, representatives and the committee of " + titleOf(v.chain.Model) + "."}
	has, err := v.hasSubjects()
	if b.Missing = !has; err != nil || !has {
		return p, err
	}
	at := v.cursor(governanceTxs)
	txs, next, late, err := v.newestNaming(allProposals, at)
	if err != nil {
		return nil, err
	}
	for _, tx := range txs {
		for i := range tx.Proposals {
			if i == proposalsPerTx {
				b.Proposals[len(b.Proposals)-1].More = len(tx.Proposals) - i
				break
			}
			a := &tx.Proposals[i]
			b.Proposals = append(b.Proposals, proposalRow{link{v.URL("governance", a.Action), a.Action}, format.Words(a.Type), v.TxLink(tx.Hash), tx.Time, 0})
		}
	}
	b.Pager, b.Late = cursorPager(v.URL("governance"), at, next), late
	b.NoProposals = len(b.Proposals) == 0 && !late
	if !b.Whole {
		return p, nil
	}
	if b.DReps, err = v.newestOf(drepCertificates); err != nil {
		return nil, err
	}
	b.Committee, err = v.newestOf(committeeCertificates)
	return p, err
}

// hasSubjects reports whether the database has the index of names.
func (v *visit) hasSubjects() (bool, error) {
	states, err := v.IndexStates(v.ctx)
	return slices.ContainsFunc(states, func(x query.IndexState) bool { return x.Name == subjectIndex && !x.Dropping && x.AddedTo == nil }), err
}

// newestNaming reads a page of the valid transactions that name something. late: they take too long.
func (v *visit) newestNaming(name string, at query.Page) (txs []*query.TxAnswer, next *string, late bool, err error) {
	late, err = v.within(blockPatience, func(ctx context.Context) error {
		txs, next, err = v.txsNaming(ctx, name, at)
		return err
	})
	return txs, next, late, err
}

// txsNaming returns a page of the valid transactions that name something.
func (v *visit) txsNaming(ctx context.Context, name string, at query.Page) (txs []*query.TxAnswer, next *string, err error) {
	found, err := v.Find(ctx, subjectIndex, name, query.Terms{}, at)
	if err != nil {
		return nil, nil, err
	}
	hashes := make([]string, len(found.Outputs))
	for i := range found.Outputs {
		hashes[i] = found.Outputs[i].Tx
	}
	if txs, err = v.Txs(ctx, hashes); err != nil {
		return nil, nil, err
	}
	txs = slices.DeleteFunc(txs, func(tx *query.TxAnswer) bool { return tx == nil || tx.Valid != nil && !*tx.Valid })
	return txs, found.Next, nil
}

// newestOf returns the newest certificates of some types.
func (v *visit) newestOf(types []string) (rows []eventRow, err error) {
	d := v.detailer()
	for _, name := range types {
		txs, _, late, err := v.newestNaming(name, query.Page{Limit: newestNamed, Descending: true})
		if err != nil || late {
			return nil, err
		}
		n := 0
		for _, tx := range txs {
			for i := range tx.Certificates {
				if c := &tx.Certificates[i]; c.Type == name && n < newestNamed {
					n++
					rows = append(rows, eventRow{What: format.Words(c.Type), Fields: d.Certificate(c), Tx: v.TxLink(tx.Hash), Height: tx.Height, Time: tx.Time})
				}
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b eventRow) int { return int(b.Height) - int(a.Height) })
	return rows[:min(len(rows), newestNamed)], nil
}
