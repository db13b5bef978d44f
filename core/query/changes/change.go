package changes

import (
	"bytes"
	"encoding/json"

	"birthmark/core/query"
	"birthmark/model"
)

// Filter selects the changes that a consumer receives.
type Filter struct {
	query.Term                  // without a value: every output with a value of the index, or with assets ([AssetTerm])
	Or         []query.Term     // alternatives; an output that matches several terms is sent once
	List       *query.WatchList // also outputs that have one of these values; makes the Term optional
	Spends     bool             // also send the spends of matching outputs
	Start      *query.Range     // start at the first block of the range if there are no known points

	All        bool // match every output, for a consumer that filters itself; without a Term
	EveryBlock bool // also send blocks without matching changes; makes the Term optional
	MaxBlocks  int  // end after this many blocks; 0: at the tip
	// Confirmations of the blocks that are sent, at least; the tip has 1. Reorganizations of fewer blocks are not sent.
	Confirmations int
	Resume        *Position // the consumer already has the changes up to here
}

// Position is a position within a block, after one of its outputs or spends. A consumer that does not process a block
// as a whole resumes there.
type Position struct {
	block  model.Point
	output model.UtxoPk // first output that was not sent
	input  model.UtxoPk // first input that was not sent
}

// Change is the next event for a consumer.
//
// Output and Spend come in chain order and are provisional until the next Block. An Output does not contain its
// spender. Block confirms all changes up to that block since the last Block or Rollback. Rollback reverts all changes
// above its block and discards provisional changes.
type Change struct {
	Output *query.OutputAnswer
	Spend  *SpendAnswer
	Block  *model.Point
	// Rollback to the origin reverts everything.
	Rollback *model.Point
	Hash     string // formatted hash of Block or Rollback

	Summary  query.BlockSummaryAnswer // of Block
	Spent    *query.OutputAnswer      // the output that Spend spends, with [Filter.All]; else nil
	Position Position                 // after Output or Spend
}

// SpendAnswer is a spent output and the input that spends it.
type SpendAnswer struct {
	Tx      string              `json:"tx"`
	Index   int                 `json:"index"`
	Height  uint32              `json:"height"`
	SpentBy query.SpentByAnswer `json:"spent_by"`
}

// MarshalJSON writes one object with the event type in the field "type".
func (e Change) MarshalJSON() ([]byte, error) {
	var object any
	switch {
	case e.Output != nil:
		object = struct {
			Type string `json:"type"`
			*query.OutputAnswer
		}{"output", e.Output}
	case e.Spend != nil:
		object = struct {
			Type string `json:"type"`
			*SpendAnswer
		}{"spend", e.Spend}
	case e.Block != nil:
		object = struct {
			Type string `json:"type"`
			query.PointAnswer
		}{"block", query.PointAnswer{Height: uint32(e.Block.Height), Hash: e.Hash}}
	default:
		rollback := struct {
			Type string             `json:"type"`
			To   *query.PointAnswer `json:"to"` // null: the origin
		}{Type: "rollback"}
		if !e.Rollback.IsOrigin() {
			rollback.To = &query.PointAnswer{Height: uint32(e.Rollback.Height), Hash: e.Hash}
		}
		object = rollback
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // like all other answers
	err := encoder.Encode(object)
	return b.Bytes(), err
}
