package tikv

// InParts makes every update of more than three rows a large one.
func (c *Config) InParts() { inParts(c) }
