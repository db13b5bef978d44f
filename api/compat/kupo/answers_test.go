package kupo_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"birthmark/api/compat/answertest"
	"birthmark/bench/generate/cardanogen"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage/memory"
	"birthmark/storage/storetest"
)

// Each address, transaction, policy, asset, datum, script and point in an answer is an argument of the API with an answer
// that is not empty, over real blocks of preview and over a generated chain.
func TestAnswersLeadToAnswers(t *testing.T) {
	t.Run("preview", func(t *testing.T) {
		testrun.Slow(t)
		preview(t, true, 50_939).crawl(t, 600, "/matches/*?created_before=200000", "/matches/*?created_after=700000&created_before=750000")
	})
	t.Run("generated", func(t *testing.T) {
		c := cardanogen.New(cardanogen.Options{Seed: testseed.Rand(t).Uint64(), TxsPerBlock: 8, AllParts: true})
		dir := t.TempDir()
		if err := c.Genesis().Write(dir); err != nil {
			t.Fatal(err)
		}
		store := storetest.NewFaulty(memory.New())
		w := newWorldIn(t, dir, true, store)
		w.store = store
		n := ouroborostest.Start(t, cardanogen.DefaultMagic, branch(t, c, 100))
		w.sync(t, n.TCP(), model.HeightPk(n.Tip().Number))
		w.crawl(t, 600, "/matches/*?created_before=60000")
	})
}

// ofTransaction matches a request for the outputs of a transaction.
var ofTransaction = regexp.MustCompile(`^/matches(?:/\*@|\?transaction_id=)([0-9a-f]{64})`)

// crawl requests what answers lead to.
func (w *world) crawl(t *testing.T, most int, seeds ...string) {
	t.Helper()
	request := answertest.HTTP(w, path)
	spenders := w.naive.spendersWithoutOutputs()
	for tx := range spenders {
		if status, body := request("/matches?transaction_id=" + tx); status != http.StatusOK || string(body) != "[]" {
			t.Errorf("outputs of %s, which has none: %d %.300s", tx, status, body)
		}
	}
	answertest.Crawl{
		Ask: func(target string) (int, []byte) {
			status, body := request(target)
			if text := string(body); status == http.StatusOK && (text == "null" || text == "[]" && strings.HasPrefix(target, "/matches")) {
				status = http.StatusNotFound
			}
			return status, body
		},
		Seeds: append(seeds, "/checkpoints"),
		Rules: []answertest.Rule{
			{Keys: []string{"address"}, Targets: []string{"/matches/{}", "/matches/{}?resolve_hashes", "/patterns/{}"}},
			{Keys: []string{"transaction_id"}, Targets: []string{"/matches/*@{}?resolve_hashes", "/matches/{output_index}@{}", "/matches?transaction_id={}"}},
			{Keys: []string{"assets{}"}, Pattern: regexp.MustCompile(`[0-9a-f]{56}\.[0-9a-f]+`), Targets: []string{"/matches/{}"}},
			{Keys: []string{"assets{}"}, As: func(id string) string { return id[:56] }, Targets: []string{"/matches/{}.*", "/matches?policy_id={}"}},
			{Keys: []string{"datum_hash"}, Targets: []string{"/datums/{}"}},
			{Keys: []string{"script_hash"}, Targets: []string{"/scripts/{}"}, Rare: true},
			{Keys: []string{"created_at.header_hash"}, Targets: []string{"/matches?created_after={slot_no}.{}&created_before={slot_no}.{}"}},
			{Keys: []string{"slot_no"}, Targets: []string{"/checkpoints/{}", "/checkpoints/{}?strict", "/metadata/{}"}},
		},
		// Hashes of metadata, and of blocks that need not have an output.
		Plain: []string{"hash", "header_hash"}, Contents: []string{"raw", "schema", "datum", "script", "redeemer"}, Most: most, Store: w.store,
		Excused: func(target string, _ int, _ []byte) bool {
			hash, isDatum := strings.CutPrefix(target, "/datums/")
			if isDatum {
				return w.naive.datums[hash] == "" // no transaction contains it
			}
			tx := ofTransaction.FindStringSubmatch(target)
			return tx != nil && spenders[tx[1]] // named by spent_at alone
		},
	}.Run(t)
}
