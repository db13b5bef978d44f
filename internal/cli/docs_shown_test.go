package cli

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shown is a command line that a page shows.
type shown struct {
	at   string // page and line
	page string
	// Lines of one group continue each other: they run in one folder. An empty line separates groups.
	group   int
	session bool // with its output, which other tests compare
	mention bool // in a sentence
	line    string
}

// shownSettings is a YAML block of a page.
type shownSettings struct{ at, page, section, text string }

// userPages returns the pages for users by their path.
func userPages(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	paths, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d pages, %v", len(paths), err)
	}
	pages := map[string]string{}
	for _, path := range append(paths, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md"), filepath.Join(root, "SECURITY.md")) {
		name, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		pages[filepath.ToSlash(name)] = readText(t, path)
	}
	return pages
}

// blockLanguages are the languages of blocks in pages. Tests run blocks of sh and console, and read those of yaml.
var blockLanguages = []string{"sh", "console", "yaml", "json", "js", "go", "diff", "text", "nginx", "haproxy", "sql", "python"}

var (
	inlineCode    = regexp.MustCompile("`([^`]+)`")
	startsCommand = regexp.MustCompile(`^(?:birthmark|curl) `)
)

// shownInPages returns the command lines and the settings in the pages for users.
func shownInPages(t *testing.T) (commands []shown, settings []shownSettings) {
	t.Helper()
	pages := userPages(t)
	names := map[string]bool{}
	for _, c := range testProgram(nil, nil, nil).app().Commands {
		names[c.Name] = true
	}
	group := 0
	for _, page := range slices.Sorted(maps.Keys(pages)) {
		var prose strings.Builder // the page without its blocks
		language, section, begun, block := "", "", "", ""
		for i, line := range strings.Split(pages[page], "\n") {
			at := fmt.Sprintf("%s:%d", page, i+1)
			text := strings.TrimSpace(line)
			add := func(line string, session bool) {
				commands = append(commands, shown{at: at, page: page, group: group, session: session, line: line})
			}
			plain := ""
			switch fence, ok := strings.CutPrefix(text, "```"); {
			case ok && language == "":
				if language, begun, block = fence, at, ""; !slices.Contains(blockLanguages, language) {
					t.Errorf("%s: the block has the language %q, expected one of %s", at, language, strings.Join(blockLanguages, ", "))
				}
				group++
			case ok:
				if language == "yaml" {
					settings = append(settings, shownSettings{begun, page, section, block})
				}
				language = ""
				group++
			case language == "sh" && text == "":
				group++
			case language == "sh" && strings.HasPrefix(text, "#"):
			case language == "sh":
				if part, more := strings.CutSuffix(text, `\`); more {
					block += part
				} else {
					add(block+text, false)
					block = ""
				}
			case language == "console":
				if line, ok := strings.CutPrefix(line, "$ "); ok {
					add(line, true)
				}
			case language != "":
				block += line + "\n"
			case strings.HasPrefix(line, "    ") && startsCommand.MatchString(text):
				add(text, false)
			default:
				plain = line
				if title, ok := strings.CutPrefix(line, "## "); ok {
					section = title
				}
				if text == "" {
					group++
				}
			}
			prose.WriteString(plain + "\n")
		}
		text := prose.String()
		for _, code := range inlineCode.FindAllStringSubmatchIndex(text, -1) {
			line := strings.Join(strings.Fields(text[code[2]:code[3]]), " ")
			name, rest, _ := strings.Cut(line, " ")
			switch {
			case startsCommand.MatchString(line):
			case names[name] && strings.Contains(rest, "--"): // the rest of a command line
				line = "birthmark " + line
			default:
				continue
			}
			at := fmt.Sprintf("%s:%d", page, 1+strings.Count(text[:code[0]], "\n"))
			commands = append(commands, shown{at: at, page: page, mention: true, line: line})
		}
	}
	return commands, settings
}
