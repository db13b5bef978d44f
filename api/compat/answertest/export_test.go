package answertest

import "time"

// ForShort sets how long [Limited] waits while fn runs.
func ForShort(wait time.Duration, fn func()) {
	defer func(before time.Duration) { patience = before }(patience)
	patience = wait
	fn()
}
