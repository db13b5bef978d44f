package explorer

import (
	"strings"
	"testing"
)

// A page loads pictures from the gateway of the operator, and never from a host that an issuer names.
func TestPicturesComeFromTheGateway(t *testing.T) {
	const gateway, cid = "https://ipfs.example.org/ipfs/", "QmZr2x9fXmNtCSdGJbPAY6X7YVze7nzrtSc98TxXYMqgqz"
	for uri, want := range map[string]string{
		"ipfs://" + cid: gateway + cid, "ipfs://ipfs/" + cid: gateway + cid,
		"ipfs://" + cid + "/an owl?.png":    gateway + cid + "/an%20owl%3F.png",
		"data:image/png;base64,iVBORw0KGgo": "data:image/png;base64,iVBORw0KGgo",
		"https://issuer.example.org/a.png":  "", "http://127.0.0.1/": "", "javascript:alert(1)": "", "data:text/html,x": "", "": "", cid: "",
		"ipfs://" + cid + "/../x": "", "ipfs://no-content-id": "", "ipfs://@issuer.example.org/" + cid: "",
		"data:image/png;base64," + strings.Repeat("A", maxPicture): "",
	} {
		if got := pictureURL(uri, gateway); got != want {
			t.Errorf("%.80s is loaded from %q, expected %q", uri, got, want)
		}
		if got := pictureURL(uri, ""); got != "" {
			t.Errorf("%.80s is loaded from %q without a gateway", uri, got)
		}
	}
}
