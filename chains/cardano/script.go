package cardano

import "fmt"

// The languages of scripts: native ones are CBOR, the others are versions of Plutus, in byte strings.
const languageNative = 0

var languageNames = [...]string{"native", "plutus_v1", "plutus_v2", "plutus_v3"}

// script is a reference script.
type script struct {
	language byte
	code     []byte // as it is hashed; it points into what was parsed
}

// parseScript reads a reference script, an array of its language and itself. It resets w, whose memory it reuses.
func parseScript(w *walker, ref []byte) (s script, err error) {
	w.reset(ref)
	n := w.array("reference script")
	w.field(&n, "language")
	at := w.at
	language := w.uint("language")
	if language > 255 {
		w.failAt(at, "language %d of a script", language)
	}
	w.field(&n, "script")
	if s.language = byte(language); language == languageNative {
		s.code = w.item("script")
	} else {
		s.code = w.bytes("script")
	}
	w.end(&n, "reference script")
	if w.err != nil {
		return script{}, fmt.Errorf("reference script: %w", w.err)
	}
	return s, nil
}

// name of the script's language; of no script it is empty.
func (s script) name() string {
	if s.code == nil {
		return ""
	}
	if int(s.language) < len(languageNames) {
		return languageNames[s.language]
	}
	return fmt.Sprintf("plutus_v%d", s.language)
}
