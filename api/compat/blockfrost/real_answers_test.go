package blockfrost_test

import (
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/blake2b"

	"birthmark/api/compat/blockfrost"
	"birthmark/internal/testblocks"
	"birthmark/internal/testrun"
)

// realAnswer describes the answers of Blockfrost to an operation, in the form that testdata/real-answers.txt explains.
type realAnswer struct {
	source, form string
	digests      [][2]string // endpoint and digest
	answered     bool        // a test of this package got an answer that is not an empty list
}

// realAnswers are the real answers by operation.
var realAnswers = func() map[string]*realAnswer {
	text, err := os.ReadFile("testdata/real-answers.txt")
	if err != nil {
		panic(err)
	}
	all := map[string]*realAnswer{}
	var at *realAnswer
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		rest, indented := strings.CutPrefix(line, "  ")
		switch {
		case strings.HasPrefix(line, "#"):
		case !indented:
			at = &realAnswer{}
			all[line] = at
		case at.source == "":
			at.source = rest
		case strings.HasPrefix(rest, "= "):
			endpoint, sum, _ := strings.Cut(rest[2:], " ")
			at.digests = append(at.digests, [2]string{endpoint, sum})
		default:
			at.form += " " + rest
		}
	}
	return all
}()

// Each operation that is answered has at least one real answer of Blockfrost, with its source. All tests of the package
// compare the keys and types of their answers with it.
func TestEveryOperationHasARealAnswer(t *testing.T) {
	known := map[string]bool{}
	for _, o := range blockfrost.Operations() {
		name := o.Method + " " + o.Path
		if known[name] = true; o.Reason != "" {
			continue
		}
		if real := realAnswers[name]; real == nil || real.source == "" || strings.TrimSpace(real.form) == "" {
			t.Errorf("%s has no real answer in testdata/real-answers.txt", name)
		}
	}
	for name := range realAnswers {
		if !known[name] {
			t.Errorf("%s is no operation", name)
		}
	}
}

// Answers of the real preview network are equal to those of Blockfrost.
func (w *world) realAnswers(t *testing.T) {
	compared := 0
	for name, real := range realAnswers {
		for _, d := range real.digests {
			if compared++; digest(t, w.get(t, d[0])) != d[1] {
				t.Errorf("%s: %s differs from the answer in %s: %s", name, d[0], real.source, text(w.get(t, d[0])))
			}
		}
	}
	if compared == 0 {
		t.Error("no answer was compared")
	}
}

