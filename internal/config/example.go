package config

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Example returns a commented settings file of one chain, with the given settings. The other settings are comments with
// their default, or with an example.
func Example(given map[string]string) (string, error) {
	var b strings.Builder
	b.WriteString(`# Settings of Birthmark.
#
# A line like #key: value is a setting that is not set, with its default, or an example if it has none. To set it,
# remove the #, and also that of the line above without an indent if the key is indented.
`)
	for _, part := range []struct {
		title string
		keys  []string
	}{{"The chain", names(chainKeys)}, {"The process and its server", names(topKeys)}} {
		fmt.Fprintf(&b, "\n# --- %s ---\n", part.title)
		group := ""
		for _, name := range part.keys {
			d, ok := descriptions[name]
			if !ok { // the password
				continue
			}
			value, set := given[name]
			if set {
				var err error
				if value, err = fileValue(name, value); err != nil {
					return "", err
				}
			} else {
				value = d.sample
			}
			fmt.Fprintf(&b, "\n# %s%s\n", strings.ToUpper(d.text[:1]), d.text[1:])
			outer, inner, nested := strings.Cut(name, ".")
			switch {
			case !nested:
				b.WriteString(line(!set, "", name, value))
			case outer != group:
				b.WriteString(line(!anyOfGroup(given, outer), "", outer, "")) // its keys follow
				fallthrough
			default:
				b.WriteString(line(!set, "  ", inner, value))
			}
			group = outer
		}
	}
	return b.String(), nil
}

// line returns the line of a setting.
func line(comment bool, indent, key, value string) string {
	text := strings.TrimRight(indent+key+": "+value, " ") + "\n"
	if comment {
		return "#" + text
	}
	return text
}

func anyOfGroup(given map[string]string, group string) bool {
	for name := range given {
		if strings.HasPrefix(name, group+".") {
			return true
		}
	}
	return false
}

// fileValue returns a value of the command line as it is written in a file.
func fileValue(name, value string) (string, error) {
	switch name {
	case "indexes":
		if presets[value] != nil {
			return value, nil
		}
		var parts []string
		for index := range strings.SplitSeq(value, ",") {
			parts = append(parts, strings.TrimSpace(index)+": {}")
		}
		return "{" + strings.Join(parts, ", ") + "}", nil
	case "cors_origins", "trusted_proxies", "hosts":
		text, err := yaml.Marshal(strings.Split(value, ","))
		if err != nil {
			return "", err
		}
		var parts []string
		for item := range strings.Lines(string(text)) {
			parts = append(parts, strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(item), "- ")))
		}
		return "[" + strings.Join(parts, ", ") + "]", nil
	}
	if _, err := ParseSwitch(value); err == nil {
		return value, nil
	}
	var number float64
	if yaml.Unmarshal([]byte(value), &number) == nil {
		return value, nil
	}
	text, err := yaml.Marshal(value)
	return strings.TrimSuffix(string(text), "\n"), err
}
