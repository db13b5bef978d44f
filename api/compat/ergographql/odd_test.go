package ergographql_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"birthmark/api/compat/answertest"
	. "birthmark/api/compat/boxes/boxestest"
	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testnode/ergotest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
)

// Fields of the objects in answers.
const (
	poolFields = "boxId transactionId index value creationHeight ergoTree assets { tokenId amount } additionalRegisters beingSpent"
	allOfBox   = poolFields + " headerId globalIndex settlementHeight ergoTreeTemplateHash address mainChain"
	ofHeader   = "headerId parentId version height nBits difficulty timestamp stateRoot adProofsRoot transactionsRoot extensionHash" +
		" powSolutions votes mainChain"
	ofToken   = "tokenId boxId emissionAmount name description type decimals"
	ofAddress = "address used balance { nanoErgs assets { tokenId amount name decimals } } boxesCount transactionsCount"
	ofTx      = "transactionId timestamp size"
)

// requests returns queries for all operations, which are fields of the schema, with the ids that their answers have: at
// most a number for each kind of argument, which are random ones.
func (w *world) requests(rng *rand.Rand, most int) Requests {
	r := Requests{}
	add := func(operation, query string, ids ...string) {
		body, err := json.Marshal(map[string]any{"query": query})
		if err != nil {
			panic(err)
		}
		r[operation] = append(r[operation], Request{Method: http.MethodPost, Body: string(body), Has: ids})
	}
	pool := func(operation, arguments, fields string, ids []string) {
		add("Mempool."+operation, "{ mempool { x: "+operation+arguments+" { "+fields+" } } }", ids...)
	}
	boxes := func(arguments string, f func(*Box) bool) {
		add("Query.boxes", "{ x: boxes("+arguments+" take: 200) { "+allOfBox+" } }", IDs(Page(Reverse(w.Where(f)), 0, 200))...)
		pool("boxes", "("+arguments+" take: 200)", poolFields, IDs(Page(Filter(w.Fresh, f), 0, 200)))
	}
	every := append(w.Boxes[:len(w.Boxes):len(w.Boxes)], w.Fresh...)
	for _, b := range append(Some(rng, Distinct(every, func(b *Box) string { return b.Tree }), most), w.Fresh[0]) {
		address, paid := w.address(b.Tree), func(c *Box) bool { return c.Tree == b.Payable() }
		boxes(fmt.Sprintf("ergoTree: %q", b.Tree), func(c *Box) bool { return c.Tree == b.Tree })
		boxes(fmt.Sprintf("address: %q", address), paid)
		add("Query.addresses", fmt.Sprintf("{ x: addresses(addresses: [%q]) { %s } }", address, ofAddress),
			Tokens(w.Where(func(c *Box) bool { return paid(c) && c.Spender == nil }))...)
		pool("transactions", fmt.Sprintf("(address: %q take: 200)", address), ofTx, TxIDs(Touching(w.Pool, paid)))
	}
	for _, b := range Some(rng, Distinct(every, (*Box).ExplorerTemplate), most) {
		hash := b.ExplorerTemplate()
		boxes(fmt.Sprintf("ergoTreeTemplateHash: %q", hash), func(c *Box) bool { return c.HasTemplate(hash) })
	}
	for _, id := range append(Some(rng, Tokens(w.Boxes), most), Tokens(w.Fresh)...) {
		boxes(fmt.Sprintf("tokenId: %q", id), func(c *Box) bool { return c.Has(id) })
	}
	for _, id := range Some(rng, Tokens(w.Boxes), most) {
		add("Query.tokens", fmt.Sprintf("{ x: tokens(tokenId: %q) { %s box { %s } } }", id, ofToken, allOfBox), id)
	}
	for _, b := range append(Some(rng, every, most), w.Fresh...) {
		boxes(fmt.Sprintf("boxId: %q", b.ID), func(c *Box) bool { return c == b })
	}
	var blocks []string
	for _, b := range w.Blocks {
		blocks = append(blocks, b.ID)
	}
	add("Query.blockHeaders", "{ x: blockHeaders(take: 200) { "+ofHeader+" } }", blocks...)
	pool("transactions", "(take: 200)", ofTx, TxIDs(w.Pool))
	add("Mempool.transactionsCount", "{ mempool { x: transactionsCount } }", fmt.Sprint(len(w.Pool)))
	add("Mempool.size", "{ mempool { x: size } }", fmt.Sprint(w.poolSize()))
	add("Query.mempool", "{ x: mempool { size transactionsCount } }", fmt.Sprint(len(w.Pool)))
	add("Query.state", "{ x: state { blockId height boxGlobalIndex transactionGlobalIndex difficulty network } }", blocks[len(blocks)-1])
	add("Query.info", "{ x: info { version } }", "0.5.5")
	for _, name := range []string{"checkTransaction", "submitTransaction"} {
		add("Mutation."+name, "mutation { x: "+name+"(signedTransaction: {inputs: []}) }", submitted)
	}
	return r
}

