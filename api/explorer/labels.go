package explorer

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"birthmark/api/served"
	"birthmark/core/schema"
	"birthmark/model"
)

const (
	maxLabelsBytes = 10 << 20 // bytes of the file
	maxLabelName   = 60       // characters of a name
)

// ReadLabels returns names of addresses, such as those of exchanges, which pages show beside the addresses. The file has
// an address and its name per line.
func ReadLabels(file string, chains []*served.Chain) (map[string]string, error) {
	if info, err := os.Stat(file); err != nil {
		return nil, err
	} else if info.Size() > maxLabelsBytes {
		return nil, fmt.Errorf("%s has %d bytes: expected at most %d", file, info.Size(), maxLabelsBytes)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	labels, n := map[string]string{}, 0
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) { // without a byte order mark
		if n++; strings.TrimSpace(line) == "" || strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		if err := addLabel(labels, line, chains); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
	}
	return labels, nil
}

// addLabel adds a line with an address and its name, with the address as pages write it.
func addLabel(labels map[string]string, line string, chains []*served.Chain) error {
	line = strings.TrimSpace(line)
	address := strings.Fields(line)[0]
	name := strings.TrimSpace(line[len(address):])
	if n := utf8.RuneCountInString(name); n == 0 || n > maxLabelName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("expected an address, a space and a name of 1 to %d characters", maxLabelName)
	}
	found, why := false, errors.New("no chain is served")
	for _, c := range chains {
		for _, x := range c.Model.Indexes() {
			if x.Name != schema.HoldersIndex {
				continue
			}
			canonical, err := canonicalAddress(x, address)
			if err != nil {
				why = err
				continue
			}
			if other, ok := labels[canonical]; ok && other != name {
				return fmt.Errorf("%s has two names, %q and %q", address, other, name)
			}
			labels[canonical], found = name, true
		}
	}
	if !found {
		return fmt.Errorf("%.100q is not an address of a served chain: %w", address, why)
	}
	return nil
}

func canonicalAddress(x model.Index, address string) (string, error) {
	value, err := x.Parse(address)
	if err != nil {
		return "", err
	}
	return x.Format(value), nil
}

// label returns the name of an address: that of the operator, or "fee" if its outputs are fees; empty: none.
func (v *visit) label(address string) string {
	if name := v.site.Labels[address]; name != "" {
		return name
	}
	if address != "" && address == v.chain.Model.Traits().FeeAddress {
		return "fee"
	}
	return ""
}
