package verify

// Result is the result of a comparison with a source.
type Result struct {
	OK        bool    `json:"ok"`
	Chain     string  `json:"chain"`
	Network   string  `json:"network"`
	Seed      uint64  `json:"seed"` // the same one chooses the same blocks
	Tip       Point   `json:"tip"`
	SourceTip Point   `json:"source_tip"`
	Behind    uint32  `json:"behind"`             // number of blocks of the source above the database's tip
	Ahead     uint32  `json:"ahead"`              // number of blocks of the database above the source's tip, not compared
	PartsAt   *uint32 `json:"parts_at,omitempty"` // first height at which the chains differ, not compared from there on

	Blocks  uint64 `json:"blocks"` // compared
	Txs     uint64 `json:"txs"`    // genesis included
	Inputs  uint64 `json:"inputs"`
	Outputs uint64 `json:"outputs"`

	Unspent     *Unspent     `json:"unspent,omitempty"` // absent if the source cannot count
	Differences []Difference `json:"differences"`
	More        uint64       `json:"more,omitempty"` // number of differences that are not listed
}

// Unspent compares the unspent outputs of the source and of the database. A node leaves out outputs that can never be
// spent, so the database may have more of them, but not fewer.
type Unspent struct {
	Compared bool   `json:"compared"`
	Reason   string `json:"reason,omitempty"` // why not
	Source   *Count `json:"source,omitempty"`
	Database *Count `json:"database,omitempty"`
	More     *Count `json:"more,omitempty"` // Database minus Source
}

// Count is a number of outputs and their value.
type Count struct {
	Outputs int64  `json:"outputs"`
	Value   string `json:"value"`
}

// Point is a block.
type Point struct {
	Height uint32 `json:"height"`
	Hash   string `json:"hash"`
}

// Difference is a difference between the source and the database.
type Difference struct {
	Height   uint32 `json:"height"`
	Tx       string `json:"tx,omitempty"`
	What     string `json:"what"`
	Index    string `json:"index,omitempty"`
	Source   string `json:"source"`   // empty: the source has none
	Database string `json:"database"` // or the error of reading it
}
