package explorer

import (
	"context"
	"slices"
	"strings"

	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// forms sets the types of the outputs of a value if they can differ, and notes about them.
func (r *valueReader) forms() error {
	b := r.body
	forms := r.modelIndex().FormsOf(b.Value)
	if len(forms) == 0 || r.newest.FirstSeen == nil {
		return nil
	}
	counts, exact, err := r.countedForms(forms)
	if err != nil {
		return err
	}
	if !exact {
		if counts, exact, err = r.sampledForms(forms); err != nil {
			return err
		}
	}
	var found, all []string
	for i, f := range forms {
		all = append(all, f.Name)
		if counts[i] == 0 {
			continue
		}
		found = append(found, f.Name)
		number, sentence := humanize.Count(counts[i]), f.Many
		if counts[i] == 1 {
			sentence = f.One
		}
		if !exact {
			number = "At least " + number
		}
		if sentence != "" {
			b.FormNotes = append(b.FormNotes, number+" "+sentence)
		}
	}
	if b.Types = found; len(found) == 0 {
		b.Types = []string{strings.Join(all, " or ")}
	}
	return nil
}

// modelIndex returns the index of the chain; it has no types if it is not one of outputs.
func (r *valueReader) modelIndex() *model.Index {
	indexes := r.chain.Model.Indexes()
	if i := slices.IndexFunc(indexes, func(x model.Index) bool { return x.Name == r.index.Name }); i >= 0 {
		return &indexes[i]
	}
	return &model.Index{}
}

// countedForms returns the number of outputs of each form. exact is false if the indexes do not store the totals.
func (r *valueReader) countedForms(forms []model.Form) (counts []uint64, exact bool, err error) {
	if !r.keeps("balance") {
		return nil, false, nil
	}
	b, err := r.Balance(r.ctx, r.index.Name, r.value)
	if err != nil || b.OutputTypes == nil {
		return nil, false, err
	}
	counts = make([]uint64, len(forms))
	for i, f := range forms {
		for _, t := range b.OutputTypes {
			if t.Type == f.Name {
				counts[i] = t.OutputCount
			}
		}
	}
	return counts, true, nil
}

// sampledForms counts the forms of the newest and of the oldest outputs: exact if these are all.
func (r *valueReader) sampledForms(forms []model.Form) (counts []uint64, exact bool, err error) {
	sample, exact := r.newest.Outputs, r.newest.Next == nil
	if !exact {
		oldest, err := r.Find(r.ctx, r.index.Name, r.value, query.Terms{}, query.Page{Limit: valueRows})
		if err != nil {
			return nil, false, err
		}
		sample = slices.Clone(sample)
		for _, o := range oldest.Outputs {
			if slices.ContainsFunc(r.newest.Outputs, func(has query.OutputAnswer) bool { return has.Tx == o.Tx && has.Index == o.Index }) {
				exact = true
				break
			}
			sample = append(sample, o)
		}
	}
	var types []string
	if _, err := r.patiently(func(ctx context.Context) (err error) {
		types, err = r.OutputTypes(ctx, sample)
		return err
	}); err != nil {
		return nil, false, err
	}
	counts = make([]uint64, len(forms))
	unknown := false
	for i := range sample {
		detail := ""
		if i < len(types) {
			detail = types[i]
		}
		if n := formOf(forms, &sample[i], detail); n >= 0 {
			counts[n]++
		} else {
			exact, unknown = false, true
		}
	}
	r.page.LacksRaw = unknown && r.lacksRaw()
	return counts, exact, nil
}

// formOf returns the form of an output by its keys or its type, which may be empty; -1 if it is unknown.
func formOf(forms []model.Form, o *query.OutputAnswer, detail string) int {
	only := -1 // the single form that the keys do not exclude
	possible := 0
	for n, f := range forms {
		excluded := false
		for index, value := range f.Keys {
			switch key, ok := o.Keys[index]; {
			case ok && key == value:
				return n
			case ok:
				excluded = true
			}
		}
		if detail != "" && detail == f.Detail {
			return n
		}
		if !excluded {
			only = n
			possible++
		}
	}
	if possible == 1 {
		return only
	}
	return -1
}
