package wallet_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/core/query"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/storage/memory"
)

// accountKey is the extended public key of the account in the test vectors of BIP 86.
const accountKey = "xpub6BgBgsespWvERF3LHQu6CnqdvfEvtMcQjYrcRzx53QJjSxarj2afYWcLteoGVky7D3UKDP9QyrLprQ3VCECoY49yfdDEHGCtMMj92pReUsQ"

// derived is a wallet whose scripts another implementation derives.
type derived struct {
	text   string
	script func(branch, position uint32) []byte
}

// derivedWallets returns wallets of each kind of script, for regtest.
func derivedWallets(t testing.TB) []derived {
	t.Helper()
	must := func(k *hdkeychain.ExtendedKey, err error) *hdkeychain.ExtendedKey {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	account := must(hdkeychain.NewKeyFromString(accountKey))
	account = must(account.CloneWithVersion(chaincfg.RegressionNetParams.HDPublicKeyID[:]))
	second := must(account.Derive(7))
	key := func(of *hdkeychain.ExtendedKey, branch, position uint32) []byte {
		public, err := must(must(of.Derive(branch)).Derive(position)).ECPubKey()
		if err != nil {
			t.Fatal(err)
		}
		return public.SerializeCompressed()
	}
	wpkh := func(branch, position uint32) []byte {
		return append([]byte{0, 20}, address.Hash160(key(account, branch, position))...)
	}
	return []derived{
		{account.String(), func(b, p uint32) []byte {
			return slices.Concat([]byte{0x76, 0xa9, 20}, address.Hash160(key(account, b, p)), []byte{0x88, 0xac})
		}},
		{"wpkh(" + account.String() + "/<0;1>/*)", wpkh},
		{"sh(wpkh(" + account.String() + "/<0;1>/*))", func(b, p uint32) []byte {
			return slices.Concat([]byte{0xa9, 20}, address.Hash160(wpkh(b, p)), []byte{0x87})
		}},
		{"tr(" + account.String() + "/<0;1>/*)", func(b, p uint32) []byte {
			internal, err := must(must(account.Derive(b)).Derive(p)).ECPubKey()
			if err != nil {
				t.Fatal(err)
			}
			return append([]byte{0x51, 32}, txscript.ComputeTaprootKeyNoScript(internal).SerializeCompressed()[1:]...)
		}},
		{"wsh(sortedmulti(2," + account.String() + "/<0;1>/*," + second.String() + "/<0;1>/*))", func(b, p uint32) []byte {
			keys := [][]byte{key(account, b, p), key(second, b, p)}
			slices.SortFunc(keys, bytes.Compare)
			sum := sha256.Sum256(slices.Concat([]byte{0x52, 33}, keys[0], []byte{33}, keys[1], []byte{0x52, 0xae}))
			return append([]byte{0, 32}, sum[:]...)
		}},
	}
}

// place is the position of a script in a wallet.
type place struct{ branch, position uint32 }

func (p place) path() string { return fmt.Sprintf("%d/%d", p.branch, p.position) }

// accountSums are the sums and lists of a wallet, read from the blocks of a chain.
type accountSums struct {
	received, sent uint64
	txs            []string // hashes, in the order of the chain
	outputs        []string // TX:N PATH
	unspent        uint64
	used           map[place]uint64 // the balances of scripts that occur
}

// accountOf reads the blocks of a chain.
func accountOf(blocks []*wire.MsgBlock, places map[string]place) *accountSums {
	a := &accountSums{used: map[place]uint64{}}
	type owned struct {
		value uint64
		at    place
	}
	unspent := map[wire.OutPoint]owned{}
	for _, b := range blocks {
		for _, tx := range b.Transactions {
			id, mine := tx.TxHash(), false
			for _, in := range tx.TxIn {
				if o, ok := unspent[in.PreviousOutPoint]; ok {
					delete(unspent, in.PreviousOutPoint)
					a.sent, mine = a.sent+o.value, true
					a.used[o.at] -= o.value
				}
			}
			for n, out := range tx.TxOut {
				if at, ok := places[string(out.PkScript)]; ok {
					unspent[wire.OutPoint{Hash: id, Index: uint32(n)}] = owned{uint64(out.Value), at}
					a.received, mine = a.received+uint64(out.Value), true
					a.used[at] += uint64(out.Value)
					a.outputs = append(a.outputs, fmt.Sprintf("%v:%d %s", id, n, at.path()))
				}
			}
			if mine {
				a.txs = append(a.txs, id.String())
			}
		}
	}
	a.unspent = uint64(len(unspent))
	return a
}

// The answers about extended public keys and descriptors agree with the blocks, by the scripts which another
// implementation derives, for each kind of script, with and without options of the index, also after reorganizations.
func TestDerivedScriptsAcrossReorganizations(t *testing.T) {
	const most = 15 // positions of a branch that occur: fewer than the gap
	for _, wallet := range derivedWallets(t) {
		rng := testseed.Rand(t)
		places := map[string]place{}
		m := newMiner(rng)
		m.scripts = m.scripts[:5]
		for branch := range uint32(2) {
			for position := range uint32(most) {
				script := wallet.script(branch, position)
				if places[string(script)] = (place{branch, position}); rng.IntN(2) == 0 {
					m.scripts = append(m.scripts, script)
				}
			}
		}
		db := open(t, memory.New(), options(t))
		m.mine(12, 6)
		for round := range testrun.Amount(6, 3) {
			if round > 0 {
				m.fork(1 + rng.IntN(8))
			}
			syncTo(t, db, m.chain)
			want := accountOf(m.chain.Blocks(), places)
			for _, index := range []string{"address", "script_hash"} {
				compareWallet(t, db, index, wallet, want)
			}
		}
		coretest.Consistent(t, db)
	}
}

func compareWallet(t *testing.T, db *core.DB, index string, wallet derived, want *accountSums) {
	t.Helper()
	b, err := db.Balance(t.Context(), index, wallet.text)
	if err != nil {
		t.Fatalf("%s %s: %v", index, wallet.text, err)
	}
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	if b.Received != number(want.received) || b.Sent != number(want.sent) || b.Balance != number(want.received-want.sent) ||
		b.TxCount != uint64(len(want.txs)) || b.OutputCount != uint64(len(want.outputs)) || *b.UnspentCount != want.unspent {
		t.Errorf("%s %s: %+v, expected %+v", index, wallet.text, b, want)
	}
	if b.Derived.UsedCount != len(want.used) || len(b.Derived.Used) != len(want.used) {
		t.Errorf("%s %s: %d used values, expected %d", index, wallet.text, b.Derived.UsedCount, len(want.used))
	}
	for _, u := range b.Derived.Used {
		at := place{uint32(u.Branch), uint32(u.Index)}
		balance, ok := want.used[at]
		one, err := db.Balance(t.Context(), index, u.Value)
		if err != nil || !ok || u.Balance != number(balance) || one.Balance != u.Balance || u.Path != at.path() {
			t.Errorf("%s %s: used value %+v, expected %d at %v: %v", index, wallet.text, u, balance, at, err)
		}
		if index != "script_hash" {
			continue
		}
		sum := sha256.Sum256(wallet.script(at.branch, at.position))
		if hash := chainhash.Hash(sum); u.Value != hash.String() {
			t.Errorf("%s: the script hash at %v is %s, expected %v", wallet.text, at, u.Value, hash)
		}
	}
	var txs, outputs []string
	balance := "0"
	for p := (query.Page{Limit: 7}); ; {
		h, err := db.History(t.Context(), index, wallet.text, query.Range{}, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, tx := range h.Txs {
			txs, balance = append(txs, tx.Hash), tx.Balance
		}
		if h.Next == nil {
			break
		}
		p.After = *h.Next
	}
	for p := (query.Page{Limit: 7}); ; {
		f, err := db.Find(t.Context(), index, wallet.text, query.Terms{}, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range f.Outputs {
			outputs = append(outputs, fmt.Sprintf("%s:%d %s", o.Tx, o.Index, o.Path))
		}
		if f.Next == nil {
			break
		}
		p.After = *f.Next
	}
	if !slices.Equal(txs, want.txs) || !slices.Equal(outputs, want.outputs) || balance != b.Balance && len(txs) > 0 {
		t.Errorf("%s %s: transactions %v, expected %v; outputs %v, expected %v; balance %s", index, wallet.text, txs, want.txs, outputs,
			want.outputs, balance)
	}
}

// The scripts of the other implementation are those of the test vectors of BIP 86.
func TestDerivedScriptsOfTheVectors(t *testing.T) {
	wallets := derivedWallets(t)
	if got := hex.EncodeToString(wallets[3].script(0, 0)); got != "5120a60869f0dbcf1dc659c9cecbaf8050135ea9e8cdc487053f1dc6880949dc684c" {
		t.Errorf("BIP 86, 0/0: %s", got)
	}
	if got := hex.EncodeToString(wallets[3].script(1, 0)); got != "5120882d74e5d0572d5a816cef0041a96b6c1de832f6f9676d9605c44d5e9a97d3dc" {
		t.Errorf("BIP 86, 1/0: %s", got)
	}
}
