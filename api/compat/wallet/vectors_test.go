package wallet_test

import (
	"encoding/hex"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"birthmark/api/compat/wallet"
	"birthmark/chains/bitcoin"
	"birthmark/core"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
	"birthmark/storage/memory"
)

// hashOf reads a displayed hash.
func hashOf(t testing.TB, text string) (h model.Hash) {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(h) {
		t.Fatalf("%s is not a hash: %v", text, err)
	}
	slices.Reverse(b)
	return model.Hash(b)
}

// The example of the protocol documentation of ElectrumX, with entries out of order.
func TestStatusOfAKnownHistory(t *testing.T) {
	confirmed := []wallet.Entry{
		{Tx: hashOf(t, "a6c9c361bd0bc536d6a22648efbf8f9b200e425ef6c3a7a9669dc444c532a347"), Height: 2472},
		{Tx: hashOf(t, "9c42f84b2fcdaff676ba25d9d4941741cc0d1a01cce0c23fdc4c0b2afa38431c"), Height: 2473},
		{Tx: hashOf(t, "770f2d4371b3fabb902dd9a103e2dd005fcd3971181078fca4a2a1d6ff127b30"), Height: 2473},
	}
	pending := []wallet.Entry{
		{Tx: hashOf(t, "bb4c8ab438c13b89ca80d1d5bee25b0b6b7f55673f4d801998ba97db161d9e85"), UnconfirmedParent: true},
		{Tx: hashOf(t, "e02a1dadfa83b996b24175df807b271ea5d02937ef5b35c195fac1e1bdc3198f")},
		{Tx: hashOf(t, "80b19848aed792565ab7c5a79b7c2a00fbf985741579396ebe0ab6098e607311")},
	}
	got := wallet.StatusOf(slices.Concat(confirmed, wallet.InStatusOrder(pending)))
	if want := "78e96c6562cafa71c115503b9411fdfdc595a45031e2ab76ff75162fe1b0590d"; hex.EncodeToString(got[:]) != want {
		t.Errorf("status %x, expected %s", got, want)
	}
}

// realBlocks is the file of Bitcoin's first 14,132 blocks that comes with a Go module.
func realBlocks(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "-C", filepath.Join("..", "..", "..", "tools"), "list", "-m", "-f", "{{.Dir}}",
		"github.com/btcsuite/btcd").Output()
	if dir := strings.TrimSpace(string(out)); err == nil && dir != "" {
		return filepath.Join(dir, "blockchain", "testdata", "blk_0_to_14131.dat")
	}
	t.Skip("real blocks are missing: run make blocks")
	return ""
}

func TestKnownValuesOfMainnet(t *testing.T) {
	o := options(t)
	var err error
	if o.Chain, err = bitcoin.New("mainnet"); err != nil {
		t.Fatal(err)
	}
	db := open(t, memory.New(), o)
	to := model.HeightPk(200)
	src, err := db.Chain().Open(t.Context(), model.SourceOptions{
		URI: "file://" + realBlocks(t), Indexes: db.Indexes(), Raw: true, To: &to,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if err := core.Sync(t.Context(), db, src, core.SyncOptions{To: &to}); err != nil {
		t.Fatal(err)
	}
	w := newChain(t, serve(db))

	const address = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"
	script, err := w.ScriptOfAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	key := wallet.KeyOf(script)
	slices.Reverse(key[:])
	if got := hex.EncodeToString(key[:]); got != "8b01df4e368ea28f8dc0423bcf7a4923e3a12d307c875e47a0cfbf90b5c39161" {
		t.Errorf("script hash of the first address: %s", got)
	}
	if got := w.Address(script); got != address {
		t.Errorf("address of its script: %s", got)
	}

	view(t, w, func(v *wallet.View) {
		branch, root, err := v.HeaderProof(5, 8)
		if err != nil {
			t.Fatal(err)
		}
		if root != hashOf(t, "e347b1c43fd9b5415bf0d92708db8284b78daf4d0e24f9c3405f45feb85e25db") || len(branch) != 4 {
			t.Errorf("root %v with a branch of %d", root, len(branch))
		}

		// The first coinbase is shown as a transaction, and belongs to no script.
		id := hashOf(t, "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b")
		tx, err := v.Tx(id)
		if err != nil {
			t.Fatal(err)
		}
		s, err := v.Script(wallet.KeyOf(tx.Msg.TxOut[0].PkScript))
		if err != nil {
			t.Fatal(err)
		}
		stats, _, err := s.Stats()
		if err != nil || stats != (wallet.Stats{}) || len(collect(t, s.History(nil, false))) > 0 || len(collect(t, s.Unspent())) > 0 {
			t.Errorf("the first coinbase belongs to a script: %+v, %v", stats, err)
		}

		// The first payment spends a P2PK output.
		tx, err = v.Tx(hashOf(t, "f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16"))
		if err != nil {
			t.Fatal(err)
		}
		if len(tx.Prevouts) != 1 || tx.Prevouts[0].Value != 50e8 || w.Address(tx.Prevouts[0].Script) != "" || tx.Fee != 0 {
			t.Errorf("the first payment: %+v", tx)
		}
	})
}

func TestAddresses(t *testing.T) {
	w := newChain(t, serve(open(t, memory.New(), options(t))))
	m := newMiner(testRand(t))
	with := 0
	for _, script := range m.scripts {
		address := w.Address(script)
		if address == "" {
			continue
		}
		with++
		back, err := w.ScriptOfAddress(address)
		if err != nil || string(back) != string(script) {
			t.Errorf("%x has the address %s, which pays to %x, %v", script, address, back, err)
		}
	}
	if with < 20 {
		t.Errorf("%d scripts have an address", with)
	}
	for address, want := range map[string]string{
		"1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa": "bad_network", "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq": "bad_network",
		"nonsense, nonsense": "bad_address", "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfm": "bad_address",
	} {
		_, err := w.ScriptOfAddress(address)
		if kind, got := code(err); kind != model.Usage || got != want {
			t.Errorf("%s: %v, expected %s", address, err, want)
		}
	}
}

// Proofs of headers stay correct when groups of headers are cached, and when they are replaced.
func TestHeaderProofsAcrossGroups(t *testing.T) {
	o := options(t)
	db := open(t, memory.New(), o)
	w := newChain(t, serve(db))
	chain := bitcointest.NewChain()
	chain.MineEmpty(2100)
	for range 2 {
		syncTo(t, db, chain)
		var hashes []model.Hash
		for _, b := range chain.Blocks() {
			hashes = append(hashes, model.Hash(b.BlockHash()))
		}
		view(t, w, func(v *wallet.View) {
			for _, checkpoint := range []uint32{2099, 2048, 2047, 1024, 1023, 1022, 2100} {
				root := rootOf(hashes[:checkpoint+1])
				for _, h := range []uint32{0, 1, 777, 1021, 1023, 1024, 1500, 2047, 2048, 2090, 2099, 2100} {
					if h > checkpoint {
						break
					}
					branch, got, err := v.HeaderProof(h, checkpoint)
					if err != nil || got != root || follow(hashes[h], int(h), branch) != root {
						t.Fatalf("header %d, checkpoint %d: root %v, expected %v, %v", h, checkpoint, got, root, err)
					}
				}
			}
		})
		chain = chain.Fork(1500)
		chain.MineEmpty(700)
	}
}
