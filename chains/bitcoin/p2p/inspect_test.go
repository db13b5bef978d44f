package p2p

import (
	"testing"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// A peer that was idle has the whole time for the blocks of a new request.
func TestTheTimeOfARequestBeginsWithIt(t *testing.T) {
	n := &Network{stall: time.Minute}
	n.o.Stall = time.Minute
	r := &remote{n: n, at: &endpoint{}, ready: true, wanted: map[chainhash.Hash][]want{}, moved: time.Now().Add(-time.Hour)}
	r.request(&fetch{hashes: make([]chainhash.Hash, 1)}, 0, wire.NewMsgGetData())
	r.inspect(time.Now())
	if r.over || len(r.wanted) != 1 {
		t.Errorf("dropped: %t, %d blocks are requested", r.over, len(r.wanted))
	}
}

// The time for headers ends when they arrive: the validation of their proof of work can take longer.
func TestSlowValidationIsNoFaultOfThePeer(t *testing.T) {
	n := &Network{stall: time.Minute}
	n.o.Stall = time.Minute
	r := &remote{n: n, at: &endpoint{}, ready: true, checking: true, asked: time.Now().Add(-time.Hour)}
	r.inspect(time.Now())
	if r.over || r.silent {
		t.Errorf("dropped: %t, silent: %t", r.over, r.silent)
	}
}
