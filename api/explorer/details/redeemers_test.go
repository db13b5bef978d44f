package details

import (
	"testing"

	"birthmark/core/query"
	"birthmark/model"
)

// A redeemer is shown under the input that it is for, whatever its index is.
func TestRedeemersAreShownUnderTheirInputs(t *testing.T) {
	d := New(Links{})
	redeemers := []model.Redeemer{
		{Purpose: "spend", Index: 7, Output: &model.OutputReference{Tx: "aa", Index: 1}, Data: model.EncodedValue{Raw: "01"}},
		{Purpose: "mint", Index: 0, Data: model.EncodedValue{Raw: "02"}},
	}
	for index, want := range []int{0, 1} {
		in := &query.InputAnswer{Output: query.OutputAnswer{Tx: "aa", Index: index}}
		fields := d.InputFields(in, redeemers)
		if (len(fields) > 0) != (want == 1) || want == 1 && (fields[0].Name != "redeemer" || fields[0].Text != "01") {
			t.Errorf("input of output %d: %+v", index, fields)
		}
	}
}
