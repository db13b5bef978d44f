package ledger

import "strconv"

// People are the fields for who reads them on a page, name and value of each in the order of what one looks for first;
// those it has not are empty.
// The block number and the size are not among them: the page has the height and the size of the block.
func (h *Header) People() [][2]string {
	era := h.Era
	if h.Boundary {
		era += ", boundary between two epochs"
	}
	epoch := ""
	if h.Epoch != nil {
		epoch = strconv.FormatUint(*h.Epoch, 10)
	}
	return [][2]string{
		{"era", era},
		{"epoch", epoch},
		{"slot", strconv.FormatUint(h.Slot, 10)},
		{"protocol version", h.ProtocolVersion},
		{"issuer's key", h.IssuerVkey},
		{"VRF key", h.VrfVkey},
	}
}
