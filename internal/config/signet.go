package config

import (
	"encoding/hex"

	"birthmark/internal/signet"
	"birthmark/model"
)

// setChallenge reads a script in hex.
func setChallenge(c *Chain, value, _ string) (err error) {
	c.SignetChallenge, err = hex.DecodeString(value)
	if err != nil || len(c.SignetChallenge) == 0 || len(c.SignetChallenge) > signet.MaxChallenge {
		return model.Errorf(model.Usage, "bad_setting", "%.100q is not a script of 1 to %d bytes in hex, such as signetchallenge in bitcoin.conf",
			value, signet.MaxChallenge)
	}
	return nil
}

// resolveSignet sets the network of a chain with a challenge: signet- and the magic of the signet with this challenge.
func (c *Chain) resolveSignet() error {
	if c.SignetChallenge == nil {
		return nil
	}
	name := signet.Name(c.SignetChallenge)
	if c.Chain != "bitcoin" && c.Chain != "" || c.Network != "" && c.Network != signet.Public && c.Network != name {
		return at(c.Origin("signet_challenge"), model.Errorf(model.Usage, "bad_setting",
			"signet_challenge needs the chain bitcoin and the network signet, not %s %s", c.Chain, c.Network))
	}
	c.Network = name
	return nil
}
