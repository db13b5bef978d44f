package genesis

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"birthmark/chains/cardano/address"
	"birthmark/model"
)

// genesisData returns the folder with a network's genesis files in BIRTHMARK_DATA. The test is skipped if the folder is
// missing.
func genesisData(t testing.TB, network string) string {
	t.Helper()
	dir := os.Getenv("BIRTHMARK_DATA")
	if dir == "" {
		dir = "../shared/data"
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join("../..", dir)
	}
	dir = filepath.Join(dir, "cardano", "genesis", network)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("genesis files are absent: no %s (BIRTHMARK_DATA)", dir)
	}
	return dir
}

// Credentials of the examples in CIP-19.
const (
	paymentHash = "9493315cd92eb5d8c4304e67b7e16ae36d61d34502694657811a2c8e"
	stakeHash   = "337b62cfff6403a06a3acbc34f8c46003c69fe79a3628cefa9c47251"
)

func networkNamed(t testing.TB, name string) *Network {
	t.Helper()
	n, err := ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestRedeemAddresses(t *testing.T) {
	n := networkNamed(t, "mainnet")
	for _, c := range []struct{ key, address, tx string }{
		{"-0BJDi-gauylk4LptQTgjMeo7kY9lTCbZv12vwOSTZk=", "Ae2tdPwUPEZHFQnrr2dYB4GEQ8WVKspEyrg29pJ3f7qdjzaxjeShEEokF5f",
			"8ee33c9906974706223d7d500d63bbee2369d7150f972757a9fdded2f706b938"},
		{"-0Np4pyTOWF26iXWVIvu6fhz9QupwWRS2hcCaOEYlw0", "Ae2tdPwUPEZFF5MA48FeLbPhKPbC9pG5DpzReXzzoFhofPR7nZQ8DSR3A4G",
			"2d8208189f58f59c674fbe8f8c421f84c9060aa4b790d498c5f6083819f3e131"},
		{"-0_pjw54ACGTrCsH3SXreedq-Cj9pFBcZDbxT9sXaqQ=", "Ae2tdPwUPEZEESRbZwe58ZcwLRD7P9kxCLad3gxBVNdFRCP4En5z8eh5QCF",
			"cec733c7d6c052103194446440669995adb76f13a70eed526e2d1241b16feda3"},
	} {
		outputs, err := n.genesisOutputs(&byronGenesis{Avvm: map[string]lovelace{c.key: 5}}, &shelleyGenesis{})
		if err != nil {
			t.Error(err)
			continue
		}
		o := outputs[0]
		if got := address.Format(n.Network, o.Address); got != c.address || hex.EncodeToString(o.Tx[:]) != c.tx || o.Value != 5 {
			t.Errorf("%s has %s in %x with %d, expected %s in %s", c.key, got, o.Tx, o.Value, c.address, c.tx)
		}
	}
}

func TestRedeemAddressesHaveTheMagic(t *testing.T) {
	key := bytes.Repeat([]byte{9}, redeemKeySize)
	for _, n := range networks {
		redeem := n.RedeemAddress(key)
		if got, err := address.Parse(n.Network, address.Format(n.Network, redeem)); err != nil || !bytes.Equal(got, redeem) || strings.HasPrefix(address.Format(n.Network, redeem), "hex:") {
			t.Errorf("%s: %x is formatted as %s, %v", n.Name, redeem, address.Format(n.Network, redeem), err)
		}
	}
}

func TestGenesisOfNamedNetworks(t *testing.T) {
	for _, c := range []struct {
		network string
		outputs int
		supply  uint64
		tx      string // the transaction of a known output
		value   uint64
	}{
		{"mainnet", 14_505, 31_112_484_745_000_000, "8ee33c9906974706223d7d500d63bbee2369d7150f972757a9fdded2f706b938", 9_999_300_000_000},
		{"preprod", 8, 30_000_000_000_000_000, "5526b1373acfc774794a62122f95583ff17febb2ca8a0fe948d097e29cf99099", 30_000_000_000_000_000},
		{"preview", 8, 30_000_000_000_000_000, "4843cf2e582b2f9ce37600e5ab4cc678991f988f8780fed05407f9537f7712bd", 30_000_000_000_000_000},
	} {
		t.Run(c.network, func(t *testing.T) {
			n, err := ReadFiles(genesisData(t, c.network))
			if err != nil {
				t.Fatal(err)
			}
			outputs, err := n.Outputs()
			if err != nil {
				t.Fatal(err)
			}
			var sum, value uint64
			for i, o := range outputs {
				sum += o.Value
				if hex.EncodeToString(o.Tx[:]) == c.tx {
					value = o.Value
				}
				if text := address.Format(n.Network, o.Address); strings.HasPrefix(text, "hex:") {
					t.Errorf("%s is not an address of %s", text, n.Name)
				}
				if i > 0 && bytes.Compare(outputs[i-1].Tx[:], o.Tx[:]) >= 0 {
					t.Errorf("%x follows %x: not in order", o.Tx, outputs[i-1].Tx)
				}
			}
			if len(outputs) != c.outputs || sum != c.supply || value != c.value {
				t.Errorf("%d outputs with %d, %d in %s, expected %d, %d, %d", len(outputs), sum, value, c.tx, c.outputs, c.supply, c.value)
			}
			known := *networkNamed(t, c.network)
			if known.genesis = n.genesis; !reflect.DeepEqual(n, &known) {
				t.Errorf("the network is %+v, expected %+v", n, known)
			}
		})
	}
}

func TestBuiltInGenesisMatchesTheFiles(t *testing.T) {
	for _, known := range networks {
		built, err := known.Outputs()
		if err != nil {
			t.Fatalf("%s: %v", known.Name, err)
		}
		n, err := ReadFiles(genesisData(t, known.Name))
		if err != nil {
			t.Fatal(err)
		}
		if read, err := n.Outputs(); err != nil || !reflect.DeepEqual(built, read) {
			t.Errorf("%s: the files have %d outputs, %v, built in are %d", known.Name, len(read), err, len(built))
		}
	}
}

// The embedded genesis has the genesis hash of its network.
func TestBuiltInGenesisHasTheNetworksHash(t *testing.T) {
	for _, c := range []struct {
		network string
		outputs int
		supply  uint64
	}{{"mainnet", 14_505, 31_112_484_745_000_000}, {"preprod", 8, 30_000_000_000_000_000}, {"preview", 8, 30_000_000_000_000_000}} {
		outputs, err := networkNamed(t, c.network).Outputs()
		var sum uint64
		for _, o := range outputs {
			sum += o.Value
		}
		if err != nil || len(outputs) != c.outputs || sum != c.supply {
			t.Errorf("%s: %d outputs with %d, %v; expected %d with %d", c.network, len(outputs), sum, err, c.outputs, c.supply)
		}
		other := *networkNamed(t, c.network)
		other.ByronHash = strings.Repeat("ab", 32)
		if _, err := other.builtInGenesis(); err == nil || !strings.Contains(err.Error(), "expected abab") {
			t.Errorf("%s with another hash: %v", c.network, err)
		}
	}
}

// TestParametersOfNamedNetworksMatchTheirFiles compares the built-in table of networks with the files.
func TestParametersOfNamedNetworksMatchTheirFiles(t *testing.T) {
	for _, known := range networks {
		var byron byronGenesis
		var shelley shelleyGenesis
		dir := genesisData(t, known.Name)
		readInto(t, filepath.Join(dir, byronGenesisFile), &byron)
		readInto(t, filepath.Join(dir, shelleyGenesisFile), &shelley)
		n, err := newNetwork(&byron, &shelley, known.ByronSlots/known.ByronEpoch)
		if err != nil {
			t.Error(err)
			continue
		}
		n.Name, n.ByronHash, n.shelleyHash, n.Checkpoints = known.Name, known.ByronHash, known.shelleyHash, known.Checkpoints
		if !reflect.DeepEqual(n, known) {
			t.Errorf("the files have %+v, the table %+v", n, known)
		}
	}
}

func readInto(t *testing.T, path string, into any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

const (
	smallByron = `{"startTime": 1700000000, "protocolConsts": {"k": 10, "protocolMagic": 42},
		"avvmDistr": {}, "nonAvvmBalances": {}}`
	smallShelley = `{"systemStart": "2023-11-14T22:13:20Z", "networkMagic": 42, "networkId": "Testnet", "epochLength": 500, "slotLength": 1,
		"maxLovelaceSupply": 20, "initialFunds": {"609493315cd92eb5d8c4304e67b7e16ae36d61d34502694657811a2c8e": 7, "00` + paymentHash + stakeHash + `": 8}}`
)

// genesisFolder creates a folder with the given files.
func genesisFolder(t *testing.T, byron, shelley string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{byronGenesisFile: byron, shelleyGenesisFile: shelley} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPrivateNetworkIsReadFromItsFolder(t *testing.T) {
	n, err := ReadFiles(genesisFolder(t, smallByron, smallShelley))
	if err != nil {
		t.Fatal(err)
	}
	if n.Name != "magic-42" || n.Magic != 42 || !n.Testnet || n.start != 1700000000 || n.ByronEpoch != 100 || n.epochSlots != 500 || n.ByronSlots != 0 || n.Supply != 20 || len(n.ByronHash) != 64 {
		t.Errorf("the network is %+v", n)
	}
	outputs, err := n.Outputs()
	if err != nil || len(outputs) != 2 {
		t.Fatalf("%d outputs, %v", len(outputs), err)
	}
	values := map[string]uint64{}
	for _, o := range outputs {
		values[address.Format(n.Network, o.Address)] = o.Value
	}
	if values["addr_test1vz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerspjrlsz"] != 7 || values["addr_test1qz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzer3n0d3vllmyqwsx5wktcd8cc3sq835lu7drv2xwl2wywfgs68faae"] != 8 {
		t.Errorf("outputs are %v", values)
	}
}

func TestInvalidGenesisFiles(t *testing.T) {
	change := func(text, old, new string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("no %s in %s", old, text)
		}
		return strings.Replace(text, old, new, 1)
	}
	key := "-0BJDi-gauylk4LptQTgjMeo7kY9lTCbZv12vwOSTZk"
	address := "FHnt4NL7yPXvDWHa8bVs73UEUdJd64VxWXSFNqetECtYfTd9TtJguJ14Lu3feth"
	for _, c := range []struct{ byron, shelley, says string }{
		{"{", smallShelley, "byron-genesis.json is not a genesis file"},
		{smallByron + "{}", smallShelley, "byron-genesis.json is not a genesis file"},
		{smallByron, "[]", "shelley-genesis.json is not a genesis file"},
		{"{}", smallShelley, "byron-genesis.json has no protocolConsts.protocolMagic"},
		{change(smallByron, `"k": 10`, `"k": 0`), smallShelley, "no protocolConsts.k"},
		{change(smallByron, "startTime", "starts"), smallShelley, "no startTime"},
		{smallByron, change(smallShelley, "networkMagic", "magic"), "no networkMagic"},
		{smallByron, change(smallShelley, "epochLength", "epoch"), "no epochLength"},
		{smallByron, change(smallShelley, "Testnet", "Moonnet"), `networkId "Moonnet": expected Mainnet or Testnet`},
		{smallByron, change(smallShelley, `"slotLength": 1`, `"slotLength": 0`), "a slotLength of 0 seconds: expected more than 0 and at most 3600"},
		{smallByron, change(smallShelley, `"slotLength": 1`, `"slotLength": 1e300`), "a slotLength of 1e+300 seconds"},
		{smallByron, change(smallShelley, `"maxLovelaceSupply": 20`, `"maxLovelaceSupply": 0`), "no maxLovelaceSupply"},
		{change(smallByron, `"avvmDistr"`, `"blockVersionData": {"slotDuration": "x"}, "avvmDistr"`), smallShelley, "not a number of milliseconds"},
		{change(smallByron, "42", "43"), smallShelley, "two networks: magic 43"},
		{change(smallByron, "1700000000", "1700000001"), smallShelley, "two networks: byron-genesis.json begins at 2023-11-14T22:13:21Z"},
		{change(smallByron, `"avvmDistr": {}`, `"avvmDistr": {"`+key+`": "many"}`), smallShelley, "not an amount of lovelace"},
		{change(smallByron, `"avvmDistr": {}`, `"avvmDistr": {"`+key+`": -1}`), smallShelley, "not an amount of lovelace"},
		{change(smallByron, `"avvmDistr": {}`, `"avvmDistr": {"AAAA": 1}`), smallShelley, "it has 3 bytes, a key has 32"},
		{change(smallByron, `"avvmDistr": {}`, `"avvmDistr": {"!": 1}`), smallShelley, "not base64url"},
		{change(smallByron, `"avvmDistr": {}`, `"avvmDistr": {"`+key+`": 1, "`+key+`=": 1}`), smallShelley, "twice"},
		{change(smallByron, `"nonAvvmBalances": {}`, `"nonAvvmBalances": {"`+address+`x": "1"}`), smallShelley, "not a Byron address"},
		{smallByron, change(smallShelley, "60"+paymentHash, "60"), "its 1 bytes are not an address"},
		{smallByron, change(smallShelley, "60"+paymentHash, "x"), "initialFunds of"},
	} {
		_, err := ReadFiles(genesisFolder(t, c.byron, c.shelley))
		if err == nil {
			t.Errorf("no error, expected %q", c.says)
			continue
		}
		if kind, code := model.KindOf(err); kind != model.BadSource || code != "bad_genesis" || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, expected %q", err, c.says)
		}
	}
	if _, err := ReadFiles(t.TempDir()); err == nil || !strings.Contains(err.Error(), byronGenesisFile) {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestGenesisFilesOfANamedNetworkAreChecked(t *testing.T) {
	byron := strings.Replace(smallByron, "42", "2", 1)
	shelley := strings.Replace(smallShelley, "42", "2", 1)
	_, err := ReadFiles(genesisFolder(t, byron, shelley))
	if kind, code := model.KindOf(err); kind != model.BadSource || code != "genesis_mismatch" || !strings.Contains(err.Error(), "expected 83de1d73") {
		t.Errorf("a Byron file of another network: %v", err)
	}
	dir := genesisData(t, "preview")
	real, err := os.ReadFile(filepath.Join(dir, byronGenesisFile))
	if err != nil {
		t.Fatal(err)
	}
	_, err = ReadFiles(genesisFolder(t, string(real), strings.Replace(shelley, "2023-11-14T22:13:20Z", "2022-10-25T00:00:00Z", 1)))
	if _, code := model.KindOf(err); code != "genesis_mismatch" || !strings.Contains(err.Error(), "expected 363498d1") {
		t.Errorf("a Shelley file of another network: %v", err)
	}
}

func TestCanonicalJSON(t *testing.T) {
	got, err := canonicalJSON([]byte("{ \"b\" : [1, true,null, \"a\\\"\\\\\\u00e9\\/\"],\n\"a\":{}, \"C\":[] }"))
	if want := `{"C":[],"a":{},"b":[1,true,null,"a\"\\é/"]}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, expected %s", got, err, want)
	}
	if _, err := canonicalJSON([]byte("{} {}")); err == nil {
		t.Error("two documents in a file are accepted")
	}
}
