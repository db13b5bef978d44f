package genesis

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

// nodeConfigs are the names a node's configuration has beside its genesis files. JSON is read as the YAML it is.
var nodeConfigs = []string{"config.json", "config.yaml", "configuration.json", "configuration.yaml"}

// nodeConfig is what a node's configuration says of its network. Paths are taken from the configuration's folder.
type nodeConfig struct {
	ByronFile   string `yaml:"ByronGenesisFile"`
	ByronHash   string `yaml:"ByronGenesisHash"`
	ShelleyFile string `yaml:"ShelleyGenesisFile"`
	ShelleyHash string `yaml:"ShelleyGenesisHash"`
	// ShelleyEpoch is the first that is not Byron's, on networks that went over at an epoch they had chosen before.
	ShelleyEpoch uint64 `yaml:"TestShelleyHardForkAtEpoch"`
}

// readNodeConfig reads the configuration in a folder. Where there is none the genesis files have their usual names, and
// there is no Byron.
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
			return c, badGenesis("%s is no node's configuration: %w", path, err)
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
