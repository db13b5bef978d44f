package answertest

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/storage/storetest"
)

// Crawl is an API, and rules for the texts in its answers that are arguments.
type Crawl struct {
	// Ask sends a request. A target is "/path" or "POST /path body", or whatever a protocol other than HTTP needs.
	// A status from 400 is a refusal.
	Ask   func(target string) (status int, body []byte)
	Seeds []string
	Rules []Rule

	// Excused reports whether a refusal is documented; nil: none is. The reason belongs into a comment of the test.
	Excused func(target string, status int, body []byte) bool
	// Plain are keys of texts that look like names but are no argument of any request, like a Merkle root. Keys are
	// written as in Rule. If Plain is nil, texts without a rule are not reported.
	Plain []string
	// Contents are keys below which nothing is read, because their values are arbitrary, such as metadata.
	Contents []string
	// Own is set for an API of the project itself, which has texts "hex:…". They are an error in every other API.
	Own bool
	// Most is the limit of requests; 0: 2,000. BIRTHMARK_REQUESTS replaces it.
	Most int
	// Store is the store of the database, if requests are repeated with reads of it that fail: see [FailedReads].
	Store *storetest.Faulty
}

// Rule recognizes one kind of text.
type Rule struct {
	// Keys are the keys of JSON under which the text is, from the inner one outwards as far as needed: "txid", or
	// "vin.txid" for the key txid in an object under the key vin. Lists do not count. The name of a member of an object
	// under the key assets has the key "assets{}". Links of HTML pages have the key "href", and an answer that is neither
	// JSON nor HTML has the key "text". Without keys, all texts that match Pattern belong to the rule.
	Keys    []string
	Pattern *regexp.Regexp // that the whole text matches; nil: any text that is not empty
	// In matches the targets whose answers have such texts; nil: all. It tells apart answers that are a text or a list of
	// texts.
	In *regexp.Regexp
	// As turns a text into the argument, for example a script into its hash; nil: it is the argument.
	As func(text string) string
	// Targets are the requests with the text as an argument. {} is the text, escaped as a segment of a path, {=} is the
	// text as it is. {key} is the escaped value of another key of the same object; a target without such a value is
	// skipped.
	Targets []string
	// Rare is set if the chain of the test need not have such a text.
	Rare bool
}

// names is the form of texts that probably name something: hashes, bech32, base58.
var names = regexp.MustCompile(`^([0-9a-f]{56,80}|[a-z_]{1,83}1[02-9ac-hj-np-z]{20,}|[1-9A-HJ-NP-Za-km-z]{26,120})$`)

// request is a target and the place at which its argument was found.
type request struct{ target, found string }

type crawler struct {
	Crawl
	t        testing.TB
	rng      *rand.Rand
	queues   [][]request // by rule; those of the seeds are the last
	asked    []int       // by queue
	known    map[string]bool
	answered []string
	matched  []int // texts by rule
	without  map[string]string
	faults   map[string]int
}

// Run crawls the API. The order is random; requests of all rules take turns, so that no rule uses up the limit.
func (c Crawl) Run(t testing.TB) {
	t.Helper()
	if c.Most == 0 {
		c.Most = 2000
	}
	c.Most = testrun.Requests(t, c.Most)
	n := len(c.Rules)
	r := &crawler{
		Crawl: c, t: t, rng: testseed.Rand(t), queues: make([][]request, n+1), asked: make([]int, n+1), matched: make([]int, n),
		known: map[string]bool{}, without: map[string]string{}, faults: map[string]int{},
	}
	charged := func() int { return 1 }
	if c.Store != nil {
		charged = Charged(t, c.Store)
	}
	for _, seed := range c.Seeds {
		r.add(n, seed, "the seeds")
	}
	count := 0
	for ; count < c.Most; count++ {
		next, ok := r.next()
		if !ok {
			break
		}
		r.ask(next)
	}
	for i, rule := range c.Rules {
		if r.matched[i] == 0 && !rule.Rare {
			t.Errorf("no text of the rule %v %v in %d answers", rule.Keys, rule.Pattern, count)
		}
	}
	for key, example := range r.without {
		t.Errorf("texts of the key %s have no rule: %s", key, example)
	}
	for fault, times := range r.faults {
		if times > shown {
			t.Errorf("%s: %d times in all", fault, times)
		}
	}
	left := 0
	for _, q := range r.queues {
		left += len(q)
	}
	t.Logf("%d requests, %d left, texts by rule %v", count, left, r.matched)
	if charged() == 0 {
		t.Error("no request read a row with a meter")
	}
	if c.Store != nil {
		FailedReads(t, c.Store, c.Ask, r.answered)
	}
}

