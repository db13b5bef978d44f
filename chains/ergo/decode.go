package ergo

import "birthmark/model"

// decoder makes model blocks out of a node's JSON. It belongs to one goroutine at a time.
type decoder struct {
	net    *network
	wanted wanted
}

// newDecoder is a decoder for the named indexes; an error of kind [model.Usage] where one is unknown.
func newDecoder(n *network, indexes []string) (*decoder, error) {
	w, err := newWanted(indexes)
	if err != nil {
		return nil, err
	}
	return &decoder{net: n, wanted: w}, nil
}

// clone is a decoder of the same kind for another goroutine.
func (d *decoder) clone() *decoder { return &decoder{net: d.net, wanted: d.wanted} }

// block decodes one full block as the node's GET /blocks/{id} gives it. The block owns its memory.
func (d *decoder) block(raw []byte) (*model.Block, error) {
	return nil, model.Errorf(model.BadSource, "bad_block", "blocks are not decoded yet")
}
