package birthmark_test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

// phrase is a wording that technical English does not use here, and what to write in its place.
type phrase struct {
	literal string // every match contains it, in lower case
	pattern *regexp.Regexp
	instead string
}

func say(pattern, instead string) phrase {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		panic(err)
	}
	return phrase{literalOf(parsed), regexp.MustCompile(pattern), instead}
}

// literalOf returns the longest text that every match of a pattern contains, in lower case.
func literalOf(r *syntax.Regexp) (longest string) {
	switch r.Op {
	case syntax.OpLiteral:
		return strings.ToLower(string(r.Rune))
	case syntax.OpConcat:
		for _, part := range r.Sub {
			if literal := literalOf(part); len(literal) > len(longest) {
				longest = literal
			}
		}
	}
	return longest
}

// find returns the first match in a line, which is also passed in lower case: most lines lack the literal.
func (p phrase) find(line, lower string) string {
	if !strings.Contains(lower, p.literal) {
		return ""
	}
	return p.pattern.FindString(line)
}

// banned are the phrases. Matching ignores case unless the pattern has capitals on purpose.
var banned = []phrase{
	say(`(?i)\banew\b`, `"again", "a new …"`),
	say(`(?i)\bof one's own\b`, `"custom", "your own"`),
	say(`(?i)\bof (?:ours|yours|itself|themselves)\b`, `"our …", "by itself"`),
	say(`(?i)\bwhoever\b`, `name the subject: the client, the user, the operator`),
	say(`(?i)\bwho (?:asks|reads|follows|wants|serves|waits)\b`, `name the subject: the client, the user, the operator`),
	say(`(?i)\bfor want of\b`, `"because there is no …"`),
	say(`(?i)\bby turns\b`, `"alternately", "in turn"`),
	say(`(?i)\b(?:is|are|was|were|be|been|being) told\b`, `"receives", "is notified", "is passed"`),
	say(`(?i)\b(?:is|are|was|were|be|been|being) asked\b`, `"is queried", "is requested"`),
	say(`(?i)\b(?:is|are|was|were) wanted\b`, `"is needed", "is requested"`),
	say(`(?i)\bwhere (?:there|it|they) (?:is|are|was|were)\b`, `"if …"; "the position of …"`),
	say(`(?i)\b(?:goes|gone|went) on\b|\bgo on (?:with|from|where|at)\b`, `"continues", "resumes"`),
	say(`(?i)\bsa(?:ys?|id) (?:that|how|which|what|where|so|who|whether)\b`, `programs return, report, log, list`),
	say(`(?i)\btells? (?:of|how|what|which|whether|where|who)\b`, `programs return, report, log, list`),
	say(`(?i)\bbeliev|\bremember`, `programs trust, accept; store, cache`),
	say(`(?i)\bthose (?:that|who|which)\b`, `name the things: "rows that", "clients that"`),
	say(`(?i)\b(?:it|that|this|which|%[qsv]) (?:is|are) no (?:[a-km-z]|l[a-np-z])`, `"is not a …"`),
	say(`(?i)\b(?:is|are) none (?:of|there)\b`, `"is not one of", "is absent"`),
	say(`(?i)\bbehind (?:it|them|the (?:block|one|last|first|cursor|page|row|place))\b`, `"after"`),
	say(`(?i)\bst(?:ands?|ood) (?:at|in|where|there|on|above|below|beside|behind|still|before|as)\b`, `"is at", "is stored in"`),
	say(`(?i)\bhow [a-z ]{1,30} stands?\b`, `"the state of", "the balance of"`),
	say(`(?:^|[.:] |// )What (?:is|was|has|it|they|stands|cannot|comes|came|an?|the|such|one|needs|nobody) [^?]*$`, `begin with the noun`),
	say(`(?i)\bbesides\b`, `"also", "in addition"`),
	say(`(?i)\bat the most\b`, `"at most"`),
	say(`(?i)\b(?:in|of|for|by) so many\b|\bso many (?:bytes|blocks|rows|times)\b`, `name the number: "n bytes"`),
	say(`(?i)\bmore seldom\b`, `"less often"`),
	say(`(?i)\bin vain\b`, `"without result", "timeout"`),
	say(`(?i)\bfor good(?:$|[.,;:)])`, `"permanently"`),
	say(`(?i)\bis another one\b`, `"differs", "is a different …"`),
	say(`(?i)\blaws?\b`, `"invariant"`),
	say(`(?i)\bliving (?:database|index)`, `"running database"`),
	say(`(?i)\bwindows? of blocks\b`, `"batch"`),
	say(`(?i)\b(?:takes?|took|taken) (?:[a-z]+ ){0,3}off the chain\b`, `"reorganization", "orphaned"`),
}

