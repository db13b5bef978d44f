package genesis

import (
	"compress/gzip"
	"embed"
	"encoding/hex"
	"encoding/json"
	"io"
	"sync"

	"golang.org/x/crypto/blake2b"

	"birthmark/model"
)

// builtIn are the Byron genesis files of the named networks as canonical JSON, compressed with gzip -9n: half a megabyte,
// so that a sync needs no genesis files. The hash of a file is the identity of its network and is verified when the
// first block is made. The Shelley genesis of these networks has no outputs.
//
//go:embed *.json.gz
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
	f, err := builtIn.Open(n.Name + ".json.gz")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	if sum := blake2b.Sum256(raw); hex.EncodeToString(sum[:]) != n.ByronHash {
		return nil, model.Errorf(model.BadSource, "genesis_mismatch", "the Byron genesis of %s that is built in has the hash %x: expected %s", n.Name, sum, n.ByronHash)
	}
	var byron byronGenesis
	if err := json.Unmarshal(raw, &byron); err != nil {
		return nil, badGenesis("the Byron genesis of %s that is built in: %w", n.Name, err)
	}
	return n.genesisOutputs(&byron, &shelleyGenesis{})
}
