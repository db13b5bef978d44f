package ogmios

import (
	"encoding/hex"
	"fmt"
	"strings"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/node"
	"birthmark/chains/cardano/ouroboros"
)

func epoch(c *call) (any, error) {
	p, err := c.node.Parameters(c.ctx)
	if err != nil {
		return nil, err
	}
	return p.Epoch, nil
}

func protocolParameters(c *call) (any, error) {
	p, err := c.node.Parameters(c.ctx)
	if err != nil {
		return nil, err
	}
	return parametersOf(p), nil
}

func tip(c *call) (any, error) {
	return aboutTip(c, func(t *ouroboros.Tip) any { return &point{t.Slot, hex.EncodeToString(t.Hash[:])} })
}

func blockHeight(c *call) (any, error) {
	return aboutTip(c, func(t *ouroboros.Tip) any { return t.Number })
}

func aboutTip(c *call, value func(*ouroboros.Tip) any) (any, error) {
	t, err := c.node.LedgerTip(c.ctx)
	if err != nil || t.IsOrigin() {
		return origin, err
	}
	return value(&t), nil
}

// maxAccounts is the maximum of accounts of a request: each is a query of the node.
const maxAccounts = 100

// Kinds of credentials.
const (
	ofKey    = 0
	ofScript = 1
)

// rewardAccounts answers the accounts that are registered, by the hash of their credential. Ogmios answers a list since
// 6.13, which Lucid Evolution 0.1.94 rejects: it expects "key" as the kind of a credential, and Ogmios has
// "verificationKey".
func rewardAccounts(p *params) (answer, error) {
	var of struct {
		Keys    []string `json:"keys"`
		Scripts []string `json:"scripts"`
	}
	if err := p.read(&of); err != nil {
		return nil, err
	}
	var credentials [][]byte
	for kind, texts := range [...][]string{ofKey: of.Keys, ofScript: of.Scripts} {
		for _, text := range texts {
			cred, err := p.credential(byte(kind), text)
			if err != nil {
				return nil, invalid("params: %s", err)
			}
			credentials = append(credentials, cred)
		}
	}
	if len(credentials) > maxAccounts {
		return nil, invalid("%d accounts: request at most %d at once", len(credentials), maxAccounts)
	}
	return func(c *call) (any, error) {
		accounts := map[string]*account{}
		for _, cred := range credentials {
			a, err := c.node.Account(c.ctx, cred[0], cred[1:])
			if err != nil {
				return nil, err
			}
			if a.Registered {
				accounts[hex.EncodeToString(cred[1:])] = accountOf(a)
			}
		}
		return accounts, nil
	}, nil
}

// credential reads a credential, whose first byte is its kind: a stake address, a hash in bech32, or a hash in hex, which
// is one of the kind.
func (p *params) credential(kind byte, text string) ([]byte, error) {
	if hash, err := hex.DecodeString(text); err == nil && len(hash) == address.CredentialSize {
		return append([]byte{kind}, hash...), nil
	}
	raw, err := address.ParseStakeCredential(p.network, text)
	if err == nil && strings.HasPrefix(text, "addr") {
		err = fmt.Errorf("%s: expected a stake address, a stake_vkh1… or script1… hash, or a hash in hex digits", text)
	}
	return raw, err
}

func accountOf(a *node.Account) *account {
	j := &account{Rewards: lovelace(a.Rewards), Deposit: lovelace(a.Deposit)}
	if a.Pool != nil {
		j.Pool = &named{address.FormatPoolHash(a.Pool)}
		j.Delegate = j.Pool
	}
	switch d := a.DRep; {
	case d == nil:
	case d.Kind == node.DRepAbstain:
		j.DRep = &drep{Type: "abstain"}
	case d.Kind == node.DRepNoConfidence:
		j.DRep = &drep{Type: "noConfidence"}
	default:
		j.DRep = &drep{Type: "registered", ID: hex.EncodeToString(d.Hash), From: "verificationKey"}
		if d.Kind == ofScript {
			j.DRep.From = "script"
		}
	}
	return j
}
