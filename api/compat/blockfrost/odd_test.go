package blockfrost_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/fxamacker/cbor/v2"
	"golang.org/x/crypto/blake2b"

	"birthmark/api"
	"birthmark/api/compat/answertest"
	"birthmark/api/compat/blockfrost"
	"birthmark/api/compat/kupo"
	"birthmark/api/compat/ogmios"
	"birthmark/api/explorer"
	"birthmark/api/served"
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/ledger"
	"birthmark/chains/cardano/node"
	"birthmark/chains/cardano/ouroboros"
	"birthmark/internal/testnode/cardanotest"
	"birthmark/model"
)

// linkedData is Plutus data that is nested as deep as it is long: a list of 1,000 elements, each with the next.
var linkedData = strings.Repeat("d8798201", 1000) + "80"

// odd are parts of transactions that the decoder accepts, though they are rare, wrong or of a later era, with the eras that
// could have such a part.
func odd(t *testing.T) map[string]whole {
	account, key := append([]byte{0xe1}, cardanotest.Filled(28, 1)...), cardanotest.Filled(28, 2) // an account of mainnet
	output := func(more dict) list {
		o := dict{0: append([]byte{0x60}, cardanotest.Filled(28, 9)...), 1: 1_000_000}
		for k, v := range more {
			o[k] = v
		}
		return list{o}
	}
	script := func(language int, code any) dict {
		return dict{3: cardanotest.Tagged(24, []byte(cardanotest.Raw(t, list{language, code})))}
	}
	datum := dict{2: list{1, cardanotest.Tagged(24, []byte(encoded(linkedData)))}}
	// Of the network with the magic 633343913. The ledger compares only whether there is a magic.
	foreign, err := address.ParseAny("FHnt4NL7yPYFfKFAWEXte9vCKSHSD8qrv8VnBQBiYmgXUdQyZLkPxP5TcZkxsNS")
	if err != nil {
		t.Fatal(err)
	}
	unknown := list{list{cardanotest.Filled(32, 0xee), 3}}
	pool := list{3, key, cardanotest.Filled(32, 1), 1, 2, cardanotest.Tagged(30, list{1, 2}), account, list{key, key}, list{}, nil}
	anchor := list{"https://example.org", cardanotest.Filled(32, 9)}
	treasury := list{1, account, list{2, cardanotest.Endless(t, 0xbf, account, 5), nil}, anchor}
	return map[string]whole{
		"unknown collateral":         {since: ledger.EraAlonzo, body: dict{13: unknown}},
		"unknown reference":          {since: ledger.EraBabbage, body: dict{18: unknown}},
		"collateral return":          {since: ledger.EraBabbage, body: dict{13: unknown, 16: output(script(4, []byte("x")))[0]}},
		"script of Plutus V4":        {since: ledger.EraConway, body: dict{1: output(script(4, []byte("four")))}},
		"script of Plutus V200":      {since: ledger.EraConway, body: dict{1: output(script(200, []byte("later")))}},
		"guards":                     {since: ledger.EraConway, body: dict{14: list{list{0, key}, list{1, key}}}},
		"linked datum":               {since: ledger.EraBabbage, body: dict{1: output(datum)}},
		"deep metadata":              {since: ledger.EraShelley, auxiliary: dict{5: encoded(strings.Repeat("81", 1000) + "00")}},
		"large label":                {since: ledger.EraShelley, auxiliary: dict{uint64(1<<64 - 1): "x", uint64(1 << 63): -5}},
		"long number":                {since: ledger.EraShelley, auxiliary: dict{6: encoded("3bffffffffffffffff")}},
		"deep timelock":              {since: ledger.EraBabbage, body: dict{1: output(script(0, encoded(strings.Repeat("820181", 500)+"8200581c"+hex.EncodeToString(key))))}},
		"unknown certificate":        {since: ledger.EraShelley, body: dict{4: list{list{99, 1}, list{2, list{0, key}}}}},
		"account of another tag":     {since: ledger.EraConway, body: dict{4: list{pool}, 5: cardanotest.Endless(t, 0xbf, account, 5), 20: list{treasury}}},
		"malformed signatures":       {since: ledger.EraShelley, witnesses: dict{0: list{list{1, 2}, list{}, 7}, 2: "x"}},
		"unknown redeemers":          {since: ledger.EraAlonzo, witnesses: dict{5: list{list{9, 0, 1, list{1, 2}}, list{0, 77, 1, list{1, 2}}, list{6, 0, 1, list{1, 2}}}}},
		"parameter of a later era":   {since: ledger.EraConway, body: dict{20: list{list{1, account, list{0, nil, dict{39: 1, 3: 5}, nil}, anchor}}}},
		"proposal of a later era":    {since: ledger.EraConway, body: dict{20: list{list{1, account, list{9}, anchor}}}},
		"witnesses of a later era":   {since: ledger.EraConway, witnesses: dict{8: list{[]byte("x")}}},
		"body keys of a later era":   {since: ledger.EraConway, body: dict{24: dict{}, 25: dict{}, 26: dict{}, 27: dict{}, 99: 1}},
		"voter of a later era":       {since: ledger.EraConway, body: dict{19: cardanotest.Endless(t, 0xbf, list{7, key}, cardanotest.Endless(t, 0xbf, list{cardanotest.Filled(32, 1), 0}, list{1, nil}))}},
		"of another test network":    {since: ledger.EraShelley, body: dict{1: list{list{foreign, 1_000_000}}}},
		"address with a tail":        {since: ledger.EraShelley, body: dict{1: list{list{append([]byte{0x60}, cardanotest.Filled(60, 9)...), 1_000_000}}}},
		"pointer of any size":        {since: ledger.EraShelley, body: dict{1: list{list{append(append([]byte{0x40}, cardanotest.Filled(28, 9)...), 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 2), 1_000_000}}}},
		"auxiliary data of scripts":  {since: ledger.EraAlonzo, auxiliary: cardanotest.Tagged(259, dict{5: list{[]byte("x")}})},
		"withdrawal of another tag":  {since: ledger.EraShelley, body: dict{4: list{pool}, 5: cardanotest.Endless(t, 0xbf, account, 5)}},
		"payments of both pots":      {since: ledger.EraShelley, until: ledger.EraConway, body: dict{4: payments(t)}},
		"update of a later era":      {since: ledger.EraShelley, until: ledger.EraConway, body: dict{6: list{cardanotest.Endless(t, 0xbf, key, dict{99: list{}, 1: "x"}), 1}}},
		"auxiliary data in an array": {since: ledger.EraMary, auxiliary: list{dict{5: "x"}, list{list{9, 9}, []byte("x")}}},
	}
}

