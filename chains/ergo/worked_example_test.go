package ergo

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The diffs of docs/adding-an-index.md apply to the code, and the tests that they add and change pass.
func TestWorkedExampleOfAnIndex(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "adding-an-index.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir, diff := t.TempDir(), ""
	for _, block := range regexp.MustCompile("(?s)```diff\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		diff += block[1]
	}
	for _, file := range regexp.MustCompile(`(?m)^--- a/(\S+)$`).FindAllStringSubmatch(diff, -1) {
		text, err := os.ReadFile(filepath.Join(root, file[1]))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(dir, file[1])), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, file[1]), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	apply := exec.Command("git", "apply", "--unidiff-zero", "-")
	apply.Dir, apply.Stdin, apply.Env = dir, strings.NewReader(diff), append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	if out, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("%v: the code has changed, adapt docs/adding-an-index.md\n%s", err, out)
	}
	if testing.Short() {
		return
	}
	var overlay struct{ Replace map[string]string }
	overlay.Replace = map[string]string{}
	for _, file := range regexp.MustCompile(`(?m)^\+\+\+ b/(\S+\.go)$`).FindAllStringSubmatch(diff, -1) {
		overlay.Replace[filepath.Join(root, file[1])] = filepath.Join(dir, file[1])
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	changed := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(changed, text, 0o600); err != nil {
		t.Fatal(err)
	}
	const tests = "TestBoxesAreFoundByTheirCreationHeight|TestIndexesMatchContract|TestBlockHasTheValuesOfItsJSON|TestDefinedValuesBelongToTheBlock"
	out, err := exec.Command("go", "test", "-v", "-vet=off", "-overlay="+changed, "-run=^("+tests+")$", ".").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestBoxesAreFoundByTheirCreationHeight") {
		t.Errorf("%v\n%s", err, out)
	}
}
