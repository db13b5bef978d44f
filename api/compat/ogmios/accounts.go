package ogmios

import (
	"encoding/hex"
	"fmt"
	"strings"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/node"
)

// maxAccounts is the maximum of accounts of a request: each is a query of the node.
const maxAccounts = 100

// Kinds of credentials.
const (
	ofKey    = 0
	ofScript = 1
)

// account is the state of a registered reward account. The pool has its names of Ogmios 6.0 and 6.12.
type account struct {
	Delegate *pool `json:"delegate,omitempty"`
	Pool     *pool `json:"stakePool,omitempty"`
	DRep     *drep `json:"delegateRepresentative,omitempty"`
	Rewards  ada   `json:"rewards"`
	Deposit  ada   `json:"deposit"`
}

type pool struct {
	ID string `json:"id"`
}

type drep struct {
	Type string `json:"type"`           // registered, noConfidence, abstain
	ID   string `json:"id,omitempty"`   // of a registered one, in hex
	From string `json:"from,omitempty"` // the kind of its credential: verificationKey, script
}

// rewardAccounts answers the accounts that are registered, by the hash of their credential. Ogmios answers a list since
// 6.13, which Lucid Evolution 0.1.94 rejects: it expects "key" as the kind of a credential, and Ogmios has
// "verificationKey".
func (c *call) rewardAccounts() (any, error) {
	var of struct {
		Keys    []string `json:"keys"`
		Scripts []string `json:"scripts"`
	}
	if err := c.read(&of); err != nil {
		return nil, err
	}
	var credentials [][]byte
	for kind, texts := range [...][]string{ofKey: of.Keys, ofScript: of.Scripts} {
		for _, text := range texts {
			cred, err := c.credential(byte(kind), text)
			if err != nil {
				return nil, err
			}
			credentials = append(credentials, cred)
		}
	}
	if len(credentials) > maxAccounts {
		return nil, &fault{Code: invalidParams, Message: fmt.Sprintf("%d accounts: request at most %d at once", len(credentials), maxAccounts)}
	}
	answer := map[string]account{}
	for _, cred := range credentials {
		a, err := c.node.Account(c.ctx, cred[0], cred[1:])
		if err != nil {
			return nil, err
		}
		if a.Registered {
			answer[hex.EncodeToString(cred[1:])] = accountOf(a)
		}
	}
	return answer, nil
}

// credential reads a credential, whose first byte is its kind: a stake address, a hash in bech32, or a hash in hex, which
// is one of the kind.
func (c *call) credential(kind byte, text string) ([]byte, error) {
	if hash, err := hex.DecodeString(text); err == nil && len(hash) == address.CredentialSize {
		return append([]byte{kind}, hash...), nil
	}
	raw, err := address.ParseStakeCredential(c.network, text)
	if err == nil && strings.HasPrefix(text, "addr") {
		err = fmt.Errorf("%s: expected a stake address, a stake_vkh1… or script1… hash, or a hash in hex digits", text)
	}
	if err != nil {
		return nil, &fault{Code: invalidParams, Message: "params: " + err.Error()}
	}
	return raw, nil
}

func accountOf(a *node.Account) account {
	j := account{Rewards: lovelace(a.Rewards), Deposit: lovelace(a.Deposit)}
	if a.Pool != nil {
		j.Pool = &pool{address.FormatPoolHash(a.Pool)}
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
