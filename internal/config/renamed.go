package config

import (
	"fmt"
	"strings"

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

// warnRenamed returns the warning for a former name or value at a place.
func warnRenamed(origin, what, former, present string) string {
	return fmt.Sprintf("%s: %s %s is now called %s; the old name will be removed", origin, what, former, present)
}

// rename replaces former names and values in a mapping of a settings file.
func (p parser) rename(mapping *yaml.Node) {
	mapping = target(mapping)
	if mapping.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := target(mapping.Content[i]), target(mapping.Content[i+1])
		if present, ok := renamed[key.Value]; ok {
			p.warn(warnRenamed(p.at(key.Line), "setting", key.Value, present))
			key.Value = present
		}
		if present, ok := storage.CompressionAlias(value.Value); ok && key.Value == "compression" {
			p.warn(warnRenamed(p.at(value.Line), key.Value, value.Value, present))
			value.Value = present
		}
	}
}

// Renamed returns an override with the present name of its value, and a warning if it had a former one.
func (o Override) Renamed() (Override, []string) {
	present, ok := storage.CompressionAlias(o.Value)
	if !ok || o.Key != "compression" {
		return o, nil
	}
	warning := warnRenamed(o.Origin, o.Key, o.Value, present)
	o.Value = present
	return o, []string{warning}
}

// renamedVariables returns the settings in the environment that have a former name.
func renamedVariables(lookup func(string) (string, bool)) (found []Override, warnings []string) {
	for former, present := range renamed {
		name := variable(former)
		if v, ok := lookup(name); ok {
			found = append(found, Override{present, v, name})
			warnings = append(warnings, warnRenamed("environment", "variable", name, variable(present)))
		}
	}
	return found, warnings
}

// variable returns the environment variable of a setting.
func variable(key string) string {
	return "BIRTHMARK_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}
