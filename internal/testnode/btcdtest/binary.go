package btcdtest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
)

const btcdModule = "github.com/btcsuite/btcd"

var built struct {
	sync.Mutex
	path string
}

// Binary returns the path of btcd, built without changes from the version in tools/go.mod. It is stored in the user's
// cache, once per state of tools/go.mod and Go version. If several processes need it, one builds and the others wait. A
// cold build takes about a minute.
func Binary(t testing.TB) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if built.path == "" {
		path, err := build()
		if err != nil {
			t.Fatalf("btcd: %v", err)
		}
		built.path = path
	}
	return built.path
}

func build() (string, error) {
	tools, err := toolsModule()
	if err != nil {
		return "", err
	}
	key := sha256.New()
	fmt.Fprintln(key, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(tools, name))
		if err != nil {
			return "", err
		}
		key.Write(text)
	}
	dir := cacheDir()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(dir, fmt.Sprintf("btcd-%x", key.Sum(nil)[:8]))

	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer lock.Close() // also unlocks it
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	unfinished := path + ".unfinished"
	cmd := exec.Command("go", "build", "-trimpath", "-o", unfinished, btcdModule)
	cmd.Dir = tools
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // btcd has no cgo; the flags of our own build do not apply
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s in %s: %w\n%s", btcdModule, tools, err, out)
	}
	return path, os.Rename(unfinished, path)
}

func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "birthmark-test")
}

// toolsModule is the directory of the module that pins btcd. Tests run in the directory of their package.
func toolsModule() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		tools := filepath.Join(dir, "tools")
		if _, err := os.Stat(filepath.Join(tools, "go.mod")); err == nil {
			return tools, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no tools/go.mod in %s or above", start)
		}
	}
}
