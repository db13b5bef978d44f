package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var (
	operations = filepath.Join("..", "..", "docs", "operations.md")
	alerts     = filepath.Join("..", "..", "docs", "alerts.yaml")
	dashboard  = filepath.Join("..", "..", "docs", "dashboard.json")
	unit       = filepath.Join("..", "..", "docs", "birthmark.service")
)

func readText(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// metric is a metric of a scrape.
type metric struct {
	name, kind, help string
	labels           map[string]bool
}

// scraped returns the metrics of a server by name, after a sync and some requests.
func scraped(t *testing.T) map[string]*metric {
	t.Helper()
	s := serveHere(t, "--source", "file://"+realBlocks(t))
	until(t, "the chain to be ready", func() bool {
		resp, err := s.client.Get(s.URL + "readyz")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	s.serves(t, "nobody else asks")
	r, err := http.NewRequest("PUT", s.URL, nil) // a rejected request
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp, err = s.client.Get(s.URL + "metrics"); err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("/metrics: %d %v", resp.StatusCode, err)
	}
	s.stop()
	found := map[string]*metric{}
	label := regexp.MustCompile(`(\w+)="`)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if help, ok := strings.CutPrefix(line, "# HELP "); ok {
			name, text, _ := strings.Cut(help, " ")
			found[name] = &metric{name: name, help: text, labels: map[string]bool{}}
		} else if kind, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, text, _ := strings.Cut(kind, " ")
			found[name].kind = text
		} else if name, labels, ok := strings.Cut(line, "{"); ok {
			m := found[name]
			for _, part := range []string{"_bucket", "_sum", "_count"} {
				if base, ok := strings.CutSuffix(name, part); ok && m == nil {
					m = found[base]
				}
			}
			labels, _, _ = strings.Cut(labels, "} ")
			for _, l := range label.FindAllStringSubmatch(labels, -1) {
				if l[1] != "le" {
					m.labels[l[1]] = true
				}
			}
		}
	}
	return found
}

func TestMetricsInTheOperationsExist(t *testing.T) {
	slow(t)
	found := scraped(t)
	t.Run("table", func(t *testing.T) {
		const head = "| metric | type | labels | |\n|---|---|---|---|\n"
		var want strings.Builder
		for _, name := range slices.Sorted(maps.Keys(found)) {
			if m := found[name]; strings.HasPrefix(name, "birthmark_") {
				fmt.Fprintf(&want, "| `%s` | %s | %s | %s |\n", name, m.kind, strings.Join(slices.Sorted(maps.Keys(m.labels)), ", "), m.help)
			}
		}
		text := readText(t, operations)
		before, rest, ok := strings.Cut(text, head)
		is, after, ends := strings.Cut(rest, "\nThere are also the metrics")
		if !ok || !ends {
			t.Fatalf("%s has no table of metrics", operations)
		}
		if *update {
			text = before + head + want.String() + "\nThere are also the metrics" + after
			if err := os.WriteFile(operations, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		if is != want.String() {
			t.Errorf("the metrics in %s differ from the server's (-update writes them):\n%s", operations, want.String())
		}
	})
	known := func(t *testing.T, expression string) {
		t.Helper()
		names := regexp.MustCompile(`\b(birthmark|go|process)_\w+`).FindAllString(expression, -1)
		if len(names) == 0 && !strings.HasPrefix(expression, "up{") {
			t.Errorf("%s names no metric", expression)
		}
		for _, name := range names {
			m := found[name]
			for _, part := range []string{"_bucket", "_sum", "_count"} {
				if base, ok := strings.CutSuffix(name, part); ok && m == nil {
					m = found[base]
				}
			}
			if m == nil {
				t.Errorf("%s: no metric %s", expression, name)
				continue
			}
			if strings.Contains(expression, "rate("+name) != (m.kind != "gauge") {
				t.Errorf("%s: %s is a %s", expression, name, m.kind)
			}
			own := expression[strings.Index(expression, name)+len(name):]
			if !strings.HasPrefix(own, "{") {
				continue
			}
			own, _, _ = strings.Cut(own, "}")
			for _, l := range regexp.MustCompile(`(\w+)(=|!=|=~|!~)"`).FindAllStringSubmatch(own, -1) {
				if !m.labels[l[1]] && l[1] != "instance" && l[1] != "job" {
					t.Errorf("%s: %s has no label %s", expression, name, l[1])
				}
			}
		}
	}
	t.Run("alerts", func(t *testing.T) {
		var rules struct {
			Groups []struct {
				Name  string
				Rules []struct {
					Alert, Expr, For    string
					Labels, Annotations map[string]string
				}
			}
		}
		if err := yaml.Unmarshal([]byte(readText(t, alerts)), &rules); err != nil {
			t.Fatal(err)
		}
		text := readText(t, operations)
		n := 0
		for _, g := range rules.Groups {
			for _, r := range g.Rules {
				n++
				known(t, r.Expr)
				if r.Alert == "" || r.Labels["severity"] == "" || r.Annotations["summary"] == "" || !strings.Contains(text, r.Alert) {
					t.Errorf("%+v is incomplete, or %s has no remedy for it", r, operations)
				}
			}
		}
		if n == 0 {
			t.Error("no rules")
		}
	})
	t.Run("dashboard", func(t *testing.T) {
		var board struct {
			Panels []struct {
				Title, Type string
				ID          int
				Targets     []struct{ Expr string }
			}
			Templating struct{ List []struct{ Query string } }
		}
		if err := json.Unmarshal([]byte(readText(t, dashboard)), &board); err != nil {
			t.Fatal(err)
		}
		ids := map[int]bool{}
		for _, p := range board.Panels {
			if ids[p.ID] || p.Type != "row" && len(p.Targets) == 0 {
				t.Errorf("%+v", p)
			}
			ids[p.ID] = true
			for _, target := range p.Targets {
				known(t, target.Expr)
			}
		}
		for _, v := range board.Templating.List {
			if v.Query != "prometheus" {
				known(t, v.Query)
			}
		}
	})
}

func TestTheUnitIsValid(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not there")
	}
	const program = "/usr/local/bin/birthmark"
	text := readText(t, unit)
	if !strings.Contains(text, "ExecStart="+program+" serve --config ") {
		t.Fatalf("%s starts something else", unit)
	}
	path := filepath.Join(t.TempDir(), "birthmark.service")
	write(t, path, strings.Replace(text, program, os.Args[0], 1)) // the program must exist
	out, err := exec.Command("systemd-analyze", "verify", "--man=no", path).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// The settings in the guide are valid.
func TestSettingsInTheOperationsAreValid(t *testing.T) {
	t.Parallel()
	n, schema := 0, settingsSchema(t)
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(readText(t, operations), -1) {
		if strings.Contains(block[1], "scrape_configs") {
			continue
		}
		n++
		if r := birthmark("config", "--config", writeConfig(t, block[1])); r.status != exitDone {
			t.Errorf("%s%s", block[1], r.stderr)
		}
		if err := fitsSchema(t, schema, block[1]); err != nil {
			t.Errorf("%s%v", block[1], err)
		}
	}
	if n < 2 {
		t.Errorf("%d settings were found", n)
	}
}
