package api_test

import (
	"net/http/httptest"
	"testing"

	"birthmark/api"
)

// Only watch lists have large bodies: the server keeps those of other requests small.
func TestOnlyWatchListsAreUploads(t *testing.T) {
	for path, want := range map[string]bool{
		"/v1/bitcoin/watch": true, "/v1/bitcoin/watch/": true, "/v1/watch": false, "/v1/bitcoin/tx": false, "/v1/bitcoin/x/watch": false,
		"/v2/bitcoin/watch": false, "/v1/bitcoin/watch/7": false, "/": false,
	} {
		if got := api.Uploads(httptest.NewRequest("POST", path, nil)); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}
