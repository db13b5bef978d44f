package genesis

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/adapter"
	"birthmark/chains/cardano/address"
	"birthmark/model"
)

// The default names of genesis files next to a node's configuration.
const (
	byronGenesisFile   = "byron-genesis.json"
	shelleyGenesisFile = "shelley-genesis.json"
)

// byronGenesis is the part of a Byron genesis file that is used.
type byronGenesis struct {
	Avvm     map[string]lovelace `json:"avvmDistr"`
	Balances map[string]lovelace `json:"nonAvvmBalances"`
	Start    *int64              `json:"startTime"` // unix seconds
	Versions struct {
		Slot milliseconds `json:"slotDuration"`
	} `json:"blockVersionData"`
	Constants struct {
		K     uint64  `json:"k"`
		Magic *uint32 `json:"protocolMagic"`
	} `json:"protocolConsts"`
}

// shelleyGenesis is the part of a Shelley genesis file that is used.
type shelleyGenesis struct {
	Funds       map[string]lovelace `json:"initialFunds"`
	Start       time.Time           `json:"systemStart"`
	Magic       *uint32             `json:"networkMagic"`
	NetworkID   string              `json:"networkId"`
	EpochLength uint64              `json:"epochLength"` // slots
	SlotLength  float64             `json:"slotLength"`  // seconds
	MaxSupply   lovelace            `json:"maxLovelaceSupply"`
}

// lovelace is an amount: a number, or a string with one as in Byron files.
type lovelace uint64

func (l *lovelace) UnmarshalJSON(b []byte) error {
	return unmarshalNumber((*uint64)(l), b, 0, math.MaxUint64, "an amount of lovelace")
}

// milliseconds is a duration: a string with a number as in Byron files, or a number.
type milliseconds uint64

func (m *milliseconds) UnmarshalJSON(b []byte) error {
	return unmarshalNumber((*uint64)(m), b, 1, math.MaxUint32, "a number of milliseconds")
}

// unmarshalNumber reads a number with or without quotes.
func unmarshalNumber(n *uint64, b []byte, least, most uint64, what string) error {
	value, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(string(b), `"`), `"`), 10, 64)
	if err != nil || value < least || value > most {
		return fmt.Errorf("%s is not %s", adapter.Truncate(string(b)), what)
	}
	*n = value
	return nil
}

// ReadFiles reads a network from a folder of genesis files. If the magic belongs to a named network, the files must
// equal its genesis files; any other network is named after its magic. Genesis files do not state when Byron ends: a
// node's configuration in the folder does ([readNodeConfig]); without one the network starts with Shelley. An error is
// of kind [model.BadSource], code bad_genesis, or genesis_mismatch if a file has another hash than expected.
func ReadFiles(dir string) (*Network, error) {
	config, err := readNodeConfig(dir)
	if err != nil {
		return nil, err
	}
	var byron byronGenesis
	raw, err := readGenesisFile(dir, config.ByronFile, &byron)
	if err != nil {
		return nil, err
	}
	canonical, err := canonicalJSON(raw)
	if err != nil {
		return nil, badGenesis("%s: %w", filepath.Join(dir, config.ByronFile), err)
	}
	byronHash := blake2b.Sum256(canonical)

	var shelley shelleyGenesis
	if raw, err = readGenesisFile(dir, config.ShelleyFile, &shelley); err != nil {
		return nil, err
	}
	shelleyHash := blake2b.Sum256(raw)

	n, err := newNetwork(&byron, &shelley, config.ShelleyEpoch)
	if err != nil {
		return nil, fmt.Errorf("genesis in %s: %w", dir, err)
	}
	n.ByronHash, n.shelleyHash = config.ByronHash, config.ShelleyHash
	why := "as in the node's configuration"
	if i := slices.IndexFunc(networks, func(known *Network) bool { return known.Magic == n.Magic }); i >= 0 {
		known := *networks[i]
		n, why = &known, "as its magic is that of "+known.Name
	}
	for _, f := range []struct {
		file string
		has  model.Hash
		want *string
	}{{config.ByronFile, byronHash, &n.ByronHash}, {config.ShelleyFile, shelleyHash, &n.shelleyHash}} {
		has := hex.EncodeToString(f.has[:])
		if *f.want != "" && has != *f.want {
			return nil, model.Errorf(model.BadSource, "genesis_mismatch", "%s has the hash %s: expected %s, %s", filepath.Join(dir, f.file), has, *f.want, why)
		}
		*f.want = has
	}
	if n.genesis, err = n.genesisOutputs(&byron, &shelley); err != nil {
		return nil, fmt.Errorf("genesis in %s: %w", dir, err)
	}
	return n, nil
}

