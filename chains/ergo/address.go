package ergo

import (
	"encoding/hex"

	"birthmark/model"
)

func formatAddress(n *network, value []byte) string { return hex.EncodeToString(value) }

func parseAddress(n *network, text string) ([]byte, error) {
	return nil, model.Errorf(model.Usage, "bad_value", "%q is no address of ergo %s", shownText(text), n.name)
}
