package exchange

import (
	"encoding/hex"
	"math/big"
	"strconv"

	"birthmark/model"
)

// Text returns a string, nil if it is empty.
func Text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// HexText returns bytes in hex, nil if there are none.
func HexText(b []byte) *string {
	if b == nil {
		return nil
	}
	s := hex.EncodeToString(b)
	return &s
}

// Decimal returns a number in decimal.
func Decimal(n uint64) string { return strconv.FormatUint(n, 10) }

// ReadHash reads a hash of a block or of a transaction.
func ReadHash(text string) (h model.Hash, ok bool) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(h) {
		return h, false
	}
	return model.Hash(b), true
}

// ReadNumber reads a number of a path, whose form is known.
func ReadNumber(text string) (uint64, error) { return strconv.ParseUint(text, 10, 64) }

// OrNotFound returns the error, or without one that nothing was found.
func OrNotFound(err error) error {
	if err != nil {
		return err
	}
	return ErrNotFound
}

// UnlessInternalNil returns the error if it is internal, and nil if the request or the data has caused it.
func UnlessInternalNil(err error) error {
	if kind, _ := model.KindOf(err); kind == model.Internal {
		return err
	}
	return nil
}

// Int returns an amount for sums.
func Int(n uint64) *big.Int { return new(big.Int).SetUint64(n) }
