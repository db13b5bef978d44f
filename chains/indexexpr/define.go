package indexexpr

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"birthmark/model"
)

// Indexes are the custom indexes defined over a chain's fields.
type Indexes struct {
	language *Language
	list     []defined
	notes    *Notes // nil: none are collected
}

type defined struct {
	model.Definition
	form form
}

// maxName is the maximum length of a name in bytes: it is part of the names of families and of errors.
const maxName = 40

var (
	properName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	// With such a name, the families of the index would have the names of other families.
	reservedNames = []string{"asset", "asset_id", "asset_fingerprint", "asset_totals", "asset_info"}
)

// Define checks definitions and compiles their expressions. offered are the chain's own indexes. The error is an
// [Error] about the first invalid definition.
func (l *Language) Define(offered []model.Index, ds []model.Definition) (*Indexes, error) {
	x := &Indexes{language: l}
	for i, d := range ds {
		before := slices.ContainsFunc(ds[:i], func(e model.Definition) bool { return e.Name == d.Name })
		chains := slices.ContainsFunc(offered, func(o model.Index) bool { return o.Name == d.Name })
		refuse := func(key, format string, args ...any) error {
			return wrong(&Error{Index: shown(d.Name), Key: key, What: fmt.Sprintf(format, args...)})
		}
		switch {
		case len(d.Name) > maxName || !properName.MatchString(d.Name):
			return nil, refuse("", "invalid name: expected at most %d lower-case letters, digits and underscores, a letter first", maxName)
		case chains:
			return nil, refuse("", "%s has a built-in index of that name", l.chain)
		case slices.Contains(reservedNames, d.Name):
			return nil, refuse("", "the name is reserved: choose another")
		case before:
			return nil, refuse("", "is defined twice")
		case !d.Kind.Valid():
			return nil, refuse("kind", "unknown kind: expected %s", strings.Join(kindNames(), ", "))
		case strings.TrimSpace(d.Value) == "":
			return nil, refuse("value", "has no expression")
		}
		_, f, err := l.compileDefinition(d, reflect.New(l.root).Interface(), new(meter))
		if err != nil {
			return nil, err
		}
		x.list = append(x.list, defined{d, f})
	}
	return x, nil
}

func kindNames() []string {
	var all []string
	for k := model.Kind(0); k.Valid(); k++ {
		all = append(all, k.String())
	}
	return all
}

// compiled is the two expressions of a definition; when is nil if there is no condition.
type compiled struct{ when, value *program }

func (l *Language) compileDefinition(d model.Definition, root any, m *meter) (c compiled, f form, err error) {
	if strings.TrimSpace(d.When) != "" {
		if c.when, err = l.compile(d.When, true, root, m); err != nil {
			return c, 0, l.located(d.Name, "when", d.When, err)
		}
		if t := c.when.result; t != nil && t.Kind() != reflect.Bool && t.Kind() != reflect.Interface {
			return c, 0, l.located(d.Name, "when", d.When, &fault{0, "expected true or false, got " + l.typeName(t)})
		}
	}
	if c.value, err = l.compile(d.Value, false, root, m); err != nil {
		return c, 0, l.located(d.Name, "value", d.Value, err)
	}
	of := c.value.result
	isList := of != nil && of.Kind() == reflect.Slice && of != bytesType
	switch {
	case isList && d.Kind != model.ManyValued:
		return c, 0, l.located(d.Name, "value", d.Value, &fault{0, "a list needs kind many-valued: expected one value, such as its first"})
	case isList:
		of = c.value.elem
	case d.Kind == model.ManyValued && of != nil && of.Kind() != reflect.Interface:
		return c, 0, l.located(d.Name, "value", d.Value, &fault{0, "kind many-valued needs a list, got " + l.typeName(of)})
	}
	f, ok := formOf(of)
	if !ok {
		return c, 0, l.located(d.Name, "value", d.Value, &fault{0, "expected bytes, text, a number, true or false, got " + l.typeName(of)})
	}
	return c, f, nil
}

// Has reports whether an index of that name was defined. Indexes may be nil.
func (x *Indexes) Has(name string) bool {
	return x != nil && slices.ContainsFunc(x.list, func(d defined) bool { return d.Name == name })
}

// Indexes returns the definitions as indexes of a chain.
func (x *Indexes) Indexes() []model.Index {
	if x == nil {
		return nil
	}
	all := make([]model.Index, len(x.list))
	for i, d := range x.list {
		all[i] = model.Index{
			Name: d.Name, Kind: d.Kind, Doc: "defined in the settings: " + formDocs[d.form], When: d.When, Value: d.Value, Custom: true,
			Format: d.form.format,
			Parse:  func(text string) ([]byte, error) { return d.form.parse(d.Name, text) },
		}
	}
	return all
}
