package explorer

import (
	"context"
	"slices"

	"birthmark/api/explorer/details"
	"birthmark/api/explorer/format"
	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

const (
	countedTxs      = 10_000 // transactions of the votes, or withdrawals, that a page counts within blockPatience
	votesAtOnce     = 100    // transactions that are read together
	votesShown      = 40     // votes per page
	paymentsShown   = 30     // payments of a proposal
	delegatorsShown = 30     // accounts that delegate to a representative
)

// partyBody is a governance action, or a voter.
type partyBody struct {
	Heading string
	Name    string
	Missing bool // the index
	Facts   []details.Field
	Stats   []stat
	Note    string // about the facts
	Text    string // about the outcome
	Pays    []payment
	MorePay int

	Tally        []tallyRow // votes on an action by role
	Late         bool       // there are too many votes, or they take too long
	Votes        []voteRow
	By           bool // the votes are those of the voter
	MoreVotes    int
	Certificates []eventRow
	Pager        pager
	Index        link // page of the index; empty: no transaction names it

	Delegators     []link
	MoreDelegators int
	Unused         bool
}

// payment is an amount that a proposal withdraws from the treasury.
type payment struct {
	To     link
	Amount amount
}

// tallyRow is the votes of a role.
type tallyRow struct {
	Role             string
	Yes, No, Abstain int
}

// voteRow is a vote.
type voteRow struct {
	Of       link // the voter, or the action
	Role     string
	Choice   string
	Replaced bool // by a later vote
	Tx       link
	Time     int64
}

// party is the page of a governance action or of a voter.
func (v *visit) party() (*page, error) {
	name := v.req.PathValue("name")
	g := v.governs()
	if g == nil {
		return nil, model.Errorf(model.NotFound, "unknown_page", "%s has no governance", titleOf(v.chain.Model))
	}
	b := &partyBody{Name: name}
	p := &page{Kind: "party", Section: "governance", Body: b, LacksRaw: v.lacksRaw()}
	tx, number, isAction := g.ParseAction(name)
	role := g.VoterRole(name)
	switch {
	case isAction:
		b.Heading = "Governance action"
		if err := v.proposal(b, v.chain.Model.FormatHash(tx), number); err != nil {
			return nil, err
		}
	case role != "":
		b.Heading, b.By = format.Capital(string(role)), true
		if role == model.CommitteeColdKey {
			b.Heading = "Committee member"
		}
		if err := v.voterState(b); err != nil {
			return nil, err
		}
	default:
		return nil, model.Errorf(model.NotFound, "unknown_party", "%q is no governance action and no voter: expected an id such as gov_action1…, drep1…, pool1… or cc_hot1…", name)
	}
	if name != b.Name {
		return &page{Location: v.URL("governance", b.Name)}, nil
	}
	p.Title = b.Heading + " " + format.Short(name)
	p.Description = b.Heading + " " + format.Short(name) + " of " + titleOf(v.chain.Model) + ": votes and certificates."
	p.Crumbs = []link{{v.URL("governance"), "Governance"}, {Text: format.Short(name)}}
	has, err := v.hasSubjects()
	if b.Missing = !has; err != nil || !has {
		return p, err
	}
	p.Follow = v.following(subjectIndex, name)
	return p, v.addVotes(b)
}

// proposal adds the facts of a proposal.
func (v *visit) proposal(b *partyBody, hash string, number int) error {
	tx, err := v.Tx(v.ctx, hash)
	if err != nil {
		return err
	}
	if b.Facts = []details.Field{{Name: "transaction", Text: hash, URL: v.TxLink(hash).URL}}; v.lacksRaw() {
		return nil
	}
	if number >= len(tx.Proposals) || tx.Valid != nil && !*tx.Valid {
		return model.Errorf(model.NotFound, "unknown_proposal", "transaction %s has no proposal %d", hash, number)
	}
	a := &tx.Proposals[number]
	b.Name = a.Action // of several forms of the id
	b.Heading = format.Capital(format.Words(a.Type))
	d := v.detailer()
	b.Facts = append(d.Proposal(a)[1:], b.Facts...)
	at := v.Moment(tx.Time)
	b.Facts = append(b.Facts, details.Field{Name: "proposed", Text: at.Clock + ", in block " + humanize.Count(tx.Height), URL: v.HeightLink(tx.Height).URL})
	if epoch, ok, err := v.epochOf(tx.Height); err != nil {
		return err
	} else if ok {
		b.Facts = append(b.Facts, details.Field{Name: epoch.Name, Text: humanize.Count(epoch.Number)})
	}
	for i, w := range a.Withdrawals {
		if i == paymentsShown {
			b.MorePay = len(a.Withdrawals) - i
			break
		}
		b.Pays = append(b.Pays, payment{link{d.Stake(w.Address), w.Address}, v.Amount(w.Amount)})
	}
	b.Text = "Blocks do not state the outcome: at the end of each epoch, the ledger counts the votes by stake."
	return nil
}

// epochOf returns the period of the block at a height; ok is false if the chain has none.
func (v *visit) epochOf(height uint32) (p model.Period, ok bool, err error) {
	r, is := v.chain.Model.(model.PeriodReporter)
	if !is {
		return p, false, nil
	}
	row, err := v.header(model.HeightPk(height))
	if err != nil {
		return p, false, err
	}
	return r.Period(model.HeightPk(height), row.Header)
}

// voterState adds the state that the node has of a representative, if it answers in time.
func (v *visit) voterState(b *partyBody) error {
	node, ok := v.chain.Node.(model.VoterReader)
	if !ok {
		return nil
	}
	var s *model.VoterState
	_, err := v.within(nodePatience, func(ctx context.Context) (err error) {
		s, err = node.VoterState(ctx, b.Name)
		return err
	})
	if err != nil || s == nil {
		return v.ctx.Err() // a node that restarts, or cannot do this
	}
	b.Note = "As the node has it now."
	registered := "no"
	if s.Registered {
		registered = "yes"
	}
	b.Stats = []stat{{Name: "Registered", Value: registered}}
	if s.Registered {
		active := stat{Name: "Active", Value: "yes", Note: "up to epoch " + humanize.Count(s.Expires)}
		if s.Expired {
			active.Value = "no"
		}
		b.Stats = append(b.Stats, active)
	}
	b.Stats = append(b.Stats, stat{Name: "Voting power", Amount: v.Amount(s.Power).Coarse()})
	if s.Delegators != nil {
		b.Stats = append(b.Stats, stat{Name: "Delegators", Value: humanize.Count(len(s.Delegators))})
	}
	d := v.detailer()
	for i, account := range s.Delegators {
		if i == delegatorsShown {
			b.MoreDelegators = len(s.Delegators) - i
			break
		}
		b.Delegators = append(b.Delegators, link{d.Stake(account), account})
	}
	return nil
}

// addVotes adds the votes and the certificates of a page of the transactions that name the party, newest first, and on the
// first page how all of them voted.
func (v *visit) addVotes(b *partyBody) error {
	at := v.cursor(governanceTxs)
	txs, next, late, err := v.newestNaming(b.Name, at)
	if err != nil {
		return err
	}
	b.Pager, b.Late = cursorPager(v.URL("governance", b.Name), at, next), late
	if len(txs) > 0 {
		b.Index = v.ValueLink(subjectIndex, b.Name)
	} else if at.After == "" && !late {
		b.Unused = true
		return nil
	}
	d := v.detailer()
	for _, tx := range txs {
		for i := range tx.Certificates {
			c := &tx.Certificates[i]
			if names(c, b.Name) && len(b.Certificates) < governanceTxs {
				b.Certificates = append(b.Certificates, eventRow{format.Words(c.Type), d.Certificate(c), v.TxLink(tx.Hash), tx.Height, tx.Time})
			}
		}
		for i := range tx.Votes {
			vote := &tx.Votes[i]
			row := voteRow{Choice: vote.Choice, Tx: v.TxLink(tx.Hash), Time: tx.Time}
			switch b.Name {
			case vote.Voter:
				row.Of = link{v.governanceURL(vote.Action), vote.Action}
			case vote.Action:
				row.Of, row.Role = link{v.partyURL(vote.Voter), vote.Voter}, string(v.governs().VoterRole(vote.Voter))
			default:
				continue
			}
			if len(b.Votes) == votesShown {
				b.MoreVotes++
				continue
			}
			b.Votes = append(b.Votes, row)
		}
	}
	if at.After != "" || late {
		return nil
	}
	return v.tally(b)
}

// partyURL returns the path of the page of a voter; empty: no page links to it.
func (v *visit) partyURL(voter string) string {
	if !v.linksGovernance() || v.governs().VoterRole(voter) == "" {
		return ""
	}
	return v.URL("governance", voter)
}

// names reports whether a certificate names a party.
func names(c *model.Certificate, name string) bool {
	return slices.Contains([]string{c.StakeAddress, c.Pool, c.DRep, c.Credential, c.HotCredential, c.RewardAddress}, name) || slices.Contains(c.Owners, name)
}

// roles are the roles in the order of the page.
var roles = []model.VoterRole{model.CommitteeMember, model.Representative, model.StakePool}

// tally counts the last vote of each voter on an action, or of a voter on each action, by role. It is empty if there are
// too many votes, or they take too long: a part of them would be wrong.
func (v *visit) tally(b *partyBody) error {
	counts := map[model.VoterRole]*tallyRow{}
	for _, role := range roles {
		counts[role] = &tallyRow{Role: string(role)}
	}
	if b.By {
		counts[v.governs().VoterRole(b.Name)] = &tallyRow{}
	}
	type voting struct{ other, tx string }
	seen, last := map[string]bool{}, map[voting]bool{}
	many := false
	late, err := v.within(blockPatience, func(ctx context.Context) error {
		at := query.Page{Limit: votesAtOnce, Descending: true}
		for n := 0; ; n += votesAtOnce {
			if many = n >= countedTxs; many {
				return nil
			}
			txs, next, err := v.txsNaming(ctx, b.Name, at)
			if err != nil {
				return err
			}
			for _, tx := range txs {
				for i := range tx.Votes {
					vote := &tx.Votes[i]
					other := vote.Voter
					if b.By {
						other = vote.Action
					}
					if vote.Voter != b.Name && vote.Action != b.Name || seen[other] {
						continue
					}
					seen[other], last[voting{other, tx.Hash}] = true, true
					row := counts[v.governs().VoterRole(vote.Voter)]
					if row == nil {
						continue
					}
					switch vote.Choice {
					case "yes":
						row.Yes++
					case "no":
						row.No++
					default:
						row.Abstain++
					}
				}
			}
			if next == nil {
				return nil
			}
			at.After = *next
		}
	})
	if late || many || err != nil {
		b.Late = late || many
		return err
	}
	for i := range b.Votes {
		b.Votes[i].Replaced = !last[voting{b.Votes[i].Of.Text, b.Votes[i].Tx.Text}]
	}
	if len(seen) == 0 {
		return nil
	}
	list := roles
	if b.By {
		list = []model.VoterRole{v.governs().VoterRole(b.Name)}
	}
	for _, role := range list {
		b.Tally = append(b.Tally, *counts[role])
	}
	return nil
}
