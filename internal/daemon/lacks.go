package daemon

import (
	"fmt"
	"slices"
	"strings"

	"birthmark/model"
)

// Lack is one thing that the settings of a chain need and that it does not have.
type Lack struct {
	What     string   `json:"what"`
	NeededBy []string `json:"needed_by"`         // settings, with their places
	Without  []string `json:"without,omitempty"` // answers that are not given; empty: the settings cannot be used
	Remedy   string   `json:"remedy"`            // a command, or a sentence
	code     string
}

// Lacks lists everything that the settings of a chain need and that it does not have.
type Lacks struct {
	Chain    string `json:"chain"` // name of the served chain
	DB       string `json:"db"`
	Exists   bool   `json:"exists"` // false: the database will lack it when it is created
	Missing  []Lack `json:"missing"`
	Optional []Lack `json:"optional"` // some answers need it
}

// title returns the first line of the list of what is missing.
func (l *Lacks) title() string {
	lacks := "lacks"
	if !l.Exists {
		lacks = "would lack"
	}
	things := fmt.Sprintf("%d things", len(l.Missing))
	if len(l.Missing) == 1 {
		things = "one thing"
	}
	return fmt.Sprintf("%s (%s) %s %s that its settings need", l.Chain, l.DB, lacks, things)
}

// LacksError is the error of chains that lack something that their settings need.
type LacksError []*Lacks

func (e LacksError) Error() string {
	var chains []string
	for _, l := range e {
		var parts []string
		for _, x := range l.Missing {
			parts = append(parts, fmt.Sprintf("%s, for %s: %s", x.What, strings.Join(x.NeededBy, ", "), x.Remedy))
		}
		chains = append(chains, l.title()+": "+strings.Join(parts, "; "))
	}
	return strings.Join(chains, "; ")
}

// Lines returns the error as lines for a terminal.
func (e LacksError) Lines() (lines []string) {
	for _, l := range e {
		lines = append(lines, l.title()+":")
		for _, x := range l.Missing {
			lines = append(lines, x.Lines()...)
		}
	}
	return lines
}

// Lines returns what is missing, and how to get it, as lines for a terminal.
func (x *Lack) Lines() []string {
	lines := []string{"  " + x.What + ", for " + strings.Join(x.NeededBy, ", ")}
	if len(x.Without) > 0 {
		lines = append(lines, "      not answered without it: "+strings.Join(x.Without, "; "))
	}
	return append(lines, "      "+x.Remedy)
}

// missing returns the error of the chains that lack something that their settings need.
func missing(all ...*Lacks) error {
	all = slices.DeleteFunc(all, func(l *Lacks) bool { return len(l.Missing) == 0 })
	if len(all) == 0 {
		return nil
	}
	return model.Errorf(model.Refused, all[0].Missing[0].code, "%w", LacksError(all))
}
