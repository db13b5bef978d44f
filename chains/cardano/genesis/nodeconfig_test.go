package genesis

import (
	"encoding/hex"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/blake2b"

	"birthmark/model"
)

// configured creates a folder with genesis files and the configuration of a node.
func configured(t *testing.T, byron, shelley, name, config string) string {
	t.Helper()
	dir := genesisFolder(t, byron, shelley)
	if err := os.WriteFile(filepath.Join(dir, name), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

var slowByron = strings.Replace(smallByron, `"avvmDistr"`, `"blockVersionData": {"slotDuration": "250"}, "avvmDistr"`, 1)

// A private network has the configured slots and epochs: Byron slots of 0.25 s in epochs of 10 k slots, then Shelley
// slots of 0.1 s.
func TestSlotsOfAPrivateNetwork(t *testing.T) {
	shelley := strings.Replace(smallShelley, `"slotLength": 1`, `"slotLength": 0.1`, 1)
	type at struct {
		slot  uint64
		time  int64
		epoch uint64
	}
	for _, c := range []struct {
		name, config string
		byronSlots   uint64
		slots        []at
	}{
		{"topology.json", "{}", 0, []at{{0, 0, 0}, {9, 0, 0}, {10, 1, 0}, {499, 49, 0}, {500, 50, 1}, {1_000_005, 100_000, 2000}}},
		{"config.json", "{\n\t\"TestShelleyHardForkAtEpoch\": 0\n}", 0, []at{{500, 50, 1}}},
		{"config.json", "{\n\t\"TestShelleyHardForkAtEpoch\": 2\n}", 200, []at{{0, 0, 0}, {3, 0, 0}, {4, 1, 0}, {99, 24, 0}, {100, 25, 1}, {199, 49, 1}, {200, 50, 2}, {210, 51, 2}, {699, 99, 2}, {700, 100, 3}}},
		{"config.yaml", "# of a node\nTestShelleyHardForkAtEpoch: 2\nTurnOnLogging: True\n", 200, []at{{199, 49, 1}, {210, 51, 2}}},
		{"configuration.yaml", "TestShelleyHardForkAtEpoch: 1\n", 100, []at{{99, 24, 0}, {100, 25, 1}, {110, 26, 1}}},
	} {
		n, err := ReadFiles(configured(t, slowByron, shelley, c.name, c.config))
		if err != nil || n.ByronSlots != c.byronSlots {
			t.Errorf("%s %q: %+v, %v", c.name, c.config, n, err)
			continue
		}
		for _, a := range c.slots {
			if got, epoch := n.Time(a.slot), n.Epoch(a.slot); got != n.start+a.time || epoch != a.epoch {
				t.Errorf("%s %q: slot %d is %d after the start in epoch %d, expected %d in %d", c.name, c.config, a.slot, got-n.start, epoch, a.time, a.epoch)
			}
		}
	}
}

// Slot numbers come from blocks, so every number has a time, up to the largest. Times never decrease.
func TestEverySlotHasATime(t *testing.T) {
	for _, n := range append(networks, &Network{start: 5, ByronSlots: 1 << 32, byronSlot: time.Hour, ByronEpoch: 1, slot: maxSlotLength, epochSlots: 1}) {
		last := n.start
		for slot := uint64(1); slot != 0; slot <<= 1 {
			for _, s := range []uint64{slot - 1, slot, slot + 1, ^slot} {
				if n.Time(s) < n.start || s >= slot && n.Time(s) < last {
					t.Errorf("%s: slot %d is at %d, an earlier one at %d", n.Name, s, n.Time(s), last)
				}
			}
			last = n.Time(slot)
		}
		if n.Time(math.MaxUint64) < last {
			t.Errorf("%s: the last slot is at %d", n.Name, n.Time(math.MaxUint64))
		}
	}
}

func TestNodeConfigurationNamesTheFiles(t *testing.T) {
	hash := func(text string) string {
		sum := blake2b.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	canonical, err := canonicalJSON([]byte(smallByron))
	if err != nil {
		t.Fatal(err)
	}
	write := func(byronHash, shelleyHash string) string {
		dir := configured(t, "{}", "{}", "configuration.yaml", "ByronGenesisFile: era/b.json\nShelleyGenesisFile: era/s.json\n"+
			"ByronGenesisHash: "+byronHash+"\nShelleyGenesisHash: "+shelleyHash+"\nTestShelleyHardForkAtEpoch: 0\n")
		if err := os.Mkdir(filepath.Join(dir, "era"), 0o755); err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string]string{"b.json": smallByron, "s.json": smallShelley} {
			if err := os.WriteFile(filepath.Join(dir, "era", name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	n, err := ReadFiles(write(hash(string(canonical)), hash(smallShelley)))
	if err != nil || n.Name != "magic-42" || len(n.genesis) != 2 || n.ByronHash != hash(string(canonical)) {
		t.Errorf("%+v, %v", n, err)
	}
	for says, dir := range map[string]string{
		"b.json has the hash " + hash(string(canonical)) + ": expected " + hash("x") + ", as in the node's configuration": write(hash("x"), hash(smallShelley)),
		"s.json has the hash " + hash(smallShelley) + ": expected " + hash("x") + ", as in the node's configuration":      write(hash(string(canonical)), hash("x")),
	} {
		_, err := ReadFiles(dir)
		if kind, code := model.KindOf(err); kind != model.BadSource || code != "genesis_mismatch" || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, expected %s", err, says)
		}
	}
}

func TestInvalidNodeConfigurations(t *testing.T) {
	for config, says := range map[string]string{
		"- 1":                                   "config.yaml is not the configuration of a node",
		"TestShelleyHardForkAtEpoch: -1":        "config.yaml is not the configuration of a node",
		"TestShelleyHardForkAtEpoch: 999999999": "TestShelleyHardForkAtEpoch 999999999: expected at most",
		"TestShelleyHardForkAtEpoch: 1":         "no blockVersionData.slotDuration",
		"ByronGenesisFile: other.json":          "other.json",
	} {
		_, err := ReadFiles(configured(t, smallByron, smallShelley, "config.yaml", config))
		if kind, code := model.KindOf(err); kind != model.BadSource || code != "bad_genesis" || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, expected %s", config, err, says)
		}
	}
}
