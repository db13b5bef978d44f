package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"birthmark/internal/suggest"
	"birthmark/model"

	"go.yaml.in/yaml/v3"
)

// Parse reads a settings file. Errors are of kind [model.Usage] and begin with name and the line.
func Parse(name string, text []byte) (*Settings, error) {
	s := Default()
	p := parser{name, s}
	root, err := p.document(text)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return s, nil
	}
	p.rename(root)
	single, of, line := NewChain(), "", 0 // of the settings of a single chain at the top level
	keys := map[string]reader{"chains": func(n *yaml.Node) error { return p.chains(s, n) }}
	addKeys(p, keys, s, s.origins, topKeys)
	for k, read := range p.chainReaders(&single) {
		keys[k] = func(n *yaml.Node) error {
			if line == 0 {
				of, line = k, n.Line
			}
			return read(n)
		}
	}
	if err := p.mapping(root, "setting", keys); err != nil {
		return nil, err
	}
	switch {
	case line > 0 && s.Chains != nil:
		return nil, p.errorf(line, "%s is a setting of a chain: move it into the entries of chains (or, for a single chain, remove chains "+
			"and write its settings at the top level)", of)
	case line > 0:
		s.Chains = []Chain{single}
	}
	return s, nil
}

type parser struct {
	name     string // of the file
	settings *Settings
}

// reader reads the value of a key.
type reader func(*yaml.Node) error

func (p parser) errorf(line int, format string, args ...any) error {
	return model.Errorf(model.Usage, "bad_setting", "%s: "+format, append([]any{p.at(line)}, args...)...)
}

