// Package toolbuild builds programs that only tests need, from the modules below the folder tools, which pin them.
package toolbuild

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"syscall"
)

// Build builds a package of the module in a folder of this repository, such as tools, and returns the path of the
// program. It is stored in the user's cache, once per state of the module's files and Go version. If several processes
// need it, one builds and the others wait.
func Build(folder, pkg string) (string, error) {
	module, err := find(folder)
	if err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(module, "*.go"))
	if err != nil {
		return "", err
	}
	key := sha256.New()
	fmt.Fprintln(key, runtime.Version(), runtime.GOOS, runtime.GOARCH, pkg)
	for _, name := range append(files, filepath.Join(module, "go.mod"), filepath.Join(module, "go.sum")) {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		key.Write(text)
	}
	dir := cacheDir()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	name := path.Base(pkg)
	if pkg == "." {
		name = path.Base(folder)
	}
	program := filepath.Join(dir, fmt.Sprintf("%s-%x", name, key.Sum(nil)[:8]))

	lock, err := os.OpenFile(program+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer lock.Close() // also unlocks it
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	if _, err := os.Stat(program); !errors.Is(err, fs.ErrNotExist) {
		return program, err
	}
	unfinished := program + ".unfinished"
	cmd := exec.Command("go", "build", "-trimpath", "-o", unfinished, pkg)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // the flags of our own build do not apply
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s in %s: %w\n%s", pkg, module, err, out)
	}
	return program, os.Rename(unfinished, program)
}

func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "birthmark-test")
}

// find returns the folder of a module. Tests run in the directory of their package.
func find(folder string) (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		module := filepath.Join(dir, folder)
		if _, err := os.Stat(filepath.Join(module, "go.mod")); err == nil {
			return module, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no %s/go.mod in %s or above", folder, start)
		}
	}
}
