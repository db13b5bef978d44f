package boxes

import (
	"sync"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/ergo/sigma"
	"birthmark/core/schema"
	"birthmark/model"
)

// templateMap finds the value of the index of template hashes, which is a SHA-256, by the node's hash of the same
// template, which is a BLAKE2b-256. It has an entry per distinct template; an entry stays valid. A second index would
// store each occurrence twice.
type templateMap struct {
	mu    sync.Mutex
	ours  map[[32]byte][32]byte
	known map[[32]byte]bool // values of the index
	up    model.Point       // the block up to which values were read
}

// templateBatch is the number of templates that are read at once.
const templateBatch = 256

// NodeTemplate returns the index, and the birth in it, whose boxes the node has under a template hash; nil: none. A
// tree that cannot be parsed has no template, and the node takes the hash of the whole tree.
func (v *View) NodeTemplate(hash [32]byte) (*schema.Index, *model.BirthPk, error) {
	x, err := v.Q.Index(TemplateIndex)
	if err != nil {
		return nil, nil, err
	}
	m := &v.chain.templates
	m.mu.Lock()
	err = v.readTemplates(m, x)
	ours, known := m.ours[hash]
	m.mu.Unlock()
	if err != nil {
		return nil, nil, err
	}
	if known {
		birth, err := v.Q.Birth(x, ours[:])
		return x, birth, err
	}
	if x, err = v.Q.Index(TreeIndex); err != nil {
		return nil, nil, err
	}
	birth, err := v.Q.Birth(x, hash[:])
	if err != nil || birth == nil {
		return x, nil, err
	}
	boxes, err := v.UnspentBoxes([]model.UtxoPk{birth.Utxo})
	if err != nil {
		return nil, nil, err
	}
	if _, err := sigma.ParseTree(boxes[0].Box().Tree); err == nil {
		return x, nil, nil
	}
	return x, birth, nil
}

// readTemplates adds the values of the index that were born since the last call.
func (v *View) readTemplates(m *templateMap, x *schema.Index) error {
	if m.ours == nil {
		m.ours, m.known = map[[32]byte][32]byte{}, map[[32]byte]bool{}
	}
	if v.Tip == m.up {
		return nil
	}
	from := model.HeightPk(0)
	if !m.up.IsOrigin() && m.up.Height <= v.Tip.Height {
		row, err := v.Q.BlockRow(m.up.Height)
		if err != nil {
			return err
		}
		if row.Hash == m.up.Hash {
			from = m.up.Height + 1
		}
	}
	var pks []model.UtxoPk
	var values [][32]byte
	flush := func() error {
		boxes, err := v.UnspentBoxes(pks)
		if err != nil {
			return err
		}
		for i := range boxes {
			tree, err := sigma.ParseTree(boxes[i].Box().Tree)
			if err != nil {
				return err
			}
			m.ours[blake2b.Sum256(tree.Template)], m.known[values[i]] = values[i], true
		}
		pks, values = pks[:0], values[:0]
		return v.Q.Ctx.Err()
	}
	q := v.Q.Unlimited() // the map is read once per process
	for kv, err := range q.R.Scan(x.Family(schema.IndexValue), q.FirstPk(from).AppendTo(nil), nil, false) {
		if err != nil {
			return err
		}
		value := [32]byte(kv.Value)
		if m.known[value] {
			continue
		}
		pk, err := model.ParseUtxoPk(kv.Key)
		if err != nil {
			return err
		}
		if pks, values = append(pks, pk), append(values, value); len(pks) == templateBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	m.up = v.Tip
	return nil
}

// NodeTemplateOf returns the node's hash of the template of a tree.
func NodeTemplateOf(raw []byte) [32]byte {
	tree, err := sigma.ParseTree(raw)
	if err != nil {
		return blake2b.Sum256(raw)
	}
	return blake2b.Sum256(tree.Template)
}
