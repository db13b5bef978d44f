package textfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTextOfFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "password")
	for content, want := range map[string]string{
		"__cookie__:ab12":                    "__cookie__:ab12",
		"\ufeff__cookie__:ab12":              "__cookie__:ab12",
		"\ufeff__cookie__:ab12\r\n":          "__cookie__:ab12",
		"  \t__cookie__:ab 12 \r\n\r\n":      "__cookie__:ab 12",
		"one\r\ntwo\r\n":                     "one\r\ntwo",
		"\ufeff":                             "",
		"":                                   "",
		"a\ufeff":                            "a\ufeff",
		"\xff\xfep\x00a\x00s\x00s\x00\n\x00": "error: UTF-16",
		"\xfe\xff\x00p":                      "error: UTF-16",
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Read(path)
		if expected, fails := strings.CutPrefix(want, "error: "); fails {
			if err == nil || !strings.Contains(err.Error(), expected) || !strings.Contains(err.Error(), path) {
				t.Errorf("%q: %q, %v; expected an error with %q and the path", content, got, err, expected)
			}
		} else if err != nil || string(got) != want {
			t.Errorf("%q: %q, %v; expected %q", content, got, err, want)
		}
	}
	if _, err := Read(path + ".none"); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
}
