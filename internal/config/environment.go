package config

import (
	"maps"
	"slices"
	"strings"
)

// Variable returns the environment variable of a setting.
func Variable(key string) string {
	return "BIRTHMARK_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// FromEnvironment returns the settings in the environment that lookup reads, such as [os.LookupEnv].
func FromEnvironment(lookup func(string) (string, bool)) (found []Override) {
	for _, key := range slices.Concat(slices.Sorted(maps.Keys(renamed)), Keys()) {
		name := Variable(key)
		if v, ok := lookup(name); ok {
			found = append(found, Override{key, v, name})
		}
	}
	return found
}
