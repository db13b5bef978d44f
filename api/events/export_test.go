package events

// ScriptsOf makes steps tell so few bytes, until restore is called.
func ScriptsOf(bytes int) (restore func()) {
	before := scriptSize
	scriptSize = bytes
	return func() { scriptSize = before }
}
