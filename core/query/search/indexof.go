package search

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/model"
)

// IndexOf returns the value that a text names, and its index: the only index that has the value, or else the index of
// addresses if the value is an address. Its errors are of kind [model.Usage].
func IndexOf(ctx context.Context, qs query.Queries, chain model.Chain, text string) (index, value string, err error) {
	w, fault := model.WalletOf(chain, schema.HoldersIndex, Clean(text))
	if w != nil {
		return schema.HoldersIndex, Clean(text), nil
	} else if _, code := model.KindOf(fault); code == "private_key" {
		return "", "", fault
	}
	f := &finder{Queries: qs, ctx: ctx, chain: chain}
	for i, reading := range readings(chain, text) {
		found, fault := f.indexOf(reading)
		if fault == nil {
			return found, reading, nil
		}
		if !missing(fault) {
			return "", "", fault
		}
		if i == 0 {
			err = fault
		}
	}
	if err == nil {
		err = model.Errorf(model.Usage, "missing_argument", "the value %q is empty", text)
	}
	return "", "", err
}

func (f *finder) indexOf(value string) (string, error) {
	indexes, err := f.indexes()
	if err != nil {
		return "", err
	}
	var has []string
	var invalid error // address
	for _, index := range indexes {
		found, err := f.Find(f.ctx, index, value, query.Terms{}, query.Page{Limit: 1})
		switch {
		case err != nil && !missing(err):
			return "", err
		case err != nil && index == schema.HoldersIndex:
			invalid = err
		case err == nil && found.FirstSeen != nil && found.Index == index:
			has = append(has, index)
		}
	}
	addresses := slices.Contains(indexes, schema.HoldersIndex)
	switch {
	case len(has) == 1:
		return has[0], nil
	case slices.Contains(has, schema.HoldersIndex), len(has) == 0 && addresses && invalid == nil:
		return schema.HoldersIndex, nil
	case len(has) > 1:
		return "", model.Errorf(model.Usage, "ambiguous_value", "%q is a value of several indexes (%s): write INDEX VALUE",
			value, strings.Join(has, ", "))
	case invalid != nil:
		return "", fmt.Errorf("%w; for a value of another index, write INDEX VALUE (%s)", invalid, strings.Join(indexes, ", "))
	}
	return "", model.Errorf(model.Usage, "ambiguous_value", "no index has the value %q: write INDEX VALUE (%s)",
		value, strings.Join(indexes, ", "))
}