func (p parser) at(line int) string { return fmt.Sprintf("%s:%d", p.name, line) }

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// document returns the only document of the text, nil if it is empty.
func (p parser) document(text []byte) (*yaml.Node, error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	err := d.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err == nil && !errors.Is(d.Decode(&more), io.EOF) {
		return nil, p.errorf(max(more.Line, 1), "a settings file has only one YAML document, this is the second")
	}
	if err != nil {
		at, what := p.name, err.Error()
		if m := yamlLine.FindStringSubmatch(what); m != nil {
			if what = what[len(m[0]):]; m[1] != "" {
				at += ":" + m[1]
			}
		}
		return nil, model.Errorf(model.Usage, "bad_setting", "%s: not YAML: %s", at, what)
	}
	if len(doc.Content) == 0 || isNull(doc.Content[0]) {
		return nil, nil
	}
	return doc.Content[0], nil
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// target returns the node that an alias refers to.
func target(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// mapping calls the reader of each key with its value.
func (p parser) mapping(n *yaml.Node, what string, keys map[string]reader) error {
	n = target(n)
	if n.Kind != yaml.MappingNode {
		return p.errorf(n.Line, "expected a mapping from %s to value", what)
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := target(n.Content[i])
		line := n.Content[i].Line
		if before, ok := seen[key.Value]; ok {
			return p.errorf(line, "%s %q appears twice, first in line %d", what, key.Value, before)
		}
		seen[key.Value] = line
		read, ok := keys[key.Value]
		if !ok || key.Kind != yaml.ScalarNode {
			return p.errorf(line, "unknown %s %q%s", what, key.Value, suggest.Hint(key.Value, keys))
		}
		if err := read(n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// text returns a plain value.
func (p parser) text(n *yaml.Node, what string) (string, error) {
	v := target(n)
	if v.Kind != yaml.ScalarNode {
		return "", p.errorf(n.Line, "%s expects a single value", what)
	}
	if isNull(v) {
		return "", p.errorf(n.Line, "%s has no value", what)
	}
	return v.Value, nil
}

func addKeys[T any](p parser, to map[string]reader, of *T, origins map[string]string, keys []key[T]) {
	groups := map[string]map[string]reader{}
	for _, k := range keys {
		read := func(n *yaml.Node) error {
			v, err := p.text(n, k.name)
			if k.list {
				v, err = p.list(n, k.name)
			}
			if err != nil {
				return err
			}
			if err := k.set(of, v, p.at(n.Line)); err != nil {
				return p.errorf(n.Line, "%s: %w", k.name, err)
			}
			origins[k.name] = p.at(n.Line)
			return nil
		}
		group, name, nested := strings.Cut(k.name, ".")
		if !nested {
			to[k.name] = read
			continue
		}
		if groups[group] == nil {
			groups[group] = map[string]reader{}
			to[group] = func(n *yaml.Node) error { return p.mapping(n, "setting of "+group, groups[group]) }
		}
		groups[group][name] = read
	}
}

// list returns one or more values, joined by commas.
func (p parser) list(n *yaml.Node, what string) (string, error) {
	v := target(n)
	if v.Kind != yaml.SequenceNode {
		return p.text(n, what)
	}
	var values []string
	for _, item := range v.Content {
		text, err := p.text(item, what)
		if err != nil {
			return "", err
		}
		values = append(values, text)
	}
	return strings.Join(values, ","), nil
}

func (p parser) chains(s *Settings, n *yaml.Node) error {
	n = target(n)
	if n.Kind != yaml.SequenceNode {
		return p.errorf(n.Line, "chains must be a list with an entry \"- chain: NAME\" per chain")
	}
	s.Chains = []Chain{}
	for _, item := range n.Content {
		c := NewChain()
		p.rename(item)
		if err := p.mapping(item, "setting of a chain", p.chainReaders(&c)); err != nil {
			return err
		}
		if c.Chain == "" {
			return p.errorf(item.Line, "an entry of chains lacks the key chain")
		}
		s.Chains = append(s.Chains, c)
	}
	return nil
}

func (p parser) chainReaders(c *Chain) map[string]reader {
	keys := map[string]reader{}
	addKeys(p, keys, c, c.origins, chainKeys)
	keys["indexes"] = func(n *yaml.Node) error { return p.indexes(c, n) }
	keys[passwordKey] = func(n *yaml.Node) error {
		return p.errorf(n.Line, "a settings file cannot contain a password: use password_file or BIRTHMARK_PASSWORD")
	}
	return keys
}

func (p parser) indexes(c *Chain, n *yaml.Node) error {
	m := target(n)
	if m.Kind == yaml.ScalarNode && presets[m.Value] != nil {
		c.origins["indexes"] = p.at(n.Line)
		return setIndexes(c, m.Value, p.at(n.Line))
	}
	if m.Kind != yaml.MappingNode {
		return p.errorf(n.Line, "indexes must map index names to options, such as \"address: {}\", or be a preset: %s", strings.Join(Presets(), " or "))
	}
	c.Indexes = []Index{}
	c.origins["indexes"] = p.at(n.Line)
	keys := map[string]reader{}
	for i := 0; i+1 < len(m.Content); i += 2 {
		name, line := target(m.Content[i]).Value, m.Content[i].Line
		keys[name] = func(n *yaml.Node) error {
			c.Indexes = append(c.Indexes, Index{Name: name, Origin: p.at(line)})
			if isNull(target(n)) {
				return nil
			}
			return p.index(&c.Indexes[len(c.Indexes)-1], n)
		}
	}
	return p.mapping(m, "index", keys)
}

// index reads the options of an index; with a value it is a custom index.
func (p parser) index(ix *Index, n *yaml.Node) error {
	d := model.Definition{Name: ix.Name}
	ix.origins = map[string]string{}
	keys := map[string]reader{}
	take := func(name string, set func(value string) error) {
		keys[name] = func(n *yaml.Node) error {
			v, err := p.text(n, name)
			if err != nil {
				return err
			}
			ix.origins[name] = p.at(n.Line)
			if err := set(v); err != nil {
				return p.errorf(n.Line, "%s of index %s: %w", name, ix.Name, err)
			}
			return nil
		}
	}
	for name, option := range map[string]*bool{
		"balance": &ix.Options.Balance, "unspent": &ix.Options.Unspent, "history": &ix.Options.History, "prefix": &ix.Options.Prefix,
		"statistics": &ix.Options.Statistics,
	} {
		take(name, func(v string) (err error) { *option, err = ParseSwitch(v); return err })
	}
	take("when", func(v string) error { return setText(&d.When, v) })
	take("value", func(v string) error { return setText(&d.Value, v) })
	take("kind", func(v string) (err error) { d.Kind, err = parseKind(v); return err })
	if err := p.mapping(n, "option of index "+ix.Name, keys); err != nil {
		return err
	}
	for _, name := range []string{"when", "kind"} {
		if at, ok := ix.origins[name]; ok && d.Value == "" {
			return model.Errorf(model.Usage, "bad_setting", "%s: index %s: missing value: %s is only for a custom index, which needs an expression of its values", at, ix.Name, name)
		}
	}
	if d.Value != "" {
		ix.Definition = &d
	}
	return nil
}

func parseKind(text string) (model.Kind, error) {
	for k := model.Kind(0); k.Valid(); k++ {
		if k.String() == text {
			return k, nil
		}
	}
	return 0, fmt.Errorf("unknown kind %q: expected %s", text, strings.Join(kinds(), ", "))
}
