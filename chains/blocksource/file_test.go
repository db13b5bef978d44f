package blocksource_test

import (
	"testing"

	"birthmark/chains/blocksource"
)

func TestFilePaths(t *testing.T) {
	for rest, want := range map[string]string{
		"": "", "/a/b": "/a/b", "localhost/a": "/a", "localhosted/a": "localhosted/a", "/a%20b": "/a b", "/a b": "/a b", "/100%": "/100%",
	} {
		if got := blocksource.FilePath(rest); got != want {
			t.Errorf("file://%s is %q, expected %q", rest, got, want)
		}
	}
}
