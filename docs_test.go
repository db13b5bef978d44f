package birthmark_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	maxColumns     = 120
	maxReadmeLines = 150
)

// generatedPages are printed from code, which other tests check. Their lines are as long as they need to be.
var generatedPages = []string{"docs/schema.md", "docs/fields.md"}

// documents are all Markdown files of the repository by their path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/adr/*.md", "bench/*.md"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts[filepath.ToSlash(path)] = string(text)
		}
	}
	return texts
}

// TestDocumentLines excepts what cannot be wrapped: output of commands, and tables of generated pages and measurements.
func TestDocumentLines(t *testing.T) {
	for path, text := range documents(t) {
		tables := path == "bench/RESULTS.md"
		metrics := path == "docs/operations.md" // its table of metrics is written by a test
		output, fenced := false, false
		for i, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
				output = fenced && strings.HasPrefix(line, "```console")
			}
			wide := output || slices.Contains(generatedPages, path) || tables && strings.HasPrefix(line, "|") || metrics && strings.HasPrefix(line, "| `birthmark_")
			if n := utf8.RuneCountInString(line); n > maxColumns && !wide {
				t.Errorf("%s:%d: %d columns, expected at most %d", path, i+1, n, maxColumns)
			}
		}
	}
}

func TestReadmeIsShort(t *testing.T) {
	if n := strings.Count(documents(t)["README.md"], "\n"); n > maxReadmeLines {
		t.Errorf("README.md has %d lines, expected at most %d", n, maxReadmeLines)
	}
}

var (
	inlineLink = regexp.MustCompile(`\]\(([^)#: ]*)(?:#([^)]*))?\)`)
	notInSlug  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestDocumentLinks follows every link to another file of the repository, and to a heading in it.
func TestDocumentLinks(t *testing.T) {
	texts := documents(t)
	links := 0
	for path, text := range texts {
		for _, link := range inlineLink.FindAllStringSubmatch(text, -1) {
			links++
			target := path
			if link[1] != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(path), link[1]))
				if _, err := os.Stat(target); err != nil {
					t.Errorf("%s: %v", path, err)
					continue
				}
			}
			if link[2] != "" && !slices.Contains(headings(texts[target]), link[2]) {
				t.Errorf("%s: %s has no heading %s", path, target, link[2])
			}
		}
	}
	if links < 100 {
		t.Errorf("%d links were found", links)
	}
}

// headings are the anchors that a page's headings get.
func headings(page string) (anchors []string) {
	fenced := false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if title := strings.TrimLeft(line, "#"); !fenced && len(title) < len(line) && strings.HasPrefix(title, " ") {
			slug := notInSlug.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			anchors = append(anchors, strings.ReplaceAll(slug, " ", "-"))
		}
	}
	return anchors
}

func TestEveryPageIsInAnIndex(t *testing.T) {
	texts := documents(t)
	for path := range texts {
		dir, name := filepath.Split(path)
		if dir == "docs/" || dir == "docs/adr/" {
			if name != "README.md" && !strings.Contains(texts[dir+"README.md"], "("+name+")") {
				t.Errorf("%s is not in %sREADME.md", path, dir)
			}
		}
	}
}

// A page that is longer than some screens begins with links to its sections.
func TestLongPagesHaveContents(t *testing.T) {
	const short = 150
	long := 0
	for path, text := range documents(t) {
		if filepath.Dir(path) != "docs" || strings.Count(text, "\n") <= short {
			continue
		}
		long++
		_, contents, _ := strings.Cut(text, "\nContents: ")
		contents, _, _ = strings.Cut(contents, "\n\n")
		links, sections := map[string]bool{}, 0
		for _, link := range inlineLink.FindAllStringSubmatch(contents, -1) {
			links[link[2]] = true
		}
		for _, section := range regexp.MustCompile(`(?m)^## .*$`).FindAllString(text, -1) {
			sections++
			if anchor := headings(section)[0]; !links[anchor] {
				t.Errorf("%s has more than %d lines, and its contents lack #%s", path, short, anchor)
			}
		}
		if len(links) != sections {
			t.Errorf("%s has %d sections, and contents of %d", path, sections, len(links))
		}
	}
	if long < 10 {
		t.Errorf("%d long pages, expected at least 10", long)
	}
}

// A line of a list begins with its mark or is indented: another line would end the list, or join its last entry.
func TestListsAreWhole(t *testing.T) {
	entry := regexp.MustCompile(`^ *([*-]|\d+\.) `)
	entries := 0
	for path, text := range documents(t) {
		fenced, list := false, false
		for i, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				fenced = !fenced
			}
			switch {
			case fenced || line == "":
				list = false
			case entry.MatchString(line):
				list = true
				entries++
			case list && !strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "<!--"):
				t.Errorf("%s:%d: %q is not indented in a list", path, i+1, line)
			}
		}
	}
	if entries < 300 {
		t.Errorf("%d entries of lists, expected at least 300", entries)
	}
}

// No file of another project is committed, such as installed packages.
func TestFilesOfOthersAreNotCommitted(t *testing.T) {
	list, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		t.Skip("not a git repository")
	}
	const most = 1 << 20
	for name := range strings.SplitSeq(strings.Trim(string(list), "\x00"), "\x00") {
		if strings.Contains(name, "node_modules/") {
			t.Errorf("%s is committed: remove it, and add node_modules to .gitignore", name)
		} else if info, err := os.Stat(name); err == nil && info.Size() > most {
			t.Errorf("%s has %d bytes, expected at most %d", name, info.Size(), most)
		}
	}
}