// Blockfrost's own tests of malformed requests to the preview network have their answers. BIRTHMARK_BLOCKFROST_TESTS is the
// folder that tools/interop/blockfrost/fixtures.mjs writes.
func TestFixturesOfErrors(t *testing.T) {
	folder := os.Getenv("BIRTHMARK_BLOCKFROST_TESTS")
	if folder == "" {
		t.Skip("BIRTHMARK_BLOCKFROST_TESTS is not set")
	}
	w, tried := preview(t, 100), 0
	text, err := os.ReadFile(filepath.Join(folder, "preview.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range parsed(t, "preview.json", string(text)).([]any) {
		endpoint := f.(object)["endpoint"].(string)
		want, _ := f.(object)["response"].(object)
		if fmt.Sprint(want["status_code"]) != "400" || strings.HasPrefix(endpoint, "swaps/") { // swaps are not on the chain
			continue
		}
		tried++
		if _, body := w.ask(t, "GET", "/"+endpoint); fmt.Sprint(parsed(t, endpoint, body)) != fmt.Sprint(want) {
			t.Errorf("%s: %s, expected %v", endpoint, body, want)
		}
	}
	if tried < 200 {
		t.Errorf("only %d requests were tried", tried)
	}
}

// The tests get an answer with contents from each operation. A parallel test runs when all others have ended.
func TestEveryOperationIsAnsweredInATest(t *testing.T) {
	testrun.Slow(t)
	if flag.Lookup("test.run").Value.String() != "" || flag.Lookup("test.skip").Value.String() != "" {
		t.Skip("only a part of the tests runs")
	}
	testblocks.Path(t, "cardano", "dingo-immutable") // without it, the tests of real blocks are skipped
	t.Parallel()
	for name, real := range realAnswers {
		if !real.answered {
			t.Errorf("no test gets an answer of %s that is not empty", name)
		}
	}
}

// likeReal fails if an answer does not have the keys and types of the real ones.
func likeReal(t testing.TB, operation string, answer any) {
	t.Helper()
	real := realAnswers[operation]
	if real == nil {
		return // TestEveryOperationHasARealAnswer reports it
	}
	if list, isList := answer.([]any); !isList || len(list) > 0 {
		real.answered = true
	}
	if fault, rest := fits(strings.TrimSpace(real.form), "answer", answer); fault != "" {
		t.Errorf("%s: %s, unlike the answers in %s", operation, fault, real.source)
	} else if rest != "" {
		t.Fatalf("%s: malformed form at %q", operation, rest)
	}
}

// fits returns how a value differs from a form, empty if it does not, and the rest of the text after the form.
func fits(form, at string, v any) (fault, rest string) {
	differs := func(expected string) string { return fmt.Sprintf("%s is %.60v, expected %s", at, v, expected) }
	switch form[0] {
	case '[':
		all, ok := v.([]any)
		if !ok && v != nil {
			fault = differs("a list")
		}
		_, rest = fits(form[1:], at, nil)
		for i, e := range all {
			if f, _ := fits(form[1:], fmt.Sprintf("%s[%d]", at, i), e); f != "" && fault == "" {
				fault = f
			}
		}
		rest = strings.TrimPrefix(rest, "]")
	case '{':
		fault, rest = fitsObject(form, at, v)
	default:
		rest = strings.TrimLeft(form, "snb*")
		kind := map[string]string{"string": "s", "json.Number": "n", "bool": "b"}[fmt.Sprintf("%T", v)]
		if kinds := form[:len(form)-len(rest)]; kinds != "*" && v != nil && (kind == "" || !strings.Contains(kinds, kind)) {
			fault = differs("type " + kinds)
		} else if kinds == "*" {
			return "", strings.TrimPrefix(rest, "?")
		}
	}
	nullable := strings.HasPrefix(rest, "?")
	if v == nil && !nullable {
		fault = differs("no null")
	} else if v == nil {
		fault = ""
	}
	return fault, strings.TrimPrefix(rest, "?")
}

func fitsObject(form, at string, v any) (fault, rest string) {
	m, ok := v.(object)
	if !ok && v != nil {
		fault = fmt.Sprintf("%s is %.60v, expected an object", at, v)
	}
	var names []string
	for rest = form[1:]; !strings.HasPrefix(rest, "}"); rest = strings.TrimPrefix(rest, ", ") {
		name, after, _ := strings.Cut(rest, " ")
		name, optional := strings.CutSuffix(name, "~")
		names = append(names, name)
		part, has := m[name]
		var f string
		if f, rest = fits(after, at+"."+name, part); has && f != "" && fault == "" {
			fault = f
		}
		if !has && !optional && ok && fault == "" {
			fault = at + " lacks " + name
		}
	}
	for name := range m {
		if !slices.Contains(names, name) && fault == "" {
			fault = at + " has also " + name
		}
	}
	rest, canBeEmpty := strings.CutPrefix(rest[1:], "~")
	if canBeEmpty && ok && len(m) == 0 {
		fault = ""
	}
	return fault, rest
}

// digest identifies an answer, without the confirmations in it, which depend on the tip.
func digest(t testing.TB, answer any) string {
	t.Helper()
	b, err := json.Marshal(withoutConfirmations(answer))
	if err != nil {
		t.Fatal(err)
	}
	sum := blake2b.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

func withoutConfirmations(v any) any {
	switch v := v.(type) {
	case object:
		all := object{}
		for name, part := range v {
			if name != "confirmations" {
				all[name] = withoutConfirmations(part)
			}
		}
		return all
	case []any:
		all := []any{}
		for _, part := range v {
			all = append(all, withoutConfirmations(part))
		}
		return all
	}
	return v
}
