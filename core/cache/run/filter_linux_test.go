package run

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"
)

// resident returns the kilobytes of a mapping that are in the memory of the process.
func resident(t *testing.T, mapping []byte) (kB int) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	_, of, found := strings.Cut(string(maps), fmt.Sprintf("%x-", unsafe.SliceData(mapping)))
	_, rss, found2 := strings.Cut(of, "\nRss:")
	if _, err := fmt.Sscan(rss, &kB); !found || !found2 || err != nil {
		t.Fatalf("no mapping at %p: %v", mapping, err)
	}
	return kB
}

// A mapped filter takes no memory after many lookups, and answers later ones.
func TestAReleasedFilterTakesNoMemory(t *testing.T) {
	tags := sortedTags(1, 200_000)
	r := writeTags(t, filepath.Join(t.TempDir(), "run"), tags)
	defer r.Close()
	if err := r.MapFilter(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, tag := range tags {
			if !r.May(tag, uint16(tag)) {
				t.Fatalf("the filter lacks %x", tag)
			}
		}
		r.ReleaseFilter(1) // few lookups
		if kB := resident(t, r.mapping); kB < len(r.mapping)/1024 {
			t.Errorf("%d kB of %d bytes are in memory after all lookups", kB, len(r.mapping))
		}
		r.ReleaseFilter(math.MaxInt)
		if kB := resident(t, r.mapping); kB != 0 {
			t.Errorf("%d kB are in memory after the release", kB)
		}
	}
}
