package api

import (
	"html/template"
	"maps"
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

// pageType is a type on the documentation page.
type pageType struct {
	Name, Doc string
	Fields    []pageField
}

type pageField struct {
	Name, Doc string
	Type      template.HTML
	Optional  bool // can be absent
}

func pageTypes(schemas map[string]*huma.Schema) []pageType {
	var types []pageType
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		s := schemas[name]
		t := pageType{Name: name, Doc: s.Description}
		for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
			f := s.Properties[field]
			t.Fields = append(t.Fields, pageField{
				Name: field, Doc: f.Description, Type: typeOf(f), Optional: !slices.Contains(s.Required, field),
			})
		}
		types = append(types, t)
	}
	return types
}

// typeOf returns a type in words, with links to other types.
func typeOf(s *huma.Schema) template.HTML {
	switch {
	case s.Ref != "":
		of := template.HTML(template.HTMLEscapeString(name(s)))
		return `<a href="#type-` + of + `">` + of + `</a>`
	case len(s.AnyOf) > 0: // see orNull
		return typeOf(s.AnyOf[0]) + " or null"
	case s.Nullable:
		plain := *s
		plain.Nullable = false
		return typeOf(&plain) + " or null"
	case s.Type == huma.TypeArray:
		return "list of " + typeOf(s.Items)
	case s.Type == huma.TypeString:
		return "text"
	case s.Type == huma.TypeInteger:
		return "number"
	case s.Type == huma.TypeBoolean:
		return "true or false"
	}
	return template.HTML(template.HTMLEscapeString(s.Type))
}
