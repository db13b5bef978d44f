package coingen_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"birthmark/bench/generate/coingen"
	"birthmark/chains/bitcoin/params"
	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/internal/testnode/cointest"
	"birthmark/model"
)

// newer changes the first transaction of a block, or a header, into a form that no release knows.
type newer struct {
	name   string
	change func(raw []byte, tx int) []byte // tx is the offset of the first transaction
}

// unknownFlag replaces the count of the inputs of a transaction by a marker and a flag (BIP 144), which precede it.
func unknownFlag(prefix int) newer {
	return newer{"a flag", func(raw []byte, tx int) []byte { return slices.Insert(raw, tx+4+prefix, 0, 0x40) }}
}

// first replaces the first field of a transaction, and what follows it.
func first(name string, fields ...uint32) newer {
	return newer{name, func(raw []byte, tx int) []byte {
		for i, f := range fields {
			binary.LittleEndian.PutUint32(raw[tx+4*i:], f)
		}
		return raw
	}}
}

// newerForms are the forms that each coin could have after an upgrade.
var newerForms = map[string][]newer{
	"bitcoin": {unknownFlag(0)}, "litecoin": {unknownFlag(0)}, "bitcoin-cash": {unknownFlag(0)}, "bitcoin-sv": {unknownFlag(0)}, "dogecoin": {unknownFlag(0)}, "digibyte": {unknownFlag(0)},
	"dash": {first("a type", 13<<16|3)},
	"zcash": {
		first("version 7", 7|1<<31, 0xffffffff), first("version 6 of ZIP 230", 6|1<<31, 0x77777777),
		first("another group of version 4", 4|1<<31, 0x892f2086), unknownFlag(0),
	},
	"tapyrus": {unknownFlag(0), {"a field of the header", func(raw []byte, tx int) []byte { raw[104] = 3; return raw }}},
}

// A block in a form that is newer than the program is an error with that reason. The database stays as it was.
func TestNewerFormsOfEveryCoin(t *testing.T) {
	bitcoin := &coingen.Coin{
		Spec: params.Bitcoin, Network: "regtest",
		Genesis: coingen.Genesis("The Times 03/Jan/2009 Chancellor on brink of second bailout for banks", satoshi, 50_0000_0000, 1296688602, 2),
	}
	for _, c := range append([]*coingen.Coin{bitcoin}, coingen.Coins...) {
		forms := newerForms[c.Spec.Name]
		if len(forms) == 0 {
			t.Errorf("%s has no form that is newer", c.Spec.Name)
		}
		for _, f := range forms {
			t.Run(c.Spec.Name+"/"+f.name, func(t *testing.T) { refusesNewer(t, c, f) })
		}
	}
}

func refusesNewer(t *testing.T, c *coingen.Coin, f newer) {
	made := coingen.New(c, coingen.Options{Seed: 3, TxsPerBlock: 4})
	for range 8 {
		made.Next()
	}
	blocks := made.Blocks()
	last := blocks[len(blocks)-1]
	tx, err := c.Spec.Format.TxAt(last, 0)
	if err != nil {
		t.Fatal(err)
	}
	next := f.change(bytes.Clone(last), bytes.Index(last, tx))
	db := open(t, c)
	served := blocks[:len(blocks)-1]
	url := cointest.Node(t, c.Spec.Format, false, func() [][]byte { return served })
	follow(t, db, url, 0)
	want := coretest.Dump(t, db)

	served = append(slices.Clone(served), next)
	for _, uri := range []string{url, writeFile(t, networkOf(c), served)} {
		err := sync(t, db, uri)
		kind, code := model.KindOf(err)
		if kind != model.BadSource || code != "unknown_version" || !errors.Is(err, model.ErrNewer) {
			t.Errorf("%s: %v, code %s", uri, err, code)
		}
		coretest.Same(t, uri, coretest.Dump(t, db), want)
	}
	if networkOf(c).Peers == nil && networkOf(c).Params == nil {
		return
	}
	peer := &cointest.Peer{Network: networkOf(c), Blocks: func() [][]byte { return served }}
	err = sync(t, db, peer.Start(t))
	if _, code := model.KindOf(err); code != "bad_peer" || !strings.Contains(err.Error(), model.ErrNewer.Error()) {
		t.Errorf("a peer: %v, code %s", err, code)
	}
	coretest.Same(t, "a peer", coretest.Dump(t, db), want)
}

// sync syncs a database from a source and returns the error.
func sync(t *testing.T, db *core.DB, uri string) error {
	src, err := db.Chain().Open(t.Context(), model.SourceOptions{URI: uri, Indexes: db.Indexes(), Raw: true})
	if err != nil {
		return err
	}
	defer src.Close()
	return core.Sync(t.Context(), db, src, core.SyncOptions{})
}

// satoshi is the key that the first output of Bitcoin pays to.
const satoshi = "04678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5f"
