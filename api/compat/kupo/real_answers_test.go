package kupo_test

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"birthmark/api/compat/answertest"
	"birthmark/api/compat/kupo"
	"birthmark/model"
)

// answers of Kupo by operation, with their sources: repositories of github.com with the path of a file. $NAME in a request
// is a value of the chain of the test. An answer is compared by keys and types, and with same by value too.
//
// No recorded answer is known of DELETE /matches, of a match that is spent, and of all members of the JSON of health. Kupo's
// tests have their status and compare them with its document (test/Test/Kupo/App/HttpSpec.hs of CardanoSolutions/kupo at
// 7ee832c4ac50d156f4c62204dadc1b6b826cda26); its encoders decide the rest (src/Kupo/Data/Pattern.hs, Health.hs).
// Looked at: clients (kugo, kupmios of lucid-evolution, mesh, pycardano, cardano-transaction-lib), cardano-up, issues.
var answers = []struct {
	operation, request, source, answer string
	headers                            []string
	same                               bool
	status                             int // 0 is 200
}{
	{operation: "GET /matches", request: "/matches?unspent&created_before=$EARLY", source: "Anastasia-Labs/lucid-evolution packages/provider/test/kupo-schema.test.ts",
		answer: `[{"transaction_index":0,"transaction_id":"00","output_index":0,"address":"addr_test1qrngfyc","value":{"coins":9909659524,
			"assets":{"0123456789abcdef0123456789abcdef0123456789abcdef01234567.4c75636964":1}},"datum_hash":null,"script_hash":null,
			"created_at":{"slot_no":1,"header_hash":"11"},"spent_at":null}]`},
	{operation: "GET /matches", request: "/matches/$BARE?unspent", source: "the same", headers: []string{"Accept", "application/json;asset-quantity=string"},
		answer: `[{"transaction_index":0,"transaction_id":"00","output_index":0,"address":"addr_test1qrngfyc","value":{"coins":"9909659524",
			"assets":{"0123456789abcdef0123456789abcdef0123456789abcdef01234567.4c75636964":"9223372036854775807"}},"datum_hash":null,
			"script_hash":null,"created_at":{"slot_no":1,"header_hash":"11"},"spent_at":null}]`},
	{operation: "GET /matches", request: "/matches/$SPENT?spent&resolve_hashes", source: "CardanoSolutions/kupo src/Kupo/Data/Pattern.hs",
		answer: `[{"transaction_index":0,"transaction_id":"00","output_index":0,"address":"addr_test1qrngfyc","value":{"coins":1,"assets":{}},
			"datum_hash":"30","datum":"d87980","datum_type":"hash","script_hash":null,"script":null,"created_at":{"slot_no":1,"header_hash":"11"},
			"spent_at":{"slot_no":2,"header_hash":"11","transaction_id":"00","input_index":0,"redeemer":"d87980"}}]`},
	{operation: "DELETE /matches", request: "/matches/*", source: "CardanoSolutions/kupo test/Test/Kupo/App/HttpSpec.hs: † DELETE /matches/{pattern}, with an active pattern",
		answer: `{"hint":"the pattern is active"}`, status: http.StatusBadRequest},
	{operation: "GET /datums", request: "/datums/$DATUM", source: "a client's comment with an answer of preprod, which its hash confirms",
		answer: `{"datum":"d8799f581c85dd77175f468677da789223823e7249f7c61240b2c50d700df2ea0d1b0000018f0c462638ff"}`},
	{operation: "GET /datums", request: "/datums/34215ad90b1ade84f5b4fe3c0a16cb3afeae468210535e0305efd93931f35059",
		source: "CardanoSolutions/kupo docs/api/v2.12.0.yaml", answer: `null`, same: true},
	{operation: "GET /scripts", request: "/scripts/$SCRIPT", source: "CardanoSolutions/kupo docs/api/v2.12.0.yaml",
		answer: `{"language":"native","script":"8201838200581c3c07030e36bfffe67e2e2ec09e5293d384637cd2f004356ef320f3fe8204186482051896"}`},
	{operation: "GET /scripts", request: "/scripts/4fc6bb0c93780ad706425d9f7dc1d3c5e3ddbf29ba8486dce904a5fc", source: "SundaeSwap-finance/kugo script_test.go",
		answer: `null`, same: true},
	{operation: "GET /metadata", request: "/metadata/$LABELLED", source: "SundaeSwap-finance/kugo metadata_test.go, and its schema from CardanoSolutions/kupo docs/api/v2.12.0.yaml",
		answer: `[{"hash":"b64602eebf602e8bbce198e2a1d6bbb2a109ae87fa5316135d217110d6d94649",
			"raw":"a11902a2a1636d736781781c4d696e737761703a205377617020457861637420496e204f72646572","schema":{"674":null}}]`},
	{operation: "GET /metadata", request: "/metadata/0", source: "SundaeSwap-finance/kugo metadata_test.go", answer: `[]`, same: true},
	{operation: "GET /checkpoints", request: "/checkpoints", source: "CardanoSolutions/kupo docs/api/v2.12.0.yaml",
		answer: `[{"slot_no":51540727,"header_hash":"9d09"}]`},
	{operation: "GET /checkpoints", request: "/checkpoints/$AFTER", source: "SundaeSwap-finance/kugo checkpoints_test.go",
		answer: `{"slot_no":51540722,"header_hash":"fe5f9af58ab0511a77524f4d2a0b930213b3bb1353e11e3d69e83129b9fbe65a"}`},
	{operation: "GET /patterns", request: "/patterns", source: "SundaeSwap-finance/kugo patterns_test.go", answer: `["*"]`, same: true},
	{operation: "GET /patterns", request: "/patterns/$BARE", source: "CardanoSolutions/kupo docs/api/v2.12.0.yaml", answer: `["*"]`, same: true},
	{operation: "PUT /patterns", request: "/patterns/$BARE", source: "CardanoSolutions/kupo docs/api/v2.12.0.yaml", answer: `["*"]`},
	{operation: "DELETE /patterns", request: "/patterns/$BARE", source: "CardanoSolutions/kupo docs/api/v2.12.0.yaml", answer: `{"deleted":0}`, same: true},
	{operation: "GET /health", request: "/health", source: "CardanoSolutions/kupo src/Kupo/Data/Health.hs",
		answer: `{"connection_status":"connected","most_recent_checkpoint":11760261,"most_recent_node_tip":57360028,"seconds_since_last_block":2,
			"network_synchronization":0.73956,"configuration":{"indexes":"installed"},"version":"v2.12.0"}`},
	{operation: "GET /health", request: "/health", source: "blinklabs-io/cardano-up pull request 189", headers: []string{"Accept", "*/*"}, answer: metricsText},
	{operation: "GET /metrics", request: "/metrics", source: "CardanoSolutions/kupo docs/api/v2.12.0.yaml", headers: []string{"Accept", "text/plain"}, answer: metricsText},
}

