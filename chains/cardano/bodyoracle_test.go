package cardano

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"testing"

	gouroboros "github.com/blinklabs-io/gouroboros/ledger"
	"github.com/blinklabs-io/gouroboros/ledger/common"
	"github.com/blinklabs-io/gouroboros/ledger/conway"
	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/body"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// bodyLines returns the credentials of certificates, votes and proposals as text, and counts them in seen.
func bodyLines(t *testing.T, d *model.TxDescription, raw []byte, seen map[string]int) (lines []string) {
	t.Helper()
	tx, err := ledger.ReadRaw(raw)
	if err != nil {
		t.Fatal(err)
	}
	b, err := body.Read(tx.Body)
	if err != nil {
		t.Fatal(err)
	}
	line := func(what string, values ...any) {
		seen[what]++
		lines = append(lines, fmt.Sprintln(append([]any{what}, values...)...))
	}
	for i, c := range d.Certificates {
		if c.StakeAddress != "" {
			line("account", c.Type, c.StakeAddress)
		}
		if c.Epoch != nil {
			line("retirement", *c.Epoch)
		}
		for _, p := range body.Payments(b.Certificates[i]) {
			line("payment", p.Treasury, fmt.Sprintf("%x", p.Credential), p.Amount)
		}
	}
	for _, v := range b.ReadVotes() {
		url := ""
		if v.URL != nil {
			url = *v.URL
		}
		line("vote", v.Voter, fmt.Sprintf("%x", v.Tx), v.Index, v.Choice, url, fmt.Sprintf("%x", v.Hash))
	}
	for i, item := range b.Proposals {
		p, ok := body.ReadProposal(item)
		if !ok {
			t.Fatalf("proposal %d cannot be read: %x", i, raw)
		}
		a := d.Proposals[i]
		if hash, at, ok := (*chain)(nil).ParseAction(a.Action); !ok || at != i || hash != blake2b.Sum256(tx.Body) || a.Type != body.Actions[p.Kind] ||
			a.Deposit != strconv.FormatUint(p.Deposit, 10) || len(a.Withdrawals) != len(p.Withdrawals) || a.Raw != fmt.Sprintf("%x", item) {
			t.Errorf("proposal %d is described as %+v", i, a)
		}
		line("proposal", p.Kind, p.Deposit, fmt.Sprintf("%x", p.Return), len(p.Withdrawals), a.URL, a.Hash)
		constitution := ""
		if a.Constitution != nil {
			constitution = a.Constitution.URL
		}
		line("contents", a.Previous, a.Version, len(a.Parameters) > 0, len(a.Removed), len(a.Added), a.Quorum, constitution)
	}
	slices.Sort(lines)
	return lines
}

// theirBodyLines returns the lines of bodyLines from the transaction that gouroboros decoded.
func theirBodyLines(t *testing.T, network address.Network, theirs gouroboros.Transaction) (lines []string) {
	t.Helper()
	line := func(what string, values ...any) {
		lines = append(lines, fmt.Sprintln(append([]any{what}, values...)...))
	}
	for _, c := range theirs.Certificates() {
		// All certificates of accounts have this field.
		if f := reflect.Indirect(reflect.ValueOf(c)).FieldByName("StakeCredential"); f.IsValid() {
			cred := reflect.Indirect(f).Interface().(common.Credential)
			line("account", certificateForms[c.Type()].name, address.FormatStakeCredential(network, storedCredential(cred)))
		}
		switch c := c.(type) {
		case *common.PoolRetirementCertificate:
			line("retirement", c.Epoch)
		case *common.MoveInstantaneousRewardsCertificate:
			for cred, amount := range c.Reward.Rewards {
				line("payment", c.Reward.Source == 1, fmt.Sprintf("%x", storedCredential(*cred)), amount)
			}
		}
	}
	for voter, votes := range theirs.VotingProcedures() {
		for action, v := range votes {
			url, hash := "", []byte{}
			if v.Anchor != nil {
				url, hash = v.Anchor.Url, v.Anchor.DataHash[:]
			}
			line("vote", voter.String(), fmt.Sprintf("%x", action.TransactionId), action.GovActionIdx, v.Vote, url, fmt.Sprintf("%x", hash))
		}
	}
	for _, p := range theirs.ProposalProcedures() {
		action, withdrawals := reflect.Indirect(reflect.ValueOf(p.GovAction())), 0
		if f := action.FieldByName("Withdrawals"); f.IsValid() {
			withdrawals = f.Len()
		}
		account := p.RewardAccount()
		raw, err := account.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		line("proposal", action.FieldByName("Type").Uint(), p.Deposit(), fmt.Sprintf("%x", raw), withdrawals, p.Anchor().Url, fmt.Sprintf("%x", p.Anchor().DataHash))
		previous := ""
		if f := action.FieldByName("ActionId"); f.IsValid() && !f.IsNil() {
			id := f.Interface().(*common.GovActionId)
			previous = address.FormatAction(id.TransactionId[:], uint64(id.GovActionIdx))
		}
		version, removed, added, quorum, constitution, changes := "", 0, 0, "", "", false
		switch a := p.GovAction().(type) {
		case *common.HardForkInitiationGovAction:
			version = fmt.Sprintf("%d.%d", a.ProtocolVersion.Major, a.ProtocolVersion.Minor)
		case *common.UpdateCommitteeGovAction:
			removed, added, quorum = len(a.Credentials), len(a.CredEpochs), a.Quorum.RatString()
		case *common.NewConstitutionGovAction:
			constitution = a.Constitution.Anchor.Url
		case *conway.ConwayParameterChangeGovAction:
			changes = true
		}
		line("contents", previous, version, changes, removed, added, quorum, constitution)
	}
	slices.Sort(lines)
	return lines
}

func storedCredential(c common.Credential) []byte {
	return append([]byte{byte(c.CredType)}, bytes.Clone(c.Credential.Bytes())...)
}
