package follower

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"birthmark/model"
	"birthmark/storage"
)

func hold(t *testing.T, f Folder, name string) *Held {
	t.Helper()
	h, err := f.Hold(name, "a test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Release() })
	return h
}

func TestFollowerHasLastWrittenPosition(t *testing.T) {
	f := Of(t.TempDir())
	if names, err := f.List(); err != nil || names != nil {
		t.Errorf("followers of a database that never had any: %q, %v", names, err)
	}
	h := hold(t, f, "wallet")
	if _, err := f.Read("wallet"); !unknown(err) {
		t.Errorf("a follower that was not written: %v", err)
	}
	for _, c := range []*Position{
		{Chain: "bitcoin", Network: "mainnet", Updated: 7, Blocks: []Block{{9, "ab"}, {8, "cd"}}},
		{Chain: "bitcoin", Network: "mainnet", Updated: 8, Blocks: []Block{}},
	} {
		if err := h.Write(c); err != nil {
			t.Fatal(err)
		}
		if got, err := f.Read("wallet"); err != nil || !reflect.DeepEqual(got, c) {
			t.Errorf("%+v, %v; wrote %+v", got, err, c)
		}
	}
	if err := hold(t, f, "Alerts_2").Write(&Position{}); err != nil {
		t.Fatal(err)
	}
	if names, err := f.List(); err != nil || !slices.Equal(names, []string{"Alerts_2", "wallet"}) {
		t.Errorf("followers are %q, %v", names, err)
	}
	if err := h.Remove(); err != nil {
		t.Fatal(err)
	}
	if err := h.Remove(); !unknown(err) {
		t.Errorf("removed again: %v", err)
	}
	if names, err := f.List(); err != nil || !slices.Equal(names, []string{"Alerts_2"}) {
		t.Errorf("followers are %q, %v", names, err)
	}
}

func unknown(err error) bool {
	kind, code := model.KindOf(err)
	return kind == model.NotFound && code == "unknown_follower"
}

// Files that a killed process left unfinished, or has not renamed yet, change nothing.
func TestIncompleteFilesAreIgnored(t *testing.T) {
	f := Of(t.TempDir())
	h := hold(t, f, "a")
	if err := h.Write(&Position{Updated: 1}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(string(f), "a.json~"), []byte(`{"upd`), 0o644); err != nil {
		t.Fatal(err)
	}
	if c, err := f.Read("a"); err != nil || c.Updated != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	if names, err := f.List(); err != nil || !slices.Equal(names, []string{"a"}) {
		t.Errorf("followers are %q, %v", names, err)
	}
	if err := h.Write(&Position{Updated: 2}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(string(f), "a.json"), []byte(`{"upd`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Read("a"); err == nil || !strings.Contains(err.Error(), "follower a is damaged") {
		t.Errorf("a damaged follower: %v", err)
	}
}

func TestAFollowerIsUsedByOneAtATime(t *testing.T) {
	f := Of(t.TempDir())
	h, err := f.Hold("a", "pid 7, birthmark find")
	if err != nil {
		t.Fatal(err)
	}
	var locked *storage.LockedError
	if _, err := f.Hold("a", "another"); !errors.As(err, &locked) || err.Error() != "follower a is in use by pid 7, birthmark find" {
		t.Errorf("held twice: %v", err)
	}
	if err := h.Release(); err != nil {
		t.Fatal(err)
	}
	hold(t, f, "a")
}

func TestNamesAreLettersDigitsAndTwoMarks(t *testing.T) {
	for _, name := range []string{"", "-a", "a/b", "..", "a.b", "ä", "a b", strings.Repeat("a", 65)} {
		_, err := Folder("x").Read(name)
		_, held := Folder("x").Hold(name, "")
		for _, err := range []error{err, held} {
			if kind, code := model.KindOf(err); kind != model.Usage || code != "bad_value" {
				t.Errorf("%q: %v", name, err)
			}
		}
	}
	for _, name := range []string{"a", "_a-9", "A", strings.Repeat("a", 64)} {
		if err := CheckName(name); err != nil {
			t.Error(err)
		}
	}
}
