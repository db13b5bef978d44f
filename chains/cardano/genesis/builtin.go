package genesis

import (
	"bytes"
	"embed"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"strconv"
	"sync"

	"golang.org/x/crypto/blake2b"

	"birthmark/model"
)

// builtIn are the Byron genesis files of the named networks, as the command compact writes them. The Shelley genesis of
// these networks has no outputs.
//
//go:embed *.json *.avvm
var builtIn embed.FS

// knownGenesis has the outputs of the named networks, computed on first use.
var knownGenesis = func() map[string]func() ([]Output, error) {
	known := make(map[string]func() ([]Output, error), len(networks))
	for _, n := range networks {
		known[n.Name] = sync.OnceValues(n.builtInGenesis)
	}
	return known
}()

func (n *Network) builtInGenesis() ([]Output, error) {
	rest, err := builtIn.ReadFile(n.Name + ".json")
	if err != nil {
		return nil, err
	}
	given, err := builtIn.ReadFile(n.Name + ".avvm")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	raw := byronGenesisOf(rest, given)
	if sum := blake2b.Sum256(raw); hex.EncodeToString(sum[:]) != n.ByronHash {
		return nil, model.Errorf(model.BadSource, "genesis_mismatch", "the Byron genesis of %s that is built in has the hash %x: expected %s", n.Name, sum, n.ByronHash)
	}
	var byron byronGenesis
	if err := json.Unmarshal(raw, &byron); err != nil {
		return nil, badGenesis("the Byron genesis of %s that is built in: %w", n.Name, err)
	}
	return n.genesisOutputs(&byron, &shelleyGenesis{})
}

// byronGenesisOf returns the canonical JSON of a Byron genesis file: rest, with the funds of redeem keys in given, each
// as 32 bytes and an unsigned varint of lovelace.
func byronGenesisOf(rest, given []byte) []byte {
	const none = `{"avvmDistr":{}`
	raw := append(make([]byte, 0, len(rest)+2*len(given)), none[:len(none)-1]...)
	for separator := ""; len(given) > redeemKeySize; separator = "," {
		amount, n := binary.Uvarint(given[redeemKeySize:])
		raw = append(append(raw, separator...), '"')
		raw = base64.URLEncoding.AppendEncode(raw, given[:redeemKeySize])
		raw = append(strconv.AppendUint(append(raw, `":"`...), amount, 10), '"')
		given = given[redeemKeySize+max(n, 0):]
	}
	return append(append(raw, '}'), bytes.TrimPrefix(rest, []byte(none))...)
}
