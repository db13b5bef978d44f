package config

import (
	"fmt"
	"slices"

	"birthmark/storage"

	"go.yaml.in/yaml/v3"
)

// renamed maps former names of settings to their present ones. Former names are accepted with a warning until the first
// tagged release.
var renamed = map[string]string{
	"api_keys_optional": "allow_anonymous",
	"burst":             "rate_burst",
	"connections":       "max_connections",
	"cors":              "cors_origins",
	"proxies":           "trusted_proxies",
	"rate":              "rate_limit",
	"ready_within":      "max_lag_blocks",
	"timeout":           "request_timeout",
}

// present returns the present key and value of a setting and adds a warning if it has a former name.
func (s *Settings) present(origin, key, value string) (string, string) {
	warn := func(what, former, present string) {
		w := fmt.Sprintf("%s: %s %s is now called %s; the old name will be removed", origin, what, former, present)
		s.Warnings = append(s.Warnings, w)
	}
	if present, ok := renamed[key]; ok {
		warn("setting", key, present)
		key = present
	}
	if present, ok := storage.CompressionAlias(value); ok && key == "compression" {
		warn(key, value, present)
		value = present
	}
	return key, value
}

// rename replaces former names and values in a mapping of a settings file.
func (p parser) rename(mapping *yaml.Node) {
	if mapping = target(mapping); mapping.Kind == yaml.MappingNode {
		for pair := range slices.Chunk(mapping.Content, 2) {
			key, value := target(pair[0]), target(pair[1])
			key.Value, value.Value = p.settings.present(p.at(key.Line), key.Value, value.Value)
		}
	}
}
