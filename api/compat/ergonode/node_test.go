package ergonode_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/crypto/blake2b"

	. "birthmark/api/compat/boxes/boxestest"
	"birthmark/bench/generate/ergogen"
	"birthmark/chains/ergo/sigma"
	"birthmark/internal/testnode/ergotest"
	"birthmark/model"
)

// A submitted transaction is unconfirmed before the answer is sent, and the next one can spend its boxes. A rejection
// has the node's message.
func TestSubmit(t *testing.T) {
	c := ergogen.New(ergogen.Options{Seed: 2, TxsPerBlock: 8})
	w := newWorld(t, "testnet")
	w.Sync(t, 0, ergotest.Made(c, 20)...)
	w.Settled(t)
	next := w.Model(nil).Possible(ergotest.Txs(ergotest.Made(c, 1)[0])[1:])
	w.Node.Expect(next...)
	serializer := w.DB.Chain().(model.TxSerializer)
	for i, tx := range next {
		endpoint, body := "/transactions", string(tx.JSON)
		raw, err := serializer.SerializeTx(tx.JSON)
		if err != nil {
			t.Fatal(err)
		}
		if id, err := sigma.SignedTxID(raw); err != nil || model.Hash(id) != tx.ID {
			t.Fatalf("the bytes of %s have the id %x: %v", tx.ID, id, err)
		}
		if i%2 == 1 {
			endpoint, body = "/transactions/bytes", fmt.Sprintf("%q", hex.EncodeToString(raw))
		}
		if a := Ask(t, w, path+endpoint, body); a.Status != http.StatusOK || a.Body != fmt.Sprintf("%q", tx.ID) {
			t.Fatalf("%s: %d %s", endpoint, a.Status, a.Body)
		}
		if a := Ask(t, w, path+"/transactions/unconfirmed/byTransactionId/"+tx.ID.String(), ""); a.Status != http.StatusOK {
			t.Errorf("transaction %d, just submitted: %d %s", i, a.Status, a.Body)
		}
	}
	if len(next) < 3 {
		t.Fatalf("%d transactions, expected more", len(next))
	}
	stranger := strings.Replace(string(next[0].JSON), next[0].ID.String(), strings.Repeat("cd", 32), 1)
	for _, endpoint := range []string{"/transactions", "/transactions/check"} {
		a := Ask(t, w, path+endpoint, stranger)
		if a.Status != http.StatusBadRequest || !strings.Contains(a.Body, "every input of the transaction should be in UTXO") {
			t.Errorf("%s of a transaction that the node refuses: %d %s", endpoint, a.Status, a.Body)
		}
	}
}

// blake hashes parts after a prefix.
func blake(prefix byte, parts ...[]byte) []byte {
	raw := []byte{prefix}
	for _, p := range parts {
		raw = append(raw, p...)
	}
	sum := blake2b.Sum256(raw)
	return sum[:]
}

// The Merkle proof of a transaction leads to the root in the header.
func TestProofs(t *testing.T) {
	w := newWorld(t, "testnet")
	blocks := ergotest.Made(ergogen.New(ergogen.Options{Seed: 5, TxsPerBlock: 5}), 12)
	w.Sync(t, 0, blocks...)
	for _, b := range w.Model(nil).Blocks {
		for _, tx := range b.Txs {
			a := Ask(t, w, path+"/blocks/"+b.ID+"/proofFor/"+tx.ID, "")
			var proof struct {
				LeafData string
				Levels   [][2]any
			}
			if err := json.Unmarshal([]byte(a.Body), &proof); err != nil || proof.LeafData != tx.ID {
				t.Fatalf("proof: %d %s", a.Status, a.Body)
			}
			leaf, _ := hex.DecodeString(proof.LeafData)
			at := blake(0, leaf)
			for _, level := range proof.Levels {
				sibling, _ := hex.DecodeString(level[0].(string))
				if level[1].(float64) == 0 {
					at = blake(1, at, sibling)
				} else {
					at = blake(1, sibling, at)
				}
			}
			if got := hex.EncodeToString(at); got != b.Header["transactionsRoot"] {
				t.Errorf("block %d, transaction %d: the proof leads to %s, the root is %s", b.Height, tx.Index, got, b.Header["transactionsRoot"])
			}
		}
	}
}