// metricsText is the example of Kupo's document. Programs split its lines at two spaces.
const metricsText = `# TYPE kupo_configuration_indexes gauge
kupo_configuration_indexes  1.0

# TYPE kupo_connection_status gauge
kupo_connection_status  1.0

# TYPE kupo_most_recent_checkpoint counter
kupo_most_recent_checkpoint  61264845

# TYPE kupo_most_recent_node_tip counter
kupo_most_recent_node_tip  82838775

# TYPE kupo_network_synchronization gauge
kupo_network_synchronization  0.73956

# TYPE kupo_seconds_since_last_block gauge
kupo_seconds_since_last_block  2.0
`

// Each operation has an answer of Kupo, and ours has its shape.
func TestEveryOperationHasARealAnswer(t *testing.T) {
	w := preview(t, true, 50_939)
	values := w.examples(t)
	known := map[string]bool{}
	for _, real := range answers {
		known[real.operation] = true
		if real.source == "" {
			t.Errorf("%s %s has no source", real.operation, real.request)
		}
		method, _, _ := strings.Cut(real.operation, " ")
		request := regexp.MustCompile(`\$[A-Z]+`).ReplaceAllStringFunc(real.request, func(name string) string {
			if values[name] == "" {
				t.Errorf("%s: the chain has no %s", real.request, name)
			}
			return values[name]
		})
		a := w.ask(t, method, request, real.headers...)
		got, name := a.body, method+" "+request
		if want := cmp.Or(real.status, http.StatusOK); a.status != want {
			t.Errorf("%s: status %d, expected %d as in %s", name, a.status, want, real.source)
		}
		if real.answer == metricsText {
			if got, want := numbers.ReplaceAllString(got, "$1"), numbers.ReplaceAllString(real.answer, "$1"); got != want {
				t.Errorf("%s: %q, expected %q as in %s", name, got, want, real.source)
			}
			continue
		}
		answertest.SameShape(t, name+", as in "+real.source, []byte(got), []byte(real.answer), "assets", "schema")
		if empty := got == "null" || got == "[]"; real.same && got != real.answer || !real.same && empty {
			t.Errorf("%s: %s, expected %s as in %s", name, got, real.answer, real.source)
		}
	}
	for _, operation := range kupo.Operations() {
		if !known[operation] {
			t.Errorf("%s has no answer of Kupo", operation)
		}
		delete(known, operation)
	}
	for operation := range known {
		t.Errorf("%s is no operation", operation)
	}
}

// numbers are values of metrics: whole numbers, and numbers with a point.
var numbers = regexp.MustCompile(`(?m)  \d+(\.?)\d*$`)

// examples returns values of the chain by the names that requests of answers have.
func (w *world) examples(t *testing.T) map[string]string {
	t.Helper()
	blocks := w.naive.blocks
	values := map[string]string{"$AFTER": fmt.Sprint(blocks[len(blocks)/2].Slot + 1), "$EARLY": fmt.Sprint(blocks[100].Slot)}
	for _, o := range w.naive.outputs {
		at := fmt.Sprintf("%d@%s", o.index, o.tx)
		switch {
		case o.spent == nil && o.details.DatumHash == "":
			values["$BARE"] = at
		case o.redeemer != "" && w.naive.datums[o.details.DatumHash] != "" && o.details.Datum == nil:
			values["$SPENT"] = at
		}
		if w.naive.datums[o.details.DatumHash] != "" {
			values["$DATUM"] = o.details.DatumHash
		}
		if s := o.details.ScriptRef; s != nil {
			values["$SCRIPT"] = s.Hash
		}
	}
	at := slices.IndexFunc(blocks, func(p model.Point) bool { return len(w.naive.metadata[p.Hash]) > 0 })
	if at >= 0 {
		values["$LABELLED"] = fmt.Sprint(blocks[at].Slot)
	}
	return values
}
