// Package answertest is for tests of an invariant of every API: each text in an answer that names something (an
// address, a transaction, an asset) is accepted by the same API as an argument.
//
// A [Crawl] requests seeds, reads the texts of the answers by its rules, and requests the targets of these rules, until
// no target is new or the limit is reached. It fails the test for each refusal, for each rule that never matched, and for
// each text that looks like a name but has no rule:
//
//	answertest.Crawl{
//		Ask:   answertest.HTTP(handler, "/api"),
//		Seeds: []string{"/blocks"},
//		Rules: []answertest.Rule{
//			{Keys: []string{"txid"}, Targets: []string{"/tx/{}", "/tx/{}/status"}},
//			{Keys: []string{"vout.scriptpubkey_address"}, Targets: []string{"/address/{}"}},
//		},
//		Plain: []string{"merkle_root"},
//	}.Run(t)
//
// [Shape] compares an answer with a recorded one of the original program, by keys and types, and by values.
package answertest
