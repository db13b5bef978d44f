package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"birthmark/storage/rocks"
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

// The build information begins with the fields of the plain command.
func TestVerboseVersionDescribesTheBinary(t *testing.T) {
	t.Parallel()
	var a buildAnswer
	ask(t, &a, "version", "--verbose")
	if a.versionAnswer != version() || a.Platform != runtime.GOOS+"/"+runtime.GOARCH || a.RocksDB.Version != rocks.Version() ||
		!slices.Contains(a.RocksDB.Compression, "zstd") || a.Build["GOARCH"] != runtime.GOARCH || a.Build["CGO_ENABLED"] != "1" {
		t.Errorf("%+v", a)
	}
	// Each assertion has the declaration of its function as a text. (This program contains the text in two parts.)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	declaration := strings.Join([]string{"rocksdb::Status rocksdb::", "DBImpl::DelayWrite("}, "")
	if asserts := bytes.Contains(code, []byte(declaration)); asserts != a.RocksDB.Assertions {
		t.Errorf("assertions: %v, texts of them: %v", a.RocksDB.Assertions, asserts)
	}
	plain, verbose := birthmark("version").stdout, birthmark("version", "--verbose").stdout
	for _, text := range append(strings.Fields(plain), "rocksdb", rocks.Version(), "platform", "-tags") {
		if !strings.Contains(verbose, text) {
			t.Errorf("%q is not in\n%s", text, verbose)
		}
	}
}
