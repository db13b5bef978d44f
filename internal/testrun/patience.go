package testrun

import "time"

// Patience is how long a test waits for something that normally takes milliseconds, before it fails. It is long, because
// tests pass on a machine that gives them a hundredth of a processor.
const Patience = 20 * time.Minute
