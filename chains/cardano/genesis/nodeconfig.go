package genesis

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

// nodeConfigs are the names of a cardano-node's configuration next to its genesis files. JSON is parsed as YAML.
var nodeConfigs = []string{"config.json", "config.yaml", "configuration.json", "configuration.yaml"}

// nodeConfig is the part of a cardano-node's configuration that is about its network. Paths are relative to its folder.
type nodeConfig struct {
	ByronFile   string `yaml:"ByronGenesisFile"`
	ByronHash   string `yaml:"ByronGenesisHash"`
	ShelleyFile string `yaml:"ShelleyGenesisFile"`
	ShelleyHash string `yaml:"ShelleyGenesisHash"`
	// ShelleyEpoch is the first epoch after Byron, on networks with a hard fork at a configured epoch. A network that
	// left Byron by a vote needs it too. If it is wrong, so are times and epochs: blocks of Byron after it, and later
	// ones before it, are refused.
	ShelleyEpoch uint64 `yaml:"TestShelleyHardForkAtEpoch"`
}

// readNodeConfig reads the configuration in a folder. Without one, genesis files have their default names and there is
// no Byron era.
func readNodeConfig(dir string) (c nodeConfig, err error) {
	for _, name := range nodeConfigs {
		path := filepath.Join(dir, name)
		raw, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return c, badGenesis("genesis: %w", err)
		}
		if err := yaml.Unmarshal(raw, &c); err != nil {
			return c, badGenesis("%s is not the configuration of a node: %w", path, err)
		}
		break
	}
	if c.ByronFile == "" {
		c.ByronFile = byronGenesisFile
	}
	if c.ShelleyFile == "" {
		c.ShelleyFile = shelleyGenesisFile
	}
	return c, nil
}
