package daemon

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"birthmark/api/explorer"
	"birthmark/api/explorer/static"
	"birthmark/api/served"
	"birthmark/internal/config"
)

// logoOf reads the logo of the settings; nil if they have none.
func logoOf(set *config.Settings) (*static.Logo, error) {
	file := set.Server.Site.Logo
	if file == "" {
		return nil, nil
	}
	l, err := static.ReadLogo(file)
	if err != nil {
		return nil, At(set.Origin("logo"), usageError("bad_setting", "logo: %w", err))
	}
	return l, nil
}

// labelsOf reads the names of addresses of the settings; nil if they have none.
func labelsOf(set *config.Settings, chains []*served.Chain) (map[string]string, error) {
	file := set.Server.Site.Labels
	if file == "" {
		return nil, nil
	}
	names, err := explorer.ReadLabels(file, chains)
	if err != nil {
		return nil, At(set.Origin("labels_file"), usageError("bad_setting", "labels_file: %w", err))
	}
	return names, nil
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
