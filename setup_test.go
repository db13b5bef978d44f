package birthmark_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Compilers print nothing for minutes: targets that compile print a line before.
func TestTargetsThatCompilePrintALineFirst(t *testing.T) {
	text, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	compiles := regexp.MustCompile(`\bgo (-C \S+ )?(build|run|test|vet)\b|\$\(TEST\)|tools/release`)
	rules := 0
	for _, rule := range regexp.MustCompile(`(?m)^[a-z-]+:.*\n(?:\t.*\n)+`).FindAllString(string(text), -1) {
		target, recipe, _ := strings.Cut(rule, "\n")
		if !compiles.MatchString(recipe) {
			continue
		}
		if rules++; !strings.HasPrefix(recipe, "\t@$(call compiling,") {
			t.Errorf("%s compiles without a line before it", target)
		}
	}
	if rules < 10 {
		t.Errorf("%d targets compile, expected at least 10", rules)
	}
}

// A version of Go that cannot build the module is an error before packages are installed.
func TestSetupRejectsAnOldGo(t *testing.T) {
	for _, c := range []struct{ version, toolchain, want string }{
		{"go1.19.8", "", "setup: Go 1.26 is needed, and PATH/go is go1.19.8; see https://go.dev/doc/install"},
		{"go1.25.1", "local", "setup: Go 1.26 is needed, and PATH/go is go1.25.1; see https://go.dev/doc/install"},
		{"go1.25.1", "auto", "installing"},
		{"go1.26rc1", "local", "installing"},
	} {
		path := t.TempDir()
		script := func(name, text string) {
			if err := os.WriteFile(filepath.Join(path, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		script("go", "[ \"$2\" = GOTOOLCHAIN ] && echo "+c.toolchain+" || echo "+c.version+"\n")
		for _, name := range []string{"apt-cache", "apt-get", "dpkg-query"} {
			script(name, "echo installing >&2; exit 1\n")
		}
		command := exec.Command("tools/setup.sh")
		command.Env = []string{"PATH=" + path + ":/usr/bin:/bin"}
		out, err := command.CombinedOutput()
		got := strings.ReplaceAll(string(out), path, "PATH")
		if c.want == "installing" {
			if !strings.Contains(got, "setup: installing") {
				t.Errorf("%s %s: %s, expected packages to be installed", c.version, c.toolchain, got)
			}
		} else if err == nil || !strings.Contains(got, c.want) || strings.Contains(got, "setup: installing") {
			t.Errorf("%s %s: %v\n%s\nexpected %s", c.version, c.toolchain, err, got, c.want)
		}
	}
}
