package cli

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"birthmark/internal/config"
)

// otherYAML are YAML blocks that are not settings, by a key of them.
var otherYAML = map[string]string{"scrape_configs": "settings of Prometheus"}

// chainOfSection is the chain of settings that do not name one, by the section of the page.
var chainOfSection = map[string]string{
	"docs/indexes.md Defining an index": "bitcoin",
	"docs/indexes.md Bitcoin":           "bitcoin",
	"docs/indexes.md Cardano":           "cardano",
	"docs/indexes.md Ergo":              "ergo",
}

// TestSettingsInThePages reads every YAML block of the pages for users as a settings file. The program and the schema
// accept it, and the settings have all that they need.
func TestSettingsInThePages(t *testing.T) {
	t.Parallel()
	_, blocks := shownInPages(t)
	others, chains := uses(t, "otherYAML", otherYAML), uses(t, "chainOfSection", chainOfSection)
	schema := settingsSchema(t)
	dir := t.TempDir()
	// Addresses and folders that the machine may have.
	replace := strings.NewReplacer("/var/lib/birthmark", filepath.Join(dir, "lib"), `"p2p://"`, "p2p://127.0.0.1:1", "127.0.0.1:8080", "127.0.0.1:0",
		":50001", "127.0.0.1:0", ":50002", "127.0.0.1:0", ":50003", "127.0.0.1:0", ":50004", "127.0.0.1:0")
	count := 0
	for _, b := range blocks {
		if key, _, _ := strings.Cut(b.text, ":"); others.has(key) {
			continue
		}
		count++
		text := b.text
		if !strings.Contains(text, "chain:") && chains.has(b.page+" "+b.section) {
			text = "chain: " + chainOfSection[b.page+" "+b.section] + "\n" + text
		}
		if err := fitsSchema(t, schema, text); err != nil {
			t.Errorf("%s: %v\n%s", b.at, err, text)
		}
		file := filepath.Join(dir, "birthmark.yaml")
		write(t, file, replace.Replace(text))
		if r := birthmark("config", "--config", file); r.status != exitDone || r.stderr != "" {
			t.Errorf("%s: %+v\n%s", b.at, r, text)
			continue
		}
		if every := b.page == "docs/settings.md" && b.section == "One chain"; every || !strings.Contains(text, "chain:") {
			continue // settings of all chains, or of none
		}
		var a struct {
			Chains []struct {
				Error   string
				Missing []any
			}
			Listen []string
		}
		r := birthmark("config", "--check", "--json", "--config", file)
		if err := json.Unmarshal([]byte(r.stdout), &a); err != nil || len(a.Chains) == 0 || len(a.Listen) > 0 {
			t.Errorf("%s: %v: %+v\n%s", b.at, err, r, text)
		}
		for _, c := range a.Chains {
			if c.Error != "" || len(c.Missing) > 0 {
				t.Errorf("%s: %+v\n%s", b.at, c, text)
			}
		}
	}
	if count < 35 {
		t.Errorf("%d blocks of settings, expected at least 35", count)
	}
}

// TestSettingsPageIsComplete finds every setting in docs/settings.md.
func TestSettingsPageIsComplete(t *testing.T) {
	t.Parallel()
	page := userPages(t)["docs/settings.md"]
	shown := map[string]bool{}
	var keys func(prefix string, v any)
	keys = func(prefix string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, inner := range v {
				if name != "chains" {
					shown[prefix+name] = true
					keys(prefix+name+".", inner)
					continue
				}
				keys("", inner)
			}
		case []any:
			for _, one := range v {
				keys(prefix, one)
			}
		}
	}
	_, blocks := shownInPages(t)
	for _, b := range blocks {
		if b.page == "docs/settings.md" {
			var v map[string]any
			if err := yaml.Unmarshal([]byte(b.text), &v); err != nil {
				t.Fatal(err)
			}
			keys("", v)
		}
	}
	known := map[string]bool{}
	for _, key := range config.Keys() {
		known[key] = true
		group, inner, nested := strings.Cut(key, ".")
		if shown[key] {
			continue
		}
		name := inner
		if !nested {
			name = group
		}
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(page) {
			t.Errorf("docs/settings.md lacks the setting %s", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(shown)) {
		group := slices.ContainsFunc(config.Keys(), func(k string) bool { return strings.HasPrefix(k, key+".") })
		if !known[key] && !group && !strings.HasPrefix(key, "indexes.") {
			t.Errorf("docs/settings.md has %s, which is not a setting", key)
		}
	}
}

// otherFlags are flags and variables in sentences that do not belong to the program.
var otherFlags = map[string]string{
	"--socket-path":               "of cardano-node",
	"--oneserver":                 "of Electrum",
	"--server":                    "of Electrum",
	"--compressed":                "of curl",
	"--now":                       "of systemctl",
	"BIRTHMARK_KUPO_OPENAPI":      "of tests",
	"BIRTHMARK_BLOCKFROST_SCHEMA": "of tests",
}

// TestFlagsAndVariablesInThePages finds each flag and each environment variable that a sentence names in the program.
func TestFlagsAndVariablesInThePages(t *testing.T) {
	t.Parallel()
	flags := map[string]bool{"--json": true, "--help": true, "--version": true}
	for _, page := range manPages(testProgram(nil, nil, nil).app()) {
		for _, f := range page.Flags {
			flags[regexp.MustCompile(`^--[a-z0-9-]+`).FindString(f.Text)] = true
		}
	}
	others := uses(t, "otherFlags", otherFlags)
	count := 0
	for page, text := range userPages(t) {
		if page == "CONTRIBUTING.md" { // is about other programs
			continue
		}
		for _, code := range inlineCode.FindAllStringSubmatch(regexp.MustCompile("(?s)```.*?\n *```").ReplaceAllString(text, ""), -1) {
			for _, name := range regexp.MustCompile(`(?:^|[ [])(--[a-z][a-z0-9-]+)`).FindAllStringSubmatch(code[1], -1) {
				if count++; !flags[name[1]] && !others.has(name[1]) {
					t.Errorf("%s: no command has the flag %s of `%s`", page, name[1], code[1])
				}
			}
			for _, name := range regexp.MustCompile(`\bBIRTHMARK_[A-Z_]*[A-Z]\b`).FindAllString(code[1], -1) {
				count++
				if err := config.CheckEnvironment([]string{name + "=x"}); err != nil && !others.has(name) {
					t.Errorf("%s: %v", page, err)
				}
			}
		}
	}
	if count < 100 {
		t.Errorf("%d flags and variables, expected at least 100", count)
	}
}
