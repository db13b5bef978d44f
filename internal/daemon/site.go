package daemon

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"birthmark/api/explorer/static"
	"birthmark/internal/config"
)

// maxLogo is the size of the largest logo in bytes: every visitor loads it.
const maxLogo = 100_000

// logoOf reads the logo of the settings; nil if they have none.
func logoOf(set *config.Settings) (*static.Logo, error) {
	file := set.Server.Site.Logo
	if file == "" {
		return nil, nil
	}
	l := &static.Logo{Type: strings.ToLower(filepath.Ext(file))}
	data, err := os.ReadFile(file)
	switch {
	case err != nil:
	case !slices.Contains([]string{".svg", ".png", ".jpg", ".jpeg", ".webp"}, l.Type):
		err = fmt.Errorf("%s: unknown type %q: expected .svg, .png, .jpg or .webp", file, l.Type)
	case len(data) == 0 || len(data) > maxLogo:
		err = fmt.Errorf("%s has %d bytes: expected 1 to %d", file, len(data), maxLogo)
	}
	if err != nil {
		return nil, At(set.Origin("logo"), usageError("bad_setting", "logo: %w", err))
	}
	l.Data = data
	return l, nil
}

// checkBasePath returns an error if the first part of the base path is also a path of the server: a request that a proxy
// has shortened would then be ambiguous.
func (s *Server) checkBasePath(mux *http.ServeMux) error {
	base := s.set.Site.BasePath
	if base == "" {
		return nil
	}
	first, _, _ := strings.Cut(base[1:], "/")
	taken := []string{"docs", "search", "static", "v1"}
	for _, c := range s.chains {
		taken = append(taken, c.Name)
	}
	for _, p := range []string{"/" + first, "/" + first + "/"} {
		r, err := http.NewRequest(http.MethodGet, p, nil)
		if err != nil {
			return err
		}
		if _, pattern := mux.Handler(r); pattern != "/" {
			taken = append(taken, first)
		}
	}
	if slices.Contains(taken, first) {
		return At(s.settings.Origin("base_path"), usageError("bad_setting", "base_path: %w",
			errors.New("the server has a path /"+first+" already: use another one, such as /explorer")))
	}
	return nil
}
