package details

import (
	"testing"

	"birthmark/model"
)

// The id of an inscription is that of ord, however many the transaction has.
func TestIDsOfInscriptions(t *testing.T) {
	d := New(Links{Inscription: func(int) string { return "" }})
	item := d.inscription("ab", &model.Inscription{Number: 1234})
	if id := item.Fields[0]; id.Name != "id" || id.Text != "abi1234" {
		t.Errorf("%+v, expected abi1234", id)
	}
}
