package cardano

import (
	"strings"

	"birthmark/chains/cardano/address"
)

// ChooseIndex implements [model.IndexChooser]: the outputs of a stake address, which no output pays to, are those of the
// addresses with its credential.
func (c *chain) ChooseIndex(index, text string) string {
	all := c.Indexes()
	if index != all[addressIndex].Name || !strings.HasPrefix(strings.ToLower(text), "stake") {
		return index
	}
	if raw, err := address.Parse(c.net.Network, text); err != nil || !address.IsStake(raw) {
		return index
	}
	return all[stakeCredentialIndex].Name
}
