package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// The newest section of the changelog is that of the version.
func TestTheChangelogHasThisVersion(t *testing.T) {
	t.Parallel()
	_, newest, _ := strings.Cut(readText(t, filepath.Join("..", "..", "CHANGELOG.md")), "\n## ")
	if title, _, _ := strings.Cut(newest, "\n"); title != release {
		t.Errorf("the newest section is %q, the version is %s", title, release)
	}
	if r := birthmark("version"); !strings.Contains(r.stdout, release) {
		t.Errorf("%+v", r)
	}
}