func readGenesisFile(dir, name string, into any) ([]byte, error) {
	raw, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil, badGenesis("genesis: %w: expected a folder with the genesis files of a node (byron-genesis.json, shelley-genesis.json)", err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return nil, badGenesis("%s is not a genesis file: %w", filepath.Join(dir, name), err)
	}
	return raw, nil
}

// newNetwork returns a network with the parameters of genesis files, without outputs. shelleyEpoch is the first epoch
// after Byron.
func newNetwork(byron *byronGenesis, shelley *shelleyGenesis, shelleyEpoch uint64) (*Network, error) {
	const maxByron = 1 << 32 // slots: thousands of years
	length := time.Duration(math.Round(shelley.SlotLength * float64(time.Second)))
	switch {
	case byron.Constants.Magic == nil:
		return nil, badGenesis("%s has no protocolConsts.protocolMagic", byronGenesisFile)
	case byron.Constants.K == 0 || byron.Constants.K > maxByron/10:
		return nil, badGenesis("%s has no protocolConsts.k of 1 to %d", byronGenesisFile, maxByron/10)
	case byron.Start == nil:
		return nil, badGenesis("%s has no startTime", byronGenesisFile)
	case shelleyEpoch > maxByron/(10*byron.Constants.K):
		return nil, badGenesis("a node's configuration has the TestShelleyHardForkAtEpoch %d: expected at most %d", shelleyEpoch, maxByron/(10*byron.Constants.K))
	case shelleyEpoch > 0 && byron.Versions.Slot == 0:
		return nil, badGenesis("%s has no blockVersionData.slotDuration", byronGenesisFile)
	case shelley.Magic == nil:
		return nil, badGenesis("%s has no networkMagic", shelleyGenesisFile)
	case shelley.EpochLength == 0:
		return nil, badGenesis("%s has no epochLength", shelleyGenesisFile)
	case shelley.NetworkID != "Mainnet" && shelley.NetworkID != "Testnet":
		return nil, badGenesis("%s has the networkId %q: expected Mainnet or Testnet", shelleyGenesisFile, adapter.Truncate(shelley.NetworkID))
	case length <= 0 || shelley.SlotLength > maxSlotLength.Seconds():
		return nil, badGenesis("%s has a slotLength of %v seconds: expected more than 0 and at most %v", shelleyGenesisFile, shelley.SlotLength, maxSlotLength.Seconds())
	case shelley.MaxSupply == 0:
		return nil, badGenesis("%s has no maxLovelaceSupply", shelleyGenesisFile)
	case *byron.Constants.Magic != *shelley.Magic:
		return nil, badGenesis("the files belong to two networks: magic %d of %s, %d of %s",
			*byron.Constants.Magic, byronGenesisFile, *shelley.Magic, shelleyGenesisFile)
	case *byron.Start != shelley.Start.Unix():
		return nil, badGenesis("the files belong to two networks: %s begins at %s, %s at %s",
			byronGenesisFile, time.Unix(*byron.Start, 0).UTC().Format(time.RFC3339), shelleyGenesisFile, shelley.Start.UTC().Format(time.RFC3339))
	}
	n := &Network{
		Network: address.Network{
			Name:    magicName(*shelley.Magic, shelley.NetworkID == "Testnet"),
			Magic:   *shelley.Magic,
			Testnet: shelley.NetworkID == "Testnet",
		},
		start:      *byron.Start,
		ByronEpoch: 10 * byron.Constants.K,
		byronSlot:  time.Duration(byron.Versions.Slot) * time.Millisecond,
		epochSlots: shelley.EpochLength,
		slot:       length,
		Supply:     uint64(shelley.MaxSupply),
	}
	n.ByronSlots = shelleyEpoch * n.ByronEpoch
	return n, nil
}

// canonicalJSON returns a document without spaces and with sorted keys: the input of Byron's genesis hash.
func canonicalJSON(raw []byte) ([]byte, error) {
	in := json.NewDecoder(bytes.NewReader(raw))
	in.UseNumber()
	var document any
	if err := in.Decode(&document); err != nil {
		return nil, err
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("data follows the document")
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out) // sorts keys
	e.SetEscapeHTML(false)
	err := e.Encode(document)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}
