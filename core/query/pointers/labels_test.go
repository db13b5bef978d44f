package pointers

import (
	"strings"
	"testing"

	"birthmark/core/schema"
	"birthmark/model"
)

// The cache holds at most maxLabels labels per table, none longer than maxLabelSize.
func TestLabelsStayWithinTheirBound(t *testing.T) {
	q := &Reader{labels: new(Labels)}
	q.CacheText(schema.AssetSpace, model.BirthPk{}, strings.Repeat("x", maxLabelSize+1))
	if _, known := q.text(schema.AssetSpace, model.BirthPk{}); known {
		t.Error("a label that is too long is cached")
	}
	for i := range model.UtxoPk(4 * maxLabels) {
		q.CacheText(schema.AssetSpace, model.BirthPk{Utxo: i}, "label")
	}
	slots := *q.labels.texts.slots.Load()
	held := 0
	for i := range slots {
		if slots[i].Load() != nil {
			held++
		}
	}
	if len(slots) > maxLabels || held > maxLabels || held < maxLabels*3/4 {
		t.Errorf("%d labels in %d places, expected at most %d", held, len(slots), maxLabels)
	}
}
