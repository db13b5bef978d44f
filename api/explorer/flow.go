package explorer

import (
	"birthmark/core"
)

// flow is a transaction as a picture.
type flow struct{}

func (v *visit) flow(*core.TxAnswer) *flow { return nil }
