package ergo

import "birthmark/chains/ergo/sigma"

// PrintScript implements [model.ScriptPrinter]: it writes trees.
func (c *chain) PrintScript(language string, code []byte, most int) (text string, whole bool) {
	if language != "ErgoTree" {
		return "", false
	}
	return sigma.Print(code, most)
}
