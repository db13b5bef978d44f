package ledger

import (
	"fmt"

	"birthmark/chains/cardano/cbor"
)

// Languages of scripts: native scripts are CBOR, the others are versions of Plutus in byte strings.
const languageNative = 0

var ScriptLanguages = [...]string{"native", "plutus_v1", "plutus_v2", "plutus_v3", "plutus_v4"}

// Script is a reference script.
type Script struct {
	Language byte
	Code     []byte // as it is hashed; it points into what was parsed
}

// ParseScript reads a reference script, an array of language and script. It resets w and reuses its memory.
func ParseScript(w *cbor.Walker, ref []byte) (s Script, err error) {
	w.Reset(ref)
	fields := w.Fields("reference script")
	at := w.Offset
	language := fields.Uint("language")
	if language > 255 {
		w.FailAt(at, "language %d of a script", language)
	}
	if s.Language = byte(language); language == languageNative {
		s.Code = fields.Item("script")
	} else {
		s.Code = fields.Bytes("script")
	}
	fields.End()
	if w.Err != nil {
		return Script{}, fmt.Errorf("reference script: %w", w.Err)
	}
	return s, nil
}

// LanguageName returns the name of the language, "" if there is no script.
func (s Script) LanguageName() string {
	if s.Code == nil {
		return ""
	}
	if int(s.Language) < len(ScriptLanguages) {
		return ScriptLanguages[s.Language]
	}
	return fmt.Sprintf("plutus_v%d", s.Language)
}
