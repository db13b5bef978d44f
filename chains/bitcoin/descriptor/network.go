package descriptor

import (
	"slices"
	"strings"
	"unicode"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
)

// Network is the properties of a network that descriptors depend on.
type Network struct {
	Name string // for messages: bitcoin mainnet
	Coin string
	Test bool // the keys are those of test networks
	// Script returns the output script of an address.
	Script func(address string) ([]byte, error)
}

// Kind is the type of the output scripts of an account of a single signature.
type Kind uint8

const (
	P2PKH Kind = iota
	P2SHP2WPKH
	P2WPKH
	P2TR
)

// version is the first bytes of extended public keys.
type version struct {
	bytes    string
	prefix   string // of the text
	kind     Kind
	multisig bool
	test     bool
	coin     string // the only coin; empty: any
}

// versions are those of BIP 32 and of SLIP 132, simnet's of btcd, and Dogecoin's of its chain parameters.
var versions = []version{
	{"\x04\x88\xb2\x1e", "xpub", P2PKH, false, false, ""},
	{"\x04\x9d\x7c\xb2", "ypub", P2SHP2WPKH, false, false, ""},
	{"\x04\xb2\x47\x46", "zpub", P2WPKH, false, false, ""},
	{"\x02\x95\xb4\x3f", "Ypub", 0, true, false, ""},
	{"\x02\xaa\x7e\xd3", "Zpub", 0, true, false, ""},
	{"\x04\x35\x87\xcf", "tpub", P2PKH, false, true, ""},
	{"\x04\x4a\x52\x62", "upub", P2SHP2WPKH, false, true, ""},
	{"\x04\x5f\x1c\xf6", "vpub", P2WPKH, false, true, ""},
	{"\x02\x42\x89\xef", "Upub", 0, true, true, ""},
	{"\x02\x57\x54\x83", "Vpub", 0, true, true, ""},
	{"\x04\x20\xbd\x3a", "spub", P2PKH, false, true, "bitcoin"},
	{"\x01\x9d\xa4\x62", "Ltub", P2PKH, false, false, "litecoin"},
	{"\x01\xb2\x6e\xf6", "Mtub", P2SHP2WPKH, false, false, "litecoin"},
	{"\x04\x36\xf6\xe1", "ttub", P2PKH, false, true, "litecoin"},
	{"\x02\xfa\xca\xfd", "dgub", P2PKH, false, false, "dogecoin"},
}

// ofCoin reports whether a coin has the version.
func (v version) ofCoin(coin string) bool { return v.coin == "" || v.coin == coin }

// prefixes lists the beginnings of the keys of a network, for messages.
func (n *Network) prefixes() string {
	var list []string
	for _, v := range versions {
		if v.test == n.Test && v.ofCoin(n.Coin) && !v.multisig {
			list = append(list, v.prefix+"…")
		}
	}
	return strings.Join(list, ", ")
}

// extendedKey reads an extended public key of the network.
func (n *Network) extendedKey(text string) (*hdkeychain.ExtendedKey, version, error) {
	key, err := hdkeychain.NewKeyFromString(text)
	if err != nil {
		return nil, version{}, bad("a key is neither a public key in hex nor an extended public key (expected %s): %w",
			n.prefixes(), err)
	}
	if key.IsPrivate() {
		key.Zero()
		return nil, version{}, errPrivate
	}
	i := slices.IndexFunc(versions, func(v version) bool {
		return v.bytes == string(key.Version()) && v.ofCoin(n.Coin)
	})
	if i < 0 {
		return nil, version{}, bad("the extended key begins with %.4q, which is not a key of %s: expected %s", text, n.Name, n.prefixes())
	}
	v := versions[i]
	switch {
	case v.test && !n.Test:
		return nil, v, bad("%s… is a key of a test network, not of %s: expected %s", v.prefix, n.Name, n.prefixes())
	case !v.test && n.Test:
		return nil, v, bad("%s… is a key of a main network, not of %s: expected %s", v.prefix, n.Name, n.prefixes())
	}
	return key, v, nil
}

// HasPrivateKey reports whether a text has a private key: an extended one (BIP 32, SLIP 132), one in the wallet import
// format of any coin, also if a character of it is wrong, or the words of a seed (BIP 39).
func HasPrivateKey(text string) bool {
	if words := strings.Fields(text); slices.Contains([]int{12, 15, 18, 21, 24}, len(words)) &&
		!slices.ContainsFunc(words, func(w string) bool { return strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" }) {
		return true
	}
	if len(text) < uncompressedWIFSize {
		return false
	}
	other := func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	return slices.ContainsFunc(strings.FieldsFunc(text, other), privateToken)
}

// The numbers of characters of private keys: in the wallet import format, and extended ones.
const (
	wifSize             = 52
	uncompressedWIFSize = 51
	extendedSize        = 111
)

const base58Digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

func privateToken(token string) bool {
	if strings.Trim(token, base58Digits) != "" || strings.Trim(token, "0123456789abcdef") == "" {
		return false // hex can be a public key
	}
	switch size := len(token); {
	case size >= extendedSize-1 && size <= extendedSize+1:
		if key, err := hdkeychain.NewKeyFromString(token); err == nil {
			return key.IsPrivate()
		}
		return token[1:4] == "prv"
	case size == wifSize || size == uncompressedWIFSize:
		payload, _, err := base58.CheckDecode(token)
		return err == nil && (len(payload) == 32 || len(payload) == 33) || strings.ContainsRune("5KL9cTQ67X", rune(token[0]))
	}
	return false
}
