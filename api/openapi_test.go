package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"birthmark/api"
	"birthmark/api/served"
)

var update = flag.Bool("update", false, "write golden files")

// whole is an API with every possible path.
func whole(t testing.TB) *site {
	h, _ := handler(t, api.Options{Events: noEvents, Watch: noEvents}, nil)
	return h
}

func noEvents(*served.Chain) http.Handler { return http.NotFoundHandler() }

func load(t testing.TB, text []byte) *openapi3.T {
	t.Helper()
	d, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTheDocumentsAreValid(t *testing.T) {
	h := whole(t)
	for _, path := range []string{"/openapi.json", "/openapi.yaml", "/openapi-3.0.json", "/openapi-3.0.yaml"} {
		w := ask(h, "GET", path, "")
		if w.Code != 200 {
			t.Fatalf("%s: %d", path, w.Code)
		}
		d := load(t, w.Body.Bytes())
		if err := d.Validate(t.Context(), openapi3.EnableSchemaFormatValidation(), openapi3.EnableExamplesValidation()); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if want := map[bool]string{true: "3.0", false: "3.1"}[strings.Contains(path, "3.0")]; !strings.HasPrefix(d.OpenAPI, want) {
			t.Errorf("%s is OpenAPI %s", path, d.OpenAPI)
		}
		if len(d.Paths.Map()) < 20 {
			t.Errorf("%s has %d paths", path, len(d.Paths.Map()))
		}
	}
}

func TestTheDocumentMatchesTheServer(t *testing.T) {
	golden(t, filepath.Join("..", "docs", "openapi.yaml"), ask(whole(t), "GET", "/openapi.yaml", "").Body.Bytes())
}

func stderrOf(err error) string {
	if exit, ok := err.(*exec.ExitError); ok {
		return string(exit.Stderr)
	}
	return ""
}

// golden compares text with a file, or writes the file if the flag -update is set.
func golden(t testing.TB, file string, text []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(kept, text) {
		t.Errorf("%s does not match the server (%v): run make generate", file, err)
	}
}

// described is the document with every object closed, so that validation finds fields that it does not describe.
var described = sync.OnceValues(func() (routers.Router, error) {
	h, err := api.New(api.Options{Events: noEvents, Watch: noEvents, Fields: fields})
	if err != nil {
		return nil, err
	}
	var document map[string]any
	if err := json.Unmarshal(ask(h, "GET", "/openapi.json", "").Body.Bytes(), &document); err != nil {
		return nil, err
	}
	closeObjects(document)
	text, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	d, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, err
	}
	d.Servers = openapi3.Servers{{URL: "/"}} // tests use another host
	return gorillamux.NewRouter(d)
})

func closeObjects(node any) {
	switch node := node.(type) {
	case map[string]any:
		if _, ok := node["properties"].(map[string]any); ok && node["type"] == "object" {
			node["additionalProperties"] = false
		}
		for _, child := range node {
			closeObjects(child)
		}
	case []any:
		for _, child := range node {
			closeObjects(child)
		}
	}
}

// conforms validates an answer against the document.
func conforms(t testing.TB, r *http.Request, w *httptest.ResponseRecorder) {
	t.Helper()
	router, err := described()
	if err != nil {
		t.Fatal(err)
	}
	route, args, err := router.FindRoute(r)
	if err != nil {
		t.Errorf("%s %s: %v", r.Method, r.URL, err)
		return
	}
	in := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: args, Route: route},
		Status:                 w.Code, Header: w.Header(),
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	}
	in.SetBodyBytes(w.Body.Bytes())
	if err := openapi3filter.ValidateResponse(t.Context(), in); err != nil {
		t.Errorf("%s %s: the answer does not match the document: %v\n%.2000s", r.Method, r.URL, err, w.Body)
	}
}
