package static

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// MaxLogo is the size of the largest logo in bytes: every visitor loads it.
const MaxLogo = 100_000

// Logo is the image of a site.
type Logo struct {
	Type string // file name extension: .svg, .png, .jpg, .jpeg or .webp
	Data []byte
}

// ReadLogo reads a logo from a file.
func ReadLogo(file string) (*Logo, error) {
	l := &Logo{Type: strings.ToLower(filepath.Ext(file))}
	if !slices.Contains([]string{".svg", ".png", ".jpg", ".jpeg", ".webp"}, l.Type) {
		return nil, fmt.Errorf("%s: unknown type %q: expected .svg, .png, .jpg or .webp", file, l.Type)
	}
	var err error
	if l.Data, err = os.ReadFile(file); err != nil {
		return nil, err
	}
	if n := len(l.Data); n == 0 || n > MaxLogo {
		return nil, fmt.Errorf("%s has %d bytes: expected 1 to %d", file, n, MaxLogo)
	}
	return l, nil
}
