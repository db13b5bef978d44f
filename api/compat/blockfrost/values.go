package blockfrost

import (
	"encoding/hex"
	"math/big"
	"strconv"

	"birthmark/model"
)

// text returns a string, nil if it is empty.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// hexText returns bytes in hex, nil if there are none.
func hexText(b []byte) *string {
	if b == nil {
		return nil
	}
	s := hex.EncodeToString(b)
	return &s
}

// decimal returns a number in decimal.
func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

// readHash reads a hash of a block or of a transaction.
func readHash(text string) (h model.Hash, ok bool) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(h) {
		return h, false
	}
	return model.Hash(b), true
}

// texts returns hashes in hex.
func texts(hashes []model.Hash) []string {
	all := make([]string, len(hashes))
	for i, h := range hashes {
		all[i] = h.String()
	}
	return all
}

// bigInt returns an amount for sums.
func bigInt(n uint64) *big.Int { return new(big.Int).SetUint64(n) }
