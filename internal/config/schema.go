package config

import (
	"maps"
	"slices"
	"strings"

	"birthmark/model"
)

// Schema returns the JSON Schema (draft 2020-12) of settings files, for editors. chains are the names of the chains.
// [Parse] checks more than a schema can express, such as combinations and expressions.
func Schema(chains []string) any {
	of := func(names []string) form {
		all := form{}
		for _, name := range names {
			d, ok := descriptions[name]
			if !ok { // the password
				continue
			}
			f := d.form
			if name == "chain" {
				f = oneOf(chains...)
			}
			put(all, name, describedForm(f, d.text))
		}
		return all
	}
	chain := of(names(chainKeys))
	all := of(names(topKeys))
	notBoth := form{}
	for name := range chain {
		notBoth[name] = false
	}
	maps.Copy(all, chain)
	all["chains"] = form{
		"description": "the chains of a server of several", "type": "array",
		"items": form{"type": "object", "properties": chain, "additionalProperties": false, "required": []string{"chain"}},
	}
	return form{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "Settings of Birthmark",
		"type":    []string{"object", "null"}, "properties": all, "additionalProperties": false,
		"if":   form{"type": "object", "required": []string{"chains"}},
		"then": form{"properties": notBoth},
	}
}

// put adds the form of a key, which has a dot in its name if it is nested.
func put(all form, name string, f form) {
	group, inner, nested := strings.Cut(name, ".")
	if !nested {
		all[name] = f
		return
	}
	if all[group] == nil {
		all[group] = form{"type": "object", "properties": form{}, "additionalProperties": false}
	}
	all[group].(form)["properties"].(form)[inner] = f
}

func names[T any](keys []key[T]) (all []string) {
	for _, k := range keys {
		all = append(all, k.name)
	}
	return all
}

// Presets returns the names that stand for several indexes with their options.
func Presets() []string { return slices.Sorted(maps.Keys(presets)) }

// PresetsOf returns the presets for a chain with these indexes.
func PresetsOf(indexes []string) []string {
	return slices.DeleteFunc(Presets(), func(name string) bool {
		return slices.ContainsFunc(presets[name], func(ix Index) bool {
			return !ix.Optional && ix.Definition == nil && !slices.Contains(indexes, ix.Name)
		})
	})
}

// kinds are the names of all kinds of indexes.
func kinds() (names []string) {
	for k := model.Kind(0); k.Valid(); k++ {
		names = append(names, k.String())
	}
	return names
}
