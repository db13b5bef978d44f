package account

import (
	"bytes"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"
)

// Versions of extended public keys (BIP 32, SLIP 132), mainnet and test networks.
var (
	ypub = []byte{0x04, 0x9d, 0x7c, 0xb2}
	zpub = []byte{0x04, 0xb2, 0x47, 0x46}
	tpub = []byte{0x04, 0x35, 0x87, 0xcf}
	upub = []byte{0x04, 0x4a, 0x52, 0x62}
	vpub = []byte{0x04, 0x5f, 0x1c, 0xf6}
)

// Mainnet reports whether net is Bitcoin's main network. All others use the keys and the coin type of test networks.
func mainnet(net *chaincfg.Params) bool { return net.Net == chaincfg.MainNetParams.Net }

// kindOfVersion returns the script type that the version of an extended key selects on a network.
func kindOfVersion(version []byte, net *chaincfg.Params) (Kind, bool) {
	versions := [][]byte{net.HDPublicKeyID[:], ypub, zpub}
	if !mainnet(net) {
		versions = [][]byte{tpub, upub, vpub, net.HDPublicKeyID[:]}
	}
	for i, v := range versions {
		if bytes.Equal(v, version) {
			return [...]Kind{P2PKH, P2SHP2WPKH, P2WPKH, P2PKH}[i], true
		}
	}
	return 0, false
}

// parseKey reads an extended public key of a network.
func parseKey(text string, net *chaincfg.Params) (*hdkeychain.ExtendedKey, Kind, error) {
	key, err := hdkeychain.NewKeyFromString(text)
	if err != nil {
		return nil, 0, bad("expected an extended public key such as xpub… or a descriptor of one: %w", err)
	}
	if key.IsPrivate() {
		key.Zero()
		return nil, 0, bad("the extended key is private: send the extended public key, and never a private key")
	}
	kind, ok := kindOfVersion(key.Version(), net)
	if !ok {
		return nil, 0, bad("the extended key begins with %.4q, which is not a single-signature key of %s", text, net.Name)
	}
	return key, kind, nil
}