// TestPlainEnglish keeps idioms out of comments, strings, templates and documents: see CONTRIBUTING.md.
func TestPlainEnglish(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains([]string{".git", "node_modules", "bin", "demo-data"}, d.Name())):
			return filepath.SkipDir
		case d.IsDir() || path == "prose_test.go":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, p := range passages(path, text) {
			lower := strings.ToLower(p.text)
			for _, b := range banned {
				if found := b.find(p.text, lower); found != "" {
					t.Errorf("%s:%d: %q: write %s", path, p.line, found, b.instead)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Without this the test above could pass because it reads nothing.
func TestBannedPhrasesAreFound(t *testing.T) {
	const code = "package p\n\n// What is here stands in a file.\nvar x = `made anew`\n"
	if n := len(passages("p.go", []byte(code))); n != 2 {
		t.Errorf("%d passages in the code, expected 2", n)
	}
	const page = "It is told `anew`.\n```\nanew\n```\nAgain.\n"
	if p := passages("p.md", []byte(page)); len(p) != 2 || strings.Contains(p[0].text, "anew") || p[1].line != 5 {
		t.Errorf("passages of the page: %+v", p)
	}
	for _, text := range []string{"made anew", "What is here is old", "it is no hash", "clients are told", "The LAW of"} {
		if !slices.ContainsFunc(banned, func(b phrase) bool { return b.find(text, strings.ToLower(text)) != "" }) {
			t.Errorf("%q is not found", text)
		}
	}
}

type passage struct {
	line int
	text string
}

var generated = regexp.MustCompile(`(?m)^// .*[Cc]ode generated .* DO NOT EDIT`)

var codeSpan = regexp.MustCompile("`[^`]*`")

// passages are the lines of a file that people read: comments and strings of Go, prose of Markdown without code,
// everything in templates, scripts and help texts. Generated and binary files have none.
func passages(path string, text []byte) (found []passage) {
	add := func(line int, text string) {
		for i, l := range strings.Split(text, "\n") {
			if strings.TrimSpace(l) != "" {
				found = append(found, passage{line + i, l})
			}
		}
	}
	switch filepath.Ext(path) {
	case ".go":
		if generated.Match(text) {
			return nil
		}
		files := token.NewFileSet()
		var s scanner.Scanner
		s.Init(files.AddFile(path, -1, len(text)), text, nil, scanner.ScanComments)
		for {
			at, tok, literal := s.Scan()
			switch tok {
			case token.EOF:
				return found
			case token.COMMENT, token.STRING:
				add(files.Position(at).Line, literal)
			}
		}
	case ".md":
		if strings.Contains(path, "testdata") {
			return nil
		}
		fenced := false
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				fenced = !fenced
			} else if !fenced && !strings.HasPrefix(line, "| `birthmark_") { // a generated table of metrics
				add(i+1, codeSpan.ReplaceAllString(line, "``"))
			}
		}
	case ".html", ".js", ".css", ".sh", ".service", ".yaml":
		if !strings.Contains(path, "testdata") {
			add(1, string(text))
		}
	case "":
		if filepath.Base(path) == "Makefile" {
			add(1, string(text))
		}
	case ".txt":
		if strings.HasPrefix(filepath.Base(path), "help") {
			add(1, string(text))
		}
	}
	return found
}
