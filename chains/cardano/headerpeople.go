package cardano

import "strconv"

// People are the fields for who reads them on a page, name and value of each in the order of what one looks for first.
// The block number and the size are not among them: the page has the height and the size of the block.
func (h *Header) People() [][2]string {
	era := h.Era
	if h.Boundary {
		era += ", boundary between two epochs"
	}
	return [][2]string{
		{"era", era},
		{"epoch", strconv.FormatUint(h.Epoch, 10)},
		{"slot", strconv.FormatUint(h.Slot, 10)},
		{"protocol version", h.ProtocolVersion},
		{"issuer's key", h.IssuerVkey},
		{"VRF key", h.VrfVkey},
	}
}