// shown is the number of errors of a kind that are printed.
const shown = 5

func (r *crawler) fault(kind, format string, args ...any) {
	r.t.Helper()
	if r.faults[kind]++; r.faults[kind] <= shown {
		r.t.Errorf(format, args...)
	}
}

func (r *crawler) add(queue int, target, found string) {
	if !r.known[target] {
		r.known[target] = true
		r.queues[queue] = append(r.queues[queue], request{target, found})
	}
}

// next takes a random request of the rule with the fewest requests so far.
func (r *crawler) next() (request, bool) {
	best := -1
	for i, q := range r.queues {
		if len(q) > 0 && (best < 0 || r.asked[i] < r.asked[best]) {
			best = i
		}
	}
	if best < 0 {
		return request{}, false
	}
	r.asked[best]++
	q := r.queues[best]
	i := r.rng.IntN(len(q))
	next := q[i]
	q[i] = q[len(q)-1]
	r.queues[best] = q[:len(q)-1]
	return next, true
}

func (r *crawler) ask(q request) {
	r.t.Helper()
	status, body := r.Ask(q.target)
	if status >= http.StatusBadRequest {
		if r.Excused == nil || !r.Excused(q.target, status, body) {
			r.fault(fmt.Sprintf("%d %s", status, kindOf(q.target)), "%s: %d %.300s\n\tfound in %s", q.target, status, body, q.found)
		}
		return
	}
	r.answered = append(r.answered, q.target)
	if err := read(body, func(l leaf) { r.leaf(q.target, l) }, r.Contents); err != nil {
		r.fault("unreadable", "%s: %v", q.target, err)
	}
}

// kindOf returns a target without its arguments, roughly: errors of one kind are printed a few times only.
func kindOf(target string) string { return argument.ReplaceAllString(target, "…") }

var argument = regexp.MustCompile(`[^/ ?&=",:\[\]]{20,}|\d+`)

func (r *crawler) leaf(target string, l leaf) {
	r.t.Helper()
	if l.text == "" {
		return
	}
	if l.path[0] == "href" && l.text[0] == '?' { // relative to the page
		path, _, _ := strings.Cut(target, "?")
		l.text = path + l.text
	}
	if !r.Own && strings.HasPrefix(l.text, "hex:") {
		r.fault("hex: at "+l.path[0], "%s: %s is %q, a form of this server alone", target, l.key(), l.text)
	}
	ruled := false
	for i, rule := range r.Rules {
		if !rule.matches(target, l) {
			continue
		}
		ruled = true
		r.matched[i]++
		for _, template := range rule.Targets {
			if next, ok := l.fill(template, rule.As); ok {
				r.add(i, next, target+" at "+l.key())
			}
		}
	}
	if ruled || r.Plain == nil || !names.MatchString(l.text) || slices.ContainsFunc(r.Plain, l.has) {
		return
	}
	r.without[l.key()] = fmt.Sprintf("%q in %s", l.text, target)
}

func (r Rule) matches(target string, l leaf) bool {
	if r.In != nil && !r.In.MatchString(target) {
		return false
	}
	if len(r.Keys) > 0 && !slices.ContainsFunc(r.Keys, l.has) {
		return false
	}
	return r.Pattern == nil || r.Pattern.FindString(l.text) == l.text
}

var field = regexp.MustCompile(`\{[a-z_A-Z=]*\}`)

// fill returns a target with the text of l in the place of {} and {=}, and values beside it in the place of their keys.
func (l leaf) fill(template string, as func(string) string) (string, bool) {
	ok, argument := true, l.text
	if as != nil {
		argument = as(argument)
	}
	return field.ReplaceAllStringFunc(template, func(name string) string {
		switch name {
		case "{}":
			return url.PathEscape(argument)
		case "{=}":
			return argument
		}
		text, scalar := scalarText(l.beside[name[1:len(name)-1]])
		ok = ok && scalar
		return url.PathEscape(text)
	}), ok
}

// HTTP sends requests to a handler below prefix. A panic is an answer with status 500.
func HTTP(h http.Handler, prefix string) func(string) (int, []byte) {
	return func(target string) (status int, body []byte) {
		method, rest, post := strings.Cut(target, " ")
		path, content := target, ""
		if post {
			path, content, _ = strings.Cut(rest, " ")
		} else {
			method = http.MethodGet
		}
		defer func() {
			if p := recover(); p != nil {
				status, body = http.StatusInternalServerError, fmt.Appendf(nil, "panic: %v", p)
			}
		}()
		q := httptest.NewRequest(method, prefix+path, strings.NewReader(content))
		if post {
			q.Header.Set("Content-Type", "application/json")
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, q)
		return w.Code, w.Body.Bytes()
	}
}