// submitted is the id that the test node answers to a transaction: see answerSubmissions.
const submitted = "078fb88d5c73153560a49cebc4e51e176163167c1962ade79231530f5ba4dc07"

// answerSubmissions is a fault of the test node, which accepts anything as a transaction.
func answerSubmissions(r *http.Request, a *ergotest.Answer) {
	if r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/transactions") {
		a.Status, a.Body = http.StatusOK, []byte(`"`+submitted+`"`)
	}
}

// operations returns the fields of the schema that have arguments or reads.
func (w *world) operations(t *testing.T) (all []string) {
	t.Helper()
	data, failure := w.query(t, "{ __schema { types { name fields { name } } } }", nil)
	if failure != "" {
		t.Fatal(failure)
	}
	for _, v := range data["__schema"].(map[string]any)["types"].([]any) {
		of := v.(map[string]any)
		if name := of["name"].(string); slices.Contains([]string{"Query", "Mutation", "Mempool"}, name) {
			for _, f := range of["fields"].([]any) {
				all = append(all, name+"."+f.(map[string]any)["name"].(string))
			}
		}
	}
	return all
}

// value returns the field x of an answer. It fails the test if the answer has errors.
func value(t *testing.T, body string) []byte {
	t.Helper()
	var answer struct {
		Data   map[string]json.RawMessage
		Errors []any
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || len(answer.Errors) > 0 {
		t.Errorf("%v %.500s", err, body)
		return nil
	}
	if mempool, ok := answer.Data["mempool"]; ok {
		answer.Data = nil
		if err := json.Unmarshal(mempool, &answer.Data); err != nil {
			t.Error(err)
		}
	}
	return answer.Data["x"]
}

// A chain with unusual items beside normal ones, confirmed and not, has an answer to each operation, with all items.
func TestOddItemsLeaveAnswersWhole(t *testing.T) {
	rng := testseed.Rand(t)
	options := Odd(rng)
	options.Descriptions = OddDescriptions()
	c := ergogen.New(options)
	w := newWorld(t, "testnet")
	w.Sync(t, 0, ergotest.Made(c, 25)...)
	w.Naive = w.Pend(t, c, 10)
	w.Node.Break(answerSubmissions)
	w.requests(rng, testrun.Amount(60, 20)).Verify(t, w, path, w.operations(t), func(_ string, _ Request, body string) { value(t, body) })
}

// original is an answer of ergo-graphql to an operation. One field has its source.
type original struct {
	answer   string
	recorded string // a recording of this operation
	tested   string // a test of the original for it; the source decides the members that the test does not have
	// The source of its form, if neither is known. Looked at: the clients of Fleet, Nautilus and Ergomatic, and the tests,
	// README and issues of ergo-graphql.
	decided string
}

// The first of packages/_test-vectors/mockedGraphQLBoxResponses.json of fleet-sdk/fleet at
// 8fd834a94a7534069ed78af3538f518068ca1e2e with tokens, and a register of another box there.
const (
	realPoolBox = `{"boxId":"90db40673c035d9413452c0950c2bf59a81ee9802b0b472205cd81d018e7361b",
		"transactionId":"4d71e59c6ae5faadb0b5e173a2b2c99af6dcf216e8da1fb548c1b3bebceb3da5","index":2,"value":"11903568000",
		"creationHeight":1126889,"ergoTree":"0008cd03a6acb00d43278232042c232161067453d62505d7da6e26e673cbf5466c886017",
		"assets":[{"tokenId":"01dce8a5632d19799950ff90bca3b5d0ca3ebfa8aaafd06f0cc6dd1e97150e7f","amount":"12718619877"}],
		"additionalRegisters":{"R4":"0e00"},"beingSpent":false}`
	fleet = "fleet-sdk/fleet, packages/_test-vectors/mockedGraphQLBoxResponses.json"
	// Its tests have answers of ergo-graphql, with shortened texts.
	provider = "fleet-sdk/fleet, packages/blockchain-providers/src/ergo-graphql/ergoGraphQLProvider.spec.ts: "
	graph    = "capt-nemo429/ergo-graphql, src/graphql/"
	// At 6961174f81a49f243e34010a483c2100dffe7615.
	specs = "nautls/ergo-graphql, tests/integration.spec.ts: "
)

// The fields that Fleet does not request are those of src/graphql/schema.graphql of capt-nemo429/ergo-graphql at
// 308362d73343ac2d78dd4b86efb26f35ced323de, whose BigInt is text in answers.
var (
	decidedBox = strings.TrimSuffix(realPoolBox, "}") + `,"headerId":"6e74","globalIndex":"1","settlementHeight":1,
		"ergoTreeTemplateHash":"6e","address":"9f","mainChain":true}`
	originals = map[string]original{
		"Query.boxes":   {answer: "[" + decidedBox + "]", recorded: fleet},
		"Mempool.boxes": {answer: "[" + realPoolBox + "]", recorded: fleet},
		"Query.blockHeaders": {answer: `[{"headerId":"d49","timestamp":"169","version":3,"adProofsRoot":"534","stateRoot":"19e",
			"transactionsRoot":"330","nBits":"117","extensionHash":"062","powSolutions":{"pk":"027","w":"027","n":"ba9","d":"0"},
			"height":1100449,"difficulty":"220","parentId":"90a","votes":[0,0,0],"mainChain":true}]`,
			recorded: provider + "Should fetch LastHeaders with default params"},
		"Query.addresses": {answer: `[{"address":"9h","used":true,"balance":{"nanoErgs":"1723811075","assets":[{"tokenId":"0c",
			"amount":"1","name":"a","decimals":0}]},"boxesCount":1,"transactionsCount":167}]`,
			recorded: specs + "[addresses] balance and transactions count"},
		"Query.tokens": {answer: `[{"tokenId":"0c","boxId":"089105a867391d773a57d500dab9aef255b0292ec66ce1d9c9813d108d7283e7",
			"emissionAmount":"1","name":"test","description":"b","type":"EIP-004","decimals":0,"box":` + decidedBox + `}]`,
			tested: specs + "[tokens] filter by boxId, [tokens] filter by tokenName"},
		"Query.mempool": {answer: `{"size":1,"transactionsCount":1}`, tested: specs + "[mempool] simple mempool fetch"},
		"Mempool.size":  {answer: `1`, tested: specs + "[mempool] simple mempool fetch"},
		"Query.state": {answer: `{"blockId":"4b","height":1098787,"boxGlobalIndex":"1","transactionGlobalIndex":"1","difficulty":"1",
			"network":"mainnet"}`, tested: specs + "[state] simple state fetch; height: " + provider},
		"Query.info": {answer: `{"version":"0.5.5"}`, decided: graph + "objects/info.ts"},
		"Mempool.transactions": {answer: `[{"transactionId":"07","timestamp":"1700423217906","size":1}]`,
			recorded: "fleet-sdk/fleet, packages/_test-vectors/mockedGraphQLTxResponse.json"},
		"Mempool.transactionsCount":  {answer: `1`, decided: graph + "objects/mempool.ts"},
		"Mutation.checkTransaction":  {answer: `"` + submitted + `"`, recorded: provider + "checkTransaction"},
		"Mutation.submitTransaction": {answer: `"` + submitted + `"`, recorded: provider + "submitTransaction"},
	}
)

// Every operation has an answer of ergo-graphql, with whose keys and types the server answers.
func TestEveryOperationHasARealAnswer(t *testing.T) {
	rng := testseed.Rand(t)
	w := newWorld(t, "testnet")
	c := ergogen.New(ergogen.Options{Seed: rng.Uint64(), TxsPerBlock: 8})
	w.Sync(t, 0, ergotest.Made(c, 25)...)
	w.Naive = w.Pend(t, c, 10)
	w.Node.Break(answerSubmissions)
	operations := w.operations(t)
	for operation, o := range originals {
		if !slices.Contains(operations, operation) {
			t.Errorf("%s is no operation", operation)
		}
		sources := slices.DeleteFunc([]string{o.recorded, o.tested, o.decided}, func(s string) bool { return s == "" })
		if len(sources) != 1 {
			t.Errorf("%s: expected a recording, a test of ergo-graphql or a source that decides: %q", operation, sources)
		}
	}
	for _, operation := range operations {
		if _, ok := originals[operation]; !ok {
			t.Errorf("%s has no answer of ergo-graphql", operation)
		}
	}
	w.requests(rng, 6).Verify(t, w, path, operations, func(operation string, _ Request, body string) {
		answertest.SameShape(t, operation, value(t, body), []byte(originals[operation].answer), "additionalRegisters")
	})
}