// payments are certificates that pay rewards from the reserves, twice, and from the treasury.
func payments(t *testing.T) list {
	of := func(pot int, to byte, amount int) list {
		return list{6, list{pot, cardanotest.Endless(t, 0xbf, list{0, cardanotest.Filled(28, to)}, amount)}}
	}
	return list{of(0, 1, 7), of(1, 1, 8), of(0, 2, 9)}
}

// whole are the parts of a transaction that a test adds.
type whole struct {
	since, until    int // the eras of the parts, the last one excluded; 0: no end
	body, witnesses dict
	auxiliary       any
	failed          bool // its scripts failed
}

// encoded is an item in hex.
func encoded(digits string) encodedItem {
	b, err := hex.DecodeString(digits)
	if err != nil {
		panic(err)
	}
	return b
}

type encodedItem []byte

func (e encodedItem) MarshalCBOR() ([]byte, error) { return e, nil }

// shared returns an address of a testnet that only the transactions of one block have.
func shared(n byte) []byte { return append([]byte{0x60}, cardanotest.Filled(28, 0x80|n)...) }

// block returns a block of an era after the tip, whose transactions spend each the first output of the one before it, and
// pay to an address. The test node refuses items that are nested as deep as those of odd, so it has no part in this.
func (g *growing) block(era int, to []byte, txs ...whole) *model.Block {
	g.t.Helper()
	var raws [][]byte
	var bodies, allWitnesses list
	failed := list{}
	auxiliary := dict{}
	for i, tx := range txs {
		outputs, _ := tx.body[1].(list)
		outputs = append(list{list{to, 1_000_000}}, outputs...)
		g.value -= 170_000 + 1_000_000*uint64(len(outputs))
		body := dict{0: list{list{g.spent[:], g.index}}, 2: 170_000}
		maps.Copy(body, tx.body)
		body[1] = append(list{list{cardanotest.Address, g.value}}, outputs...)
		witnesses := dict{}
		if tx.witnesses != nil {
			witnesses = tx.witnesses
		}
		if tx.auxiliary != nil {
			auxiliary[i] = tx.auxiliary
		}
		next := 0
		if tx.failed { // it spends the output as collateral, and returns the rest
			body[13], body[16], next = body[0], list{cardanotest.Address, g.value}, len(outputs)+1
			failed = append(failed, i)
		}
		encodedBody := cardanotest.Raw(g.t, body)
		bodies, allWitnesses = append(bodies, encodedBody), append(allWitnesses, witnesses)
		raw := list{encodedBody, witnesses, !tx.failed, tx.auxiliary}
		if era < ledger.EraAlonzo {
			raw = list{encodedBody, witnesses, tx.auxiliary}
		}
		raws = append(raws, cardanotest.Raw(g.t, raw))
		g.spent, g.index = blake2b.Sum256(encodedBody), next
	}
	segments := []cbor.RawMessage{cardanotest.Raw(g.t, bodies), cardanotest.Raw(g.t, allWitnesses), cardanotest.Raw(g.t, auxiliary)}
	if era >= ledger.EraAlonzo {
		segments = append(segments, cardanotest.Raw(g.t, failed))
	}
	tip := g.db.Tip()
	raw := cardanotest.BlockAt(g.t, era, uint64(tip.Height)+1, 100_000+20*uint64(tip.Height), tip.Hash[:], segments...)
	for b, err := range g.db.Chain().Decode(g.t.Context(), bytes.NewReader(raw), g.db.Indexes(), tip.Height+1) {
		if err != nil {
			g.t.Fatal(err)
		}
		for i := range b.Txs {
			b.Txs[i].Raw = raws[i]
		}
		return b
	}
	return nil
}

