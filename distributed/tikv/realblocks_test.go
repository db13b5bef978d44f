package tikv_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"birthmark/chains"
	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/distributed/cluster"
	"birthmark/distributed/tikv"
	"birthmark/internal/testblocks"
	"birthmark/internal/testrun"
	"birthmark/model"
	"birthmark/storage"
	"birthmark/storage/rocks/rockstest"
)

// Real blocks of each chain result in the same rows in TiKV as in RocksDB, byte for byte: 14,132 blocks of Bitcoin, and
// parts of Cardano's preview network and of Ergo.
func TestRealBlocks(t *testing.T) {
	testrun.Slow(t)
	c := cluster.Own(t, 4<<20)
	t.Run("bitcoin", func(t *testing.T) {
		sameDigest(t, c, "bitcoin", "mainnet", bitcoinBlocks(t), "address", "script_hash", "script_type")
	})
	t.Run("cardano", func(t *testing.T) {
		sameDigest(t, c, "cardano", "preview", testblocks.Path(t, "cardano", "dingo-immutable"), "address", "stake_credential", "policy")
	})
	t.Run("ergo", func(t *testing.T) {
		sameDigest(t, c, "ergo", "mainnet", testblocks.Path(t, "ergo", "ergo-uexplorer", "blocks_first.gz"), "address", "ergo_tree_template_hash")
	})
}

// bitcoinBlocks is the file of the first 14,132 blocks of Bitcoin, which is in the module of btcd.
func bitcoinBlocks(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "-C", "../../tools", "list", "-m", "-f", "{{.Dir}}", "github.com/btcsuite/btcd").Output()
	if err != nil || strings.TrimSpace(string(out)) == "" {
		t.Skipf("the module of btcd is absent: make blocks downloads it (%v)", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "blockchain", "testdata", "blk_0_to_14131.dat")
}

func sameDigest(t *testing.T, c *cluster.Cluster, chain, network, source string, indexes ...string) {
	_, want := syncBlocks(t, rockstest.Open(t, t.TempDir(), true), chain, network, source, indexes)
	for name, mode := range map[string]func(*tikv.Config){"one transaction": func(*tikv.Config) {}, "in parts": (*tikv.Config).InParts} {
		s := open(t, c.URL(), mode)
		defer s.Close()
		db, got := syncBlocks(t, s, chain, network, source, indexes)
		if got != want {
			t.Errorf("%s: the digest is %+v, in RocksDB %+v", name, got, want)
		}
		coretest.Consistent(t, db)
	}
}

// digest is the number of rows and a hash of all of them.
type digest struct {
	rows int
	tip  model.HeightPk
	hash string
}

func syncBlocks(t *testing.T, s storage.Store, chainName, network, source string, indexes []string) (*core.DB, digest) {
	t.Helper()
	chain, err := chains.New(chainName, network)
	if err != nil {
		t.Fatal(err)
	}
	db, err := core.Open(t.Context(), s, core.Options{Chain: chain, Indexes: indexes, CacheBytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	src, err := chain.Open(t.Context(), model.SourceOptions{URI: "file://" + source, Indexes: db.Indexes()})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	o := core.SyncOptions{BatchWeight: 20_000}
	began := time.Now()
	if err := core.Sync(t.Context(), db, src, o); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	d := digestOf(t, db)
	t.Logf("%T: %s to height %d, %d rows in %.1f s", s, chainName, d.tip, d.rows, took.Seconds())
	return db, d
}

func digestOf(t *testing.T, db *core.DB) (d digest) {
	t.Helper()
	hash := sha256.New()
	err := db.Dump(t.Context(), func(family string, key, value []byte) error {
		d.rows++
		for _, part := range [][]byte{[]byte(family), key, value} {
			hash.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part))))
			hash.Write(part)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	d.tip, d.hash = db.Tip().Height, hex.EncodeToString(hash.Sum(nil))
	return d
}
