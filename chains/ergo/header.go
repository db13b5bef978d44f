package ergo

import "birthmark/model"

// Header is what a block's header tells, as the block's JSON shows it.
type Header struct {
	Version uint8 `json:"version"`
}

func parseHeader(raw []byte) (*Header, error) {
	return nil, model.Errorf(model.BadSource, "bad_header", "headers are not read yet")
}

func hashHeader(raw []byte) (model.Hash, error) {
	return model.Hash{}, model.Errorf(model.BadSource, "bad_header", "headers are not read yet")
}
