package actions

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"birthmark/api/compat/blockfrost/exchange"
	"birthmark/api/compat/blockfrost/state"
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/body"
	"birthmark/model"
)

// Subjects of all transactions of a kind, as the field subjects has them.
const (
	proposal      = "proposal"
	committeeVote = "committee_vote"
)

// votes returns the votes of a transaction that match.
func votes(match func(*body.Vote) bool) func(*exchange.Decoded) []body.Vote {
	return func(d *exchange.Decoded) (all []body.Vote) {
		if d.Failed {
			return nil
		}
		for _, v := range d.Parts.ReadVotes() {
			if match(&v) {
				all = append(all, v)
			}
		}
		return all
	}
}

func by(voter string) func(*body.Vote) bool {
	return func(v *body.Vote) bool { return v.Voter == voter }
}

// PoolVotes answers the votes of a pool.
func PoolVotes(q *exchange.Request) error {
	id, err := pool(q)
	if err != nil {
		return err
	}
	found, hashes, err := page(q, id, votes(by(id)))
	if err != nil {
		return err
	}
	type vote struct {
		TxHash    string `json:"tx_hash"`
		CertIndex int    `json:"cert_index"`
		Vote      string `json:"vote"`
	}
	all := []vote{}
	for i, e := range found {
		all = append(all, vote{hashes[i], e.part.Place, body.Choices[e.part.Choice]})
	}
	q.Answer = all
	return nil
}

// DRepVotes answers the votes of a DRep. The lists of one that is not known are empty.
func DRepVotes(q *exchange.Request) error {
	id := q.Args[0]
	found, hashes, err := page(q, id, votes(by(id)))
	if err != nil {
		return err
	}
	type vote struct {
		TxHash    string `json:"tx_hash"`
		CertIndex int    `json:"cert_index"`
		Proposal  string `json:"proposal_id"`
		Tx        string `json:"proposal_tx_hash"`
		Index     uint64 `json:"proposal_cert_index"`
		Vote      string `json:"vote"`
	}
	all := []vote{}
	for i, e := range found {
		v := e.part
		all = append(all, vote{hashes[i], v.Place, v.Action, hex.EncodeToString(v.Tx), v.Index, body.Choices[v.Choice]})
	}
	q.Answer = all
	return nil
}

// DRepUpdates answers the certificates of a DRep.
func DRepUpdates(q *exchange.Request) error {
	id := q.Args[0]
	type update struct {
		TxHash    string  `json:"tx_hash"`
		CertIndex int     `json:"cert_index"`
		Action    string  `json:"action"`
		Deposit   *string `json:"deposit"` // null: not a registration
	}
	actions := map[string]string{"reg_drep": "registered", "unreg_drep": "deregistered", "update_drep": "updated"}
	found, hashes, err := page(q, id, func(d *exchange.Decoded) (all []update) {
		for i, c := range d.Details.Certificates {
			if action := actions[c.Type]; action != "" && c.DRep == id {
				u := update{CertIndex: i, Action: action}
				if c.Type == "reg_drep" {
					u.Deposit = exchange.Text(c.Deposit)
				}
				all = append(all, u)
			}
		}
		return all
	})
	if err != nil {
		return err
	}
	all := []update{}
	for i, e := range found {
		e.part.TxHash = hashes[i]
		all = append(all, e.part)
	}
	q.Answer = all
	return nil
}

// CommitteeVotes answers the votes of all committee members.
func CommitteeVotes(q *exchange.Request) error {
	return committeeVotes(q, committeeVote, func(v *body.Vote) bool { return strings.HasPrefix(v.Voter, address.CommitteeHot) })
}

// MemberVotes answers the votes of a hot credential of the committee, or those of all hot credentials that a cold one has
// authorized.
func MemberVotes(q *exchange.Request) error {
	id := q.Args[0]
	if strings.HasPrefix(id, address.CommitteeHot) {
		return committeeVotes(q, id, by(id))
	}
	hot := map[string]bool{}
	authorized := func(d *exchange.Decoded) (all []string) {
		for _, c := range d.Details.Certificates {
			if c.Credential == id && c.HotCredential != "" {
				all = append(all, c.HotCredential)
			}
		}
		return all
	}
	for e, err := range entries(q, id, authorized, nil, false) {
		if err != nil {
			return err
		}
		hot[e.part] = true
	}
	return committeeVotes(q, committeeVote, func(v *body.Vote) bool { return hot[v.Voter] })
}