// each calls fn for each odd part in each era that could have it, in a fixed order.
func each(t *testing.T, fn func(name string, era int, tx whole)) {
	t.Helper()
	all := odd(t)
	for _, era := range []int{ledger.EraShelley, ledger.EraMary, ledger.EraAlonzo, ledger.EraBabbage, ledger.EraConway} {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if tx := all[name]; era >= tx.since && (tx.until == 0 || era < tx.until) {
				fn(fmt.Sprintf("%s in %s", name, ledger.EraNames[era]), era, tx)
			}
		}
	}
}

// unanswered are the operations of a transaction that answer 501 on a network that is not public, if the transaction has
// redeemers: their fees need prices (docs/cardano-clients.md, "Differences from Blockfrost").
var unanswered = []string{"/redeemers"}

// Each request about an odd transaction is answered, by the server's own API, its pages, Blockfrost's API and Kupo's. Lists
// have it and the other transactions.
func TestOddTransactionsAreAnswered(t *testing.T) {
	g := grow(t, 5)
	apis := g.apis(t)
	normal := whole{auxiliary: dict{5: "normal"}}
	labelled := map[string]string{} // transactions with the label 5, with the names of those
	var proposals []string
	number := byte(0)
	each(t, func(name string, era int, tx whole) {
		number++
		to := shared(number)
		b := g.block(era, to, normal, tx, normal)
		if err := g.db.Append(t.Context(), []*model.Block{b}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		hashes := []string{b.Txs[0].Hash.String(), b.Txs[1].Hash.String(), b.Txs[2].Hash.String()}
		hash, text := hashes[1], address.FormatAny(to)
		labelled[hashes[0]], labelled[hashes[2]] = "before "+name, "after "+name
		// Blockfrost has no type for a proposal of another kind than the ledger's, so its list lacks it.
		if _, ok := tx.body[20]; ok && !strings.HasPrefix(name, "proposal of a later era") {
			proposals = append(proposals, hash)
		}
		for _, part := range []string{
			"", "/utxos", "/metadata", "/metadata/cbor", "/redeemers", "/required_signers", "/withdrawals", "/mirs", "/delegations", "/stakes",
			"/pool_updates", "/pool_retires", "/cbor",
		} {
			want := http.StatusOK
			if tx.witnesses[5] != nil && slices.Contains(unanswered, part) {
				want = http.StatusNotImplemented
			}
			code, body := apis.ask(t, path+"/txs/"+hash+part)
			if code != want || strings.Contains(body, "hex:") || strings.Contains(body, `"json_metadata":null`) {
				t.Errorf("%s: /txs/%s%s: %d %.300s, expected %d", name, hash, part, code, body, want)
			}
			if part == "/utxos" && code == http.StatusOK {
				for _, o := range parsed(t, name, body).(object)["outputs"].([]any) {
					at := o.(object)["address"].(string)
					if !strings.HasPrefix(at, "addr1") && o.(object)["collateral"] == false { // the change is at one of mainnet
						apis.has(t, name, path+"/addresses/"+at+"/transactions?order=desc", hash)
					}
				}
			}
		}
		apis.has(t, name, "/v1/test/tx/"+hash, hash)
		apis.has(t, name, "/test/tx/"+hash, hash)
		block := b.Hash.String()
		for _, list := range []string{
			path + "/blocks/" + block + "/txs", path + "/addresses/" + text + "/transactions", path + "/addresses/" + text + "/utxos",
			path + "/addresses/" + text + "/utxos/lovelace",
			"/kupo/matches/" + text, "/kupo/matches/" + text + "?unspent", "/v1/test/find/address/" + text, "/v1/test/history/address/" + text,
			"/v1/test/block/" + block, "/test/address/" + text, "/test/block/" + block,
		} {
			apis.has(t, name, list, hashes...)
		}
		apis.has(t, name, "/kupo/matches/*@"+hash+"?resolve_hashes", hash)
		labels := fmt.Sprintf("/kupo/metadata/%d?transaction_id=", b.Slot)
		for i, hash := range hashes {
			code, body := apis.ask(t, labels+hash)
			if has := strings.HasPrefix(body, `[{"hash":`); code != http.StatusOK || has != (i != 1 || tx.auxiliary != nil) {
				t.Errorf("%s: %s%s: %d %.300s", name, labels, hash, code, body)
			}
		}
	})
	for _, p := range []string{"/metadata/txs/labels", "/scripts", "/pools", "/blocks/latest/txs"} {
		apis.has(t, "", path+p)
	}
	apis.has(t, "", "/kupo/matches/*")
	apis.has(t, "proposals", path+"/governance/proposals", proposals...)
	for _, script := range []string{"\x04four", "\xc8later"} {
		hash := hex.EncodeToString(address.Hash224([]byte(script)))
		apis.has(t, "", path+"/scripts/"+hash, hash)
		apis.has(t, "", "/kupo/scripts/"+hash, hex.EncodeToString([]byte(script[1:])))
	}
	linked := blake2b.Sum256(encoded(linkedData))
	apis.has(t, "linked datum", path+"/scripts/datum/"+hex.EncodeToString(linked[:]), `{"json_value":{"`)
	var with strings.Builder
	for page := 1; page <= len(labelled)/100+1; page++ {
		code, body := apis.ask(t, fmt.Sprintf("%s/metadata/txs/labels/5?page=%d", path, page))
		if code != http.StatusOK {
			t.Errorf("page %d of a label: %d %.300s", page, code, body)
		}
		with.WriteString(body)
	}
	for hash, name := range labelled {
		if !strings.Contains(with.String(), hash) {
			t.Errorf("the transaction %s %s is not among those of the label", hash, name)
		}
	}
}

// Payments of rewards are counted by pot, and guards, keys and scripts, are listed as required signers.
func TestCountsOfOddTransactions(t *testing.T) {
	g := grow(t, 6)
	all := payments(t)
	key, script := cardanotest.Filled(28, 1), cardanotest.Filled(28, 2)
	signer := func(hash []byte) any { return object{"witness_hash": hex.EncodeToString(hash)} }
	b := g.block(ledger.EraBabbage, shared(1), whole{body: dict{4: all}}, whole{body: dict{4: list{all[0], all[2]}}}, whole{body: dict{14: list{key}}})
	if err := g.db.Append(t.Context(), []*model.Block{b}); err != nil {
		t.Fatal(err)
	}
	later := g.block(ledger.EraConway, shared(2), whole{body: dict{14: cardanotest.Tagged(258, list{list{0, key}, list{1, script}})}})
	txs := append(b.Txs[:3:3], later.Txs...)
	if err := g.db.Append(t.Context(), []*model.Block{later}); err != nil {
		t.Fatal(err)
	}
	mir := func(pot string, index int, to byte, amount string) any {
		cred := append([]byte{0}, cardanotest.Filled(28, to)...)
		return object{"pot": pot, "cert_index": index, "address": address.FormatStakeCredential(address.Preview, cred), "amount": amount}
	}
	for i, want := range []struct {
		count         int
		mirs, signers []any
	}{
		{2, []any{mir("reserve", 0, 1, "7"), mir("treasury", 1, 1, "8"), mir("reserve", 2, 2, "9")}, []any{}},
		{1, []any{mir("reserve", 0, 1, "7"), mir("reserve", 1, 2, "9")}, []any{}},
		{0, []any{}, []any{signer(key)}},
		{0, []any{}, []any{signer(key), signer(script)}},
	} {
		tx := "/txs/" + txs[i].Hash.String()
		g.sameFields(t, tx, object{"mir_cert_count": want.count})
		g.same(t, tx+"/mirs", want.mirs)
		g.same(t, tx+"/required_signers", want.signers)
	}
}

// A proposal of a kind that this version does not know is not found, and votes on it leave the others in place.
func TestVotesOnAProposalOfALaterEra(t *testing.T) {
	g := grow(t, 9)
	add := func(n byte, body dict) model.Hash {
		t.Helper()
		b := g.block(ledger.EraConway, shared(n), whole{body: body})
		if err := g.db.Append(t.Context(), []*model.Block{b}); err != nil {
			t.Fatal(err)
		}
		return b.Txs[0].Hash
	}
	account, hot := append([]byte{0xe0}, cardanotest.Filled(28, 1)...), cardanotest.Filled(28, 2)
	anchor := list{"https://example.org", cardanotest.Filled(32, 9)}
	tx := add(1, dict{20: list{list{1, account, list{9}, anchor}, list{1, account, list{6}, anchor}}})
	on := cardanotest.Endless(t, 0xbf, list{tx[:], 0}, list{1, nil}, list{tx[:], 1}, list{0, nil})
	add(2, dict{19: cardanotest.Endless(t, 0xbf, list{0, hot}, on)})
	for _, path := range []string{
		"/governance/committee/votes", "/governance/committee/" + address.FormatGovernance(address.CommitteeHot, append([]byte{0}, hot...)) + "/votes",
	} {
		votes := g.get(t, path).([]any)
		if len(votes) != 1 || votes[0].(object)["governance_type"] != "info_action" || votes[0].(object)["vote"] != "no" {
			t.Errorf("%s: %v, expected the vote on the known proposal", path, votes)
		}
	}
	for _, list := range []string{"/parameters", "/withdrawals"} {
		path := "/governance/proposals/" + tx.String() + "/0" + list
		if code, body := g.ask(t, "GET", path); code != http.StatusNotFound {
			t.Errorf("%s: %d %s, expected 404", path, code, body)
		}
	}
}

// An odd transaction in a mempool is listed, and leaves the others in place.
func TestOddUnconfirmedTransactionsAreListed(t *testing.T) {
	g := grow(t, 8)
	pool := &oddPool{tip: g.db.Tip()}
	var hashes []string
	groups := map[string][]string{} // hashes of the transactions that pay to an address
	names := map[string]string{}
	number := byte(0)
	each(t, func(name string, era int, tx whole) {
		if era != ledger.EraConway { // nodes translate their mempools to the era of the tip
			return
		}
		number++
		to := shared(number)
		b := g.block(era, to, whole{}, tx, whole{})
		text := address.FormatAny(to)
		names[text] = name
		for i := range b.Txs {
			pool.txs = append(pool.txs, &model.Unconfirmed{Tx: b.Txs[i], Size: len(b.Txs[i].Raw), VSize: len(b.Txs[i].Raw)})
			hash := b.Txs[i].Hash.String()
			hashes, groups[text] = append(hashes, hash), append(groups[text], hash)
		}
	})
	src, err := g.db.Chain().Open(t.Context(), model.SourceOptions{URI: g.node.Unix(), Indexes: g.db.Indexes(), Raw: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	f := answertest.Follow(t, g.db, func(_ context.Context, indexes []string) (model.Source, error) {
		if !slices.Equal(indexes, g.db.Indexes()) {
			return nil, fmt.Errorf("opened for %v: expected %v", indexes, g.db.Indexes())
		}
		return pool, nil
	})
	n := &nodeWorld{world: g.world, node: g.node, mempool: f}
	n.pending(t, len(hashes))
	g.chain.Name, g.chain.Mempool, g.chain.Submitter, g.chain.Node = "test", f, src.(model.Submitter), monitored{pool, src.(ogmios.Node)}
	apis := g.apis(t)

	var listed []any
	for page := 1; page <= len(hashes)/100+1; page++ {
		_, body := apis.ask(t, fmt.Sprintf("%s/mempool?page=%d", path, page))
		listed = append(listed, parsed(t, "/mempool", body).([]any)...)
	}
	if want := listOf(hashes, func(hash string) any { return object{"tx_hash": hash} }); !reflect.DeepEqual(listed, want) {
		t.Errorf("%v, expected %v", listed, want)
	}
	apis.has(t, "all", "/v1/test/mempool/transactions?limit=1000", hashes...)
	for text, group := range groups {
		for _, hash := range group {
			apis.has(t, names[text], path+"/mempool/"+hash, hash)
			apis.has(t, names[text], "/v1/test/tx/"+hash, hash)
			apis.has(t, names[text], "/test/tx/"+hash, hash)
		}
		apis.has(t, names[text], path+"/mempool/addresses/"+text, group...)
		apis.has(t, names[text], "/v1/test/find/address/"+text+"?mempool=include", group...)
		apis.has(t, names[text], "/test/address/"+text, group...)
	}

	server := httptest.NewServer(apis)
	t.Cleanup(server.Close)
	c, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http")+"/ogmios", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.CloseNow() }()
	c.SetReadLimit(1 << 20)
	call := func(request string) string {
		if err := c.Write(t.Context(), websocket.MessageText, []byte(request)); err != nil {
			t.Fatal(err)
		}
		_, answer, err := c.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return string(answer)
	}
	call(`{"jsonrpc":"2.0","method":"acquireMempool"}`)
	if got := call(`{"jsonrpc":"2.0","method":"sizeOfMempool"}`); !strings.Contains(got, fmt.Sprintf(`"count":%d`, len(hashes))) {
		t.Errorf("%s, expected %d transactions", got, len(hashes))
	}
	for i, hash := range hashes {
		got := call(`{"jsonrpc":"2.0","method":"nextTransaction","params":{"fields":"all"}}`)
		if !strings.Contains(got, `"id":"`+hash+`"`) || !strings.Contains(got, hex.EncodeToString(pool.txs[i].Raw)) || strings.Contains(got, "hex:") {
			t.Errorf("transaction %d of Ogmios is %.300s, expected %s", i, got, hash)
		}
		if got := call(`{"jsonrpc":"2.0","method":"hasTransaction","params":{"id":"` + hash + `"}}`); !strings.Contains(got, `"result":true`) {
			t.Errorf("%s is not in the mempool of Ogmios: %s", hash, got)
		}
	}
	if got := call(`{"jsonrpc":"2.0","method":"nextTransaction"}`); !strings.Contains(got, `"transaction":null`) {
		t.Errorf("%s after the last transaction", got)
	}
}

// monitored is a node whose mempool is a pool, which can have transactions that the library of the test node cannot read.
type monitored struct {
	*oddPool
	ogmios.Node
}

// Monitor returns a monitor of the pool.
func (m monitored) Monitor(context.Context) (node.Monitor, error) { return poolMonitor{m.oddPool}, nil }

// poolMonitor follows a pool that does not change.
type poolMonitor struct{ pool *oddPool }

// Next implements [node.Monitor].
func (m poolMonitor) Next(context.Context) (*node.Snapshot, error) {
	s := &node.Snapshot{Snapshot: &ouroboros.Snapshot{Capacity: 1 << 20}}
	for _, tx := range m.pool.txs {
		s.IDs, s.Txs = append(s.IDs, tx.Hash), append(s.Txs, ouroboros.PoolTx{Era: ledger.EraConway - 1, Raw: tx.Raw})
	}
	return s, nil
}

// Release implements [node.Monitor].
func (poolMonitor) Release(context.Context) error { return nil }

// Close implements [node.Monitor].
func (poolMonitor) Close() {}

// oddPool is a source with a mempool.
type oddPool struct {
	tip model.Point
	txs []*model.Unconfirmed
}

// Tip implements [model.Source].
func (p *oddPool) Tip(context.Context) (model.Point, error) { return p.tip, nil }

// MempoolIDs implements [model.Mempool].
func (p *oddPool) MempoolIDs(context.Context) (ids []model.Hash, _ uint64, err error) {
	for _, tx := range p.txs {
		ids = append(ids, tx.Hash)
	}
	return ids, 0, nil
}

// MempoolTxs implements [model.Mempool].
func (p *oddPool) MempoolTxs(_ context.Context, ids []model.Hash) ([]*model.Unconfirmed, error) {
	txs := make([]*model.Unconfirmed, len(ids))
	for _, tx := range p.txs {
		if i := slices.Index(ids, tx.Hash); i >= 0 {
			txs[i] = tx
		}
	}
	return txs, nil
}

// MempoolEvents implements [model.Mempool].
func (p *oddPool) MempoolEvents(context.Context) (iter.Seq2[model.MempoolEvent, error], error) {
	return nil, nil
}

// Follow implements [model.Source]. It yields nothing.
func (p *oddPool) Follow(context.Context, []model.Point) iter.Seq2[model.Event, error] {
	return func(func(model.Event, error) bool) {}
}

// Close implements [model.Source].
func (p *oddPool) Close() error { return nil }

// apis are several APIs of one chain, and its pages.
type apis struct{ *http.ServeMux }

// apis returns the APIs of the chain, with the name test.
func (w *world) apis(t *testing.T) apis {
	t.Helper()
	a := apis{http.NewServeMux()}
	c := *w.chain
	c.Name = "test"
	handle := func(pattern string, h http.Handler, err error) {
		if err != nil {
			t.Fatal(err)
		}
		a.Handle(pattern, h)
	}
	inSync := func() bool { return true }
	a.Handle(path+"/", blockfrost.New(blockfrost.Options{Chain: &c, Path: path, InSync: inSync}))
	a.Handle("/kupo/", kupo.New(kupo.Options{Chain: &c, Path: "/kupo", InSync: inSync}))
	own, err := api.New(api.Options{Chains: []*served.Chain{&c}})
	handle("/v1/", own, err)
	pages, err := explorer.New(explorer.Options{Chains: []*served.Chain{&c}})
	handle("/", pages, err)
	if c.Node != nil {
		a.Handle("/ogmios", ogmios.New(ogmios.Options{Chain: &c, Path: "/ogmios", Origins: []string{"*"}}))
	}
	return a
}

func (a apis) ask(t *testing.T, target string) (int, string) {
	t.Helper()
	r := httptest.NewRecorder()
	a.ServeHTTP(r, httptest.NewRequestWithContext(t.Context(), "GET", target, nil))
	return r.Code, r.Body.String()
}

// has checks that an answer exists and has texts. An API of others has no text of this server alone.
func (a apis) has(t *testing.T, name, target string, texts ...string) {
	t.Helper()
	code, body := a.ask(t, target)
	if code != http.StatusOK || strings.Contains(body, "hex:") && (strings.HasPrefix(target, path) || strings.HasPrefix(target, "/kupo")) {
		t.Errorf("%s: %s: %d %.300s", name, target, code, body)
		return
	}
	for _, text := range texts {
		if !strings.Contains(body, text) {
			t.Errorf("%s: %s lacks %s: %.600s", name, target, text, body)
		}
	}
}

// Kupo answers the datums and scripts in the witnesses of a transaction whose scripts failed (witnessedDatums and
// witnessedScripts in src/Kupo/Data/Cardano.hs of CardanoSolutions/kupo).
func TestWitnessesOfFailedTransactionsAreFound(t *testing.T) {
	g := grow(t, 3)
	apis := g.apis(t)
	datum, code := cardanotest.Raw(t, cardanotest.Tagged(121, list{[]byte("of a failed spend")})), []byte("script of a failed spend")
	datumHash, scriptHash := blake2b.Sum256(datum), address.Hash224(append([]byte{2}, code...))
	witnesses := dict{4: list{datum}, 6: list{code}}
	for _, failed := range []bool{false, true} {
		tx := whole{witnesses: witnesses, failed: failed}
		if !failed {
			tx.witnesses = nil
		}
		b := g.block(ledger.EraConway, shared(1), tx)
		if err := g.db.Append(t.Context(), []*model.Block{b}); err != nil {
			t.Fatal(err)
		}
		want := map[bool][2]string{
			false: {"null", "null"},
			true:  {fmt.Sprintf(`{"datum":"%x"}`, []byte(datum)), fmt.Sprintf(`{"language":"plutus:v2","script":"%x"}`, code)},
		}[failed]
		for i, target := range []string{fmt.Sprintf("/kupo/datums/%x", datumHash), fmt.Sprintf("/kupo/scripts/%x", scriptHash)} {
			w := httptest.NewRecorder()
			apis.ServeHTTP(w, httptest.NewRequest("GET", target, nil))
			if w.Code != http.StatusOK || w.Body.String() != want[i] {
				t.Errorf("failed %t, %s: %d %s, expected %s", failed, target, w.Code, w.Body, want[i])
			}
		}
	}
}

// Kupo's API answers the metadata, datum and native script of these bytes as Kupo did (SundaeSwap-finance/kugo
// metadata_test.go, and docs/api/v2.12.0.yaml of CardanoSolutions/kupo; the datum is of preprod, by its hash).
func TestKupoAnswersTheBytesOfRealAnswers(t *testing.T) {
	const (
		metadata = "a11902a2a1636d736781781c4d696e737761703a205377617020457861637420496e204f72646572"
		datum    = "d8799f581c85dd77175f468677da789223823e7249f7c61240b2c50d700df2ea0d1b0000018f0c462638ff"
		script   = "8201838200581c3c07030e36bfffe67e2e2ec09e5293d384637cd2f004356ef320f3fe8204186482051896"
	)
	g := grow(t, 14)
	apis := g.apis(t)
	output := dict{
		0: shared(2), 1: 1_000_000, 2: list{1, cardanotest.Tagged(24, []byte(encoded(datum)))},
		3: cardanotest.Tagged(24, []byte(cardanotest.Raw(t, list{0, encoded(script)}))),
	}
	b := g.block(ledger.EraConway, shared(1), whole{body: dict{1: list{output}}, auxiliary: encoded(metadata)})
	if err := g.db.Append(t.Context(), []*model.Block{b}); err != nil {
		t.Fatal(err)
	}
	hash := address.Hash224(append([]byte{0}, encoded(script)...))
	for target, want := range map[string]string{
		fmt.Sprintf("/kupo/metadata/%d", b.Slot): `[{"hash":"b64602eebf602e8bbce198e2a1d6bbb2a109ae87fa5316135d217110d6d94649","raw":"` + metadata +
			`","schema":{"674":{"map":[{"k":{"string":"msg"},"v":{"list":[{"string":"Minswap: Swap Exact In Order"}]}}]}}}]`,
		"/kupo/datums/cf518ee8fd97e9f2c494e66fb6a3ccda8d5ecdd77f789cc37474594f6746331c": `{"datum":"` + datum + `"}`,
		"/kupo/scripts/" + hex.EncodeToString(hash):                                     `{"language":"native","script":"` + script + `"}`,
	} {
		if code, body := apis.ask(t, target); code != http.StatusOK || body != want {
			t.Errorf("%s: %d %s, expected %s", target, code, body, want)
		}
	}
}
