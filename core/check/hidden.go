package check

import (
	"iter"

	"birthmark/core/schema"
	"birthmark/storage"
)

// withoutAssets hides the rows of assets while rules are being added or dropped: they are those of an earlier block. The check of a
// complete database includes them.
type withoutAssets struct{ storage.Reader }

func (r withoutAssets) Get(f storage.Family, key []byte) ([]byte, error) {
	if schema.OfAssets(f) {
		return nil, storage.ErrNotFound
	}
	return r.Reader.Get(f, key)
}

func (r withoutAssets) GetMany(f storage.Family, keys [][]byte) ([][]byte, error) {
	if schema.OfAssets(f) {
		return make([][]byte, len(keys)), nil
	}
	return r.Reader.GetMany(f, keys)
}

func (r withoutAssets) Suffixes(f storage.Family, prefixes [][]byte) ([][]byte, error) {
	if schema.OfAssets(f) {
		return make([][]byte, len(prefixes)), nil
	}
	return r.Reader.Suffixes(f, prefixes)
}

func (r withoutAssets) Scan(f storage.Family, from, to []byte, reverse bool) iter.Seq2[storage.KV, error] {
	if schema.OfAssets(f) {
		return func(func(storage.KV, error) bool) {}
	}
	return r.Reader.Scan(f, from, to, reverse)
}
