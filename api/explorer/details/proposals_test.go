package details

import (
	"fmt"
	"slices"
	"testing"

	"birthmark/model"
)

// A governance action is shown with its changes; members beyond a limit are counted.
func TestContentsOfProposalsAreShown(t *testing.T) {
	p := &model.Proposal{Action: "gov_action1a", Type: "new_committee", Previous: "gov_action1b", Version: "11.0", Quorum: "2/3",
		Parameters: []model.ParameterChange{{Name: "min_fee_a", Value: "44"}}, Removed: []string{"cc_cold1r"},
		Constitution: &model.Constitution{URL: "https://example.org", Hash: "00", Script: "11"}, Raw: "80"}
	for i := range maxMembers + 4 {
		p.Added = append(p.Added, model.CommitteeTerm{Member: fmt.Sprint("cc_cold", i), Expires: 1500})
	}
	d := New(Links{Named: func(name string) string { return "/" + name }}).Whole()
	fields := d.Proposal(p)
	for _, want := range []Field{
		{Name: "follows", Text: "gov_action1b", URL: "/gov_action1b"}, {Name: "new min fee a", Text: "44"},
		{Name: "new version of the protocol", Text: "11.0"}, {Name: "removes", Text: "cc_cold1r", URL: "/cc_cold1r"},
		{Name: "adds", Text: "cc_cold0, until epoch 1,500", URL: "/cc_cold0"}, {Name: "members", Text: "5 more"},
		{Name: "quorum of the committee", Text: "2/3"}, {Name: "constitution", Text: "https://example.org"},
		{Name: "script that checks proposals", Text: "11"},
	} {
		if !slices.ContainsFunc(fields, func(f Field) bool { return f.Name == want.Name && f.Text == want.Text && f.URL == want.URL }) {
			t.Errorf("no field %+v in %+v", want, fields)
		}
	}
	if n := len(slices.DeleteFunc(fields, func(f Field) bool { return f.Name != "adds" })); n != maxMembers-1 {
		t.Errorf("%d members", n)
	}
}
