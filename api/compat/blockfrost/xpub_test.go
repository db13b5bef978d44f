package blockfrost_test

import (
	"net/http"
	"strings"
	"testing"
)

// Addresses are derived for the network of the chain; wrong keys, roles and indexes are named.
func TestAddressesOfAnExtendedKey(t *testing.T) {
	const key = "7ec9738746cb4708df52a455b43aa3fdee8955abaf37f68ffc79bb84fbf9e1b39d77e2deb9749faf890ff8326d350ed3fd0e4aa271b35cad063692af87102152"
	w := newWorld(t, "preview")
	path := "/utils/addresses/xpub/" + key
	a := w.get(t, path+"/0/1").(object)
	if text, _ := a["address"].(string); a["xpub"] != key || !strings.HasPrefix(text, "addr_test1q") {
		t.Errorf("%v", a)
	}
	if text, _ := w.get(t, path+"/2/0").(object)["address"].(string); !strings.HasPrefix(text, "stake_test1u") {
		t.Errorf("a stake key has the address %q", text)
	}
	for endpoint, want := range map[string]string{
		"/utils/addresses/xpub/" + key[2:] + "/0/0": "xpub", path + "/x/0": "role", path + "/0/2147483648": "index", path + "/0/-1": "index",
	} {
		if status, body := w.ask(t, http.MethodGet, endpoint); status != http.StatusBadRequest || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", endpoint, status, body)
		}
	}
}