func committeeVotes(q *exchange.Request, subject string, match func(*body.Vote) bool) error {
	found, hashes, err := page(q, subject, votes(match))
	if err != nil {
		return err
	}
	type vote struct {
		TxHash         string  `json:"tx_hash"`
		Voter          string  `json:"voter_hot_id"`
		Proposal       string  `json:"proposal_id"`
		Tx             string  `json:"proposal_tx_hash"`
		Index          uint64  `json:"proposal_index"`
		GovernanceType string  `json:"governance_type"`
		Vote           string  `json:"vote"`
		URL            *string `json:"metadata_url"`
		Hash           *string `json:"metadata_hash"`
		BlockHeight    uint32  `json:"block_height"`
		BlockTime      int64   `json:"block_time"`
	}
	all := []vote{}
	for i, e := range found {
		v := e.part
		p, err := proposalAt(q, v.Tx, v.Index)
		if errors.Is(err, exchange.ErrNotFound) { // of a later era: Blockfrost has no type for it
			continue
		}
		if err != nil {
			return fmt.Errorf("the proposal of a vote in %s: %w", hashes[i], err)
		}
		all = append(all, vote{
			hashes[i], v.Voter, v.Action, hex.EncodeToString(v.Tx), v.Index, body.Actions[p.Kind], body.Choices[v.Choice], v.URL,
			exchange.HexText(v.Hash), uint32(e.tx.Height()), q.PointAt(e.tx.Height()).Time,
		})
	}
	q.Answer = all
	return nil
}

// proposalAt returns a proposal of a transaction. One of a kind that this version does not know is not found.
func proposalAt(q *exchange.Request, tx []byte, index uint64) (p body.Proposal, err error) {
	found, err := q.Q.TxPks([]model.Hash{model.Hash(tx)})
	if err != nil {
		return p, err
	}
	if len(found[0]) == 0 {
		return p, exchange.ErrNotFound
	}
	d, err := q.DecodeTx(found[0][0])
	if err != nil {
		return p, err
	}
	if d.Failed || index >= uint64(len(d.Parts.Proposals)) {
		return p, exchange.ErrNotFound
	}
	p, ok := body.ReadProposal(d.Parts.Proposals[index])
	if !ok {
		return p, exchange.ErrNotFound
	}
	return p, nil
}

// action returns the governance action of the path: a transaction with a number, or an id.
func action(q *exchange.Request) (tx []byte, index uint64, err error) {
	if len(q.Args) == 1 {
		tx, index, _ := address.ParseAction(q.Args[0]) // its form is known
		return tx, index, nil
	}
	hash, ok := exchange.ReadHash(q.Args[0])
	if !ok {
		return nil, 0, exchange.ErrNotFound
	}
	index, err = strconv.ParseUint(q.Args[1], 10, 16)
	if err != nil {
		return nil, 0, exchange.ErrNotFound
	}
	return hash[:], index, nil
}

// Proposals answers all proposals.
func Proposals(q *exchange.Request) error {
	type proposed struct {
		ID        string `json:"id"`
		TxHash    string `json:"tx_hash"`
		CertIndex int    `json:"cert_index"`
		Type      string `json:"governance_type"`
	}
	found, hashes, err := page(q, proposal, func(d *exchange.Decoded) (all []proposed) {
		if d.Failed {
			return nil
		}
		for i, item := range d.Parts.Proposals {
			if p, ok := body.ReadProposal(item); ok {
				all = append(all, proposed{CertIndex: i, Type: body.Actions[p.Kind]})
			}
		}
		return all
	})
	if err != nil {
		return err
	}
	all := []proposed{}
	for i, e := range found {
		hash, err := hex.DecodeString(hashes[i])
		if err != nil {
			return err
		}
		e.part.ID, e.part.TxHash = address.FormatAction(hash, uint64(e.part.CertIndex)), hashes[i]
		all = append(all, e.part)
	}
	q.Answer = all
	return nil
}

// ProposalParameters answers the protocol parameters that a proposal changes. Proposals of other kinds are not found.
func ProposalParameters(q *exchange.Request) error {
	tx, index, err := action(q)
	if err != nil {
		return err
	}
	p, err := proposalAt(q, tx, index)
	if err == nil && p.Update == nil {
		err = exchange.ErrNotFound
	}
	if err != nil {
		return err
	}
	changed, err := state.Update(p.Update)
	q.Answer = struct {
		ID         string         `json:"id"`
		TxHash     string         `json:"tx_hash"`
		CertIndex  uint64         `json:"cert_index"`
		Parameters map[string]any `json:"parameters"`
	}{address.FormatAction(tx, index), hex.EncodeToString(tx), index, changed}
	return err
}

// ProposalWithdrawals answers the amounts that a proposal withdraws from the treasury, by account.
func ProposalWithdrawals(q *exchange.Request) error {
	tx, index, err := action(q)
	if err != nil {
		return err
	}
	p, err := proposalAt(q, tx, index)
	if err != nil {
		return err
	}
	paging := q.Page
	type withdrawal struct {
		StakeAddress string `json:"stake_address"`
		Amount       string `json:"amount"`
	}
	all := []withdrawal{}
	for _, w := range p.Withdrawals {
		all = append(all, withdrawal{address.FormatAccount(q.NetworkName(), w.Account), exchange.Decimal(w.Amount)})
	}
	q.Answer = exchange.SlicePage(all, paging)
	return nil
}
