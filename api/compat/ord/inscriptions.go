package ord

import (
	"encoding/json"
	"regexp"
)

var formInscription = regexp.MustCompile(`^[[:xdigit:]]{64}i(0|[1-9]\d*)$`)

// inscriptionsIn returns the ids of inscriptions in the body.
func inscriptionsIn(r *request) []string {
	ids := []string{}
	if err := json.Unmarshal(r.Content(), &ids); err != nil {
		r.Refuse(badRequest("invalid body: expected a list of inscriptions TXIDiN"))
	}
	for _, id := range ids {
		if !formInscription.MatchString(id) {
			r.Refuse(badRequest("invalid inscription %q: expected TXIDiN", id))
			break
		}
	}
	return ids
}

// manyInscriptions returns the inscriptions of a list. There are none; ord's wallet asks for those of its outputs, an
// empty list.
func manyInscriptions(r *request) answer {
	ids := inscriptionsIn(r)
	return func(*view) (any, error) {
		if len(ids) > 0 {
			return nil, missing("inscription %s", ids[0])
		}
		return ids, nil
	}
}

// missingInscriptions returns those of a list that are not known, which is all.
func missingInscriptions(r *request) answer {
	ids := inscriptionsIn(r)
	return func(*view) (any, error) { return ids, nil }
}
