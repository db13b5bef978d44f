package daemon

import (
	"os"
	"path/filepath"
	"testing"

	"birthmark/bench/generate/cardanogen"
	"birthmark/internal/config"
)

// A folder of genesis files as network has a database of its own, and not the only one of the data folder.
func TestFolderOfAPrivateNetwork(t *testing.T) {
	genesis, data := t.TempDir(), t.TempDir()
	if err := cardanogen.New(cardanogen.Options{Seed: 1}).Genesis().Write(genesis); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(data, "bitcoin")
	if err := os.MkdirAll(other, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "CURRENT"), []byte("MANIFEST-000001\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	alone, err := Folder(&config.Chain{DataFolder: data})
	if err != nil || alone != other {
		t.Fatalf("the only database is %q: %v", alone, err)
	}
	set := &config.Chain{DataFolder: data, Chain: "cardano", Network: genesis}
	folder, err := Folder(set)
	if err != nil || filepath.Dir(folder) != data || folder == other {
		t.Fatalf("the folder is %q: %v", folder, err)
	}
	named := &config.Chain{DataFolder: data, Chain: "cardano", Network: filepath.Base(folder)[len("cardano-"):]}
	if again, err := Folder(named); err != nil || again != folder {
		t.Errorf("by the name of the network the folder is %q: %v, expected %q", again, err, folder)
	}
	if _, err := Folder(&config.Chain{DataFolder: data, Chain: "cardano", Network: filepath.Join(genesis, "none")}); err == nil {
		t.Error("a missing folder of genesis files is accepted")
	}
}