// Errors have the form of the node.
func TestErrors(t *testing.T) {
	w := newWorld(t, "testnet")
	w.Sync(t, 0, ergotest.Made(ergogen.New(ergogen.Options{Seed: 1}), 3)...)
	zero := strings.Repeat("00", 32)
	e := w.Model(nil)
	never := w.DB.Chain().Indexes()[0].Format(append([]byte{1}, sigma.Infinity[:]...))
	for _, c := range []struct {
		path, body string
		status     int
		says       string
	}{
		{"/blockchain/box/byId/" + zero, "", 404, `{"error":404,"reason":"not-found","detail":null}`},
		{"/blockchain/box/byId/" + e.Boxes[0].ID, "", 404, `"not-found"`}, // the genesis
		{"/blockchain/box/byId/12", "", 400, `{"error":400,"reason":"bad.request","detail":"Wrong modifierId`},
		{"/blockchain/box/byIndex/99999", "", 404, `"not-found"`},
		{"/blockchain/transaction/byIndex/99999", "", 404, `"not-found"`},
		{"/blockchain/box/byIndex/9223372036854775807", "", 404, `"not-found"`},
		{"/blockchain/box/byIndex/9223372036854775808", "", 400, "index: expected a number from 0 to 9223372036854775807"},
		{"/blockchain/box/byIndex/-1", "", 400, "index: expected a number"},
		{"/blockchain/box/unspent/byAddress/" + never + "?limit=-1", "", 400, "limit: expected a number from 0 to 2147483647"},
		{"/blockchain/box/unspent/byAddress/" + never + "?offset=2147483648", "", 400, "offset: expected a number"},
		{"/blockchain/box/unspent/byAddress/" + never + "?offset=2147483647", "", 200, "[]"},
		{"/blockchain/box/unspent/byAddress/" + never + "?includeUnconfirmed=yes", "", 400, "includeUnconfirmed: expected true or false"},
		{"/blockchain/box/unspent/byAddress/" + never + "?excludeMempoolSpent=1", "", 400, "excludeMempoolSpent: expected true or false"},
		{"/blockchain/box/unspent/byAddress/", "", 400, "invalid address"},
		{"/blockchain/box/unspent/byAddress", `"unfinished`, 400, "not a JSON string"},
		{"/blockchain/box/unspent/byErgoTree", `"zz"`, 400, "not hex"},
		{"/blockchain/box/unspent/byErgoTree", `"00"`, 200, "[]"},
		{"/blockchain/box/unspent/byTokenId/" + zero[1:], "", 400, "Wrong modifierId"},
		{"/blockchain/box/unspent/byTokenId/" + zero, "", 200, "[]"},
		{"/blockchain/box/byTemplateHash/" + zero, "", 200, `{"items":[],"total":0}`},
		{"/blockchain/token/byId/" + zero, "", 404, `"not-found"`},
		{"/blockchain/tokens", "[1]", 400, "not a JSON list"},
		{"/blockchain/balance", strings.Repeat("a", 2<<20), 413, "1048576 bytes"},
		{"/utxo/byId/" + zero, "", 404, `"not-found"`},
		{"/utxo/withPool/byIds", `["` + zero + `"]`, 200, "[]"},
		{"/transactions/unconfirmed?limit=16385", "", 400, "No more than 16384 transactions"},
		{"/blocks/at/abc", "", 400, "height: expected a number"},
		{"/blocks/at/0", "", 200, "[]"},
		{"/blocks/chainSlice?fromHeight=3&toHeight=2", "", 400, "toHeight < fromHeight"},
		{"/blocks/" + zero + "/proofFor/" + zero, "", 404, `"not-found"`},
		{"/transactions", "{}", 400, "every input of the transaction"},
		{"/blockchain/box/range?limit=16385", "", 400, "No more than 16384 boxes can be requested"},
		{"/blockchain/transaction/byAddress/" + never + "?limit=16385", "", 400, "No more than 16384 transactions"},
		{"/blockchain/transaction/byAddress/" + never, "", 200, `{"items":[],"total":0}`},
		{"/blockchain/box/unspent/byAddress/" + never, "", 200, `[]`},
		{"/blockchain/balance", never, 200, `{"confirmed":{"nanoErgs":0,"tokens":[]},"unconfirmed":{"nanoErgs":0,"tokens":[]}}`},
		{"/blockchain/box/unspent/byAddress/" + never + "?sortDirection=up", "", 400, "sort direction"},
		{"/blockchain/balanceForAddress/nonsense", "", 400, "invalid address"},
		{"/blockchain/tokens", "{", 400, "not a JSON list"},
		{"/blockchain/nothing", "", 404, `"not-found"`},
		{"/wallet/status", "", 404, `"not-found"`},
		{"/transactions/unconfirmed/outputs/byRegisters", `{"R3":"00"}`, 400, "expected R4 to R9"},
		{"/transactions/unconfirmed/outputs/byRegisters", `{"R4":"00"}`, 200, `[]`},
		{"/transactions/unconfirmed/outputs/byRegisters", `{"R+4":"00"}`, 400, `register \"R+4\": expected R4 to R9`},
		{"/transactions/unconfirmed/outputs/byRegisters", `{"R04":"00"}`, 400, `register \"R04\": expected R4 to R9`},
		{"/transactions/unconfirmed/outputs/byRegisters", `{"R10":"00"}`, 400, `register \"R10\": expected R4 to R9`},
		{"/transactions/unconfirmed/outputs/byRegisters", `{"R4":"0x"}`, 400, `register \"R4\": expected R4 to R9`},
		{"/script/addressToTree/" + never, "", 200, `{"tree":"0008cd`},
		{"/utils/address/nonsense", "", 200, `"isValid":false`},
		{"/utils/hash/blake2b", `"abc"`, 200, `"bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319"`},
		{"/utxo/byId/" + e.Boxes[1].ID, "", 200, e.Boxes[1].ID}, // the genesis is unspent
	} {
		if a := Ask(t, w, path+c.path, c.body); a.Status != c.status || !strings.Contains(a.Body, c.says) {
			t.Errorf("%s %.100s: %d %s, expected %d with %s", c.path, c.body, a.Status, a.Body, c.status, c.says)
		}
	}
	if a := Send(t, w, http.MethodDelete, path+"/info", ""); a.Status != http.StatusMethodNotAllowed {
		t.Errorf("DELETE: %d %s", a.Status, a.Body)
	}
}
