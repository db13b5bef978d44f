package ergo

// environment has the fields of expressions over Ergo.
type environment struct {
	Output outputFields `expr:"output"`
	Tx     txFields     `expr:"tx"`
	Block  blockFields  `expr:"block"`
}

// outputFields are the fields of a box in expressions.
type outputFields struct {
	Index          int               `expr:"index" doc:"position among the outputs of its transaction, from 0" example:"0"`
	Value          int               `expr:"value" doc:"nanoErg" example:"18865500000"`
	Size           int               `expr:"size" doc:"serialized size in bytes" example:"445"`
	BoxID          []byte            `expr:"box_id" doc:"its id" example:"8d899a7e14f6a797390e023c4a3f4fa17b8e318f29c0146e6a888c0834ac1e0a"`
	Address        string            `expr:"address" doc:"address: P2PK, P2SH or P2S" example:"9gMJ8RbWipcBaWQh1QV2i14BAf11M3JZqeTLwnamh8A7ud4DgHy"`
	Tree           []byte            `expr:"ergo_tree" doc:"its ErgoTree, serialized" example:"0008cd02f1380bbbe7e7acfacde7beddbb2056f7aec67c00d02cb67103effdbccf47cf14"`
	TreeHash       []byte            `expr:"ergo_tree_hash" doc:"Blake2b-256 of its ErgoTree" example:"28042fd2f372a05396bfbef452c537878c367992a292f06931b969624c57ad93"`
	TemplateHash   []byte            `expr:"ergo_tree_template_hash" doc:"SHA-256 of its ErgoTree without header and constants; empty if the tree cannot be parsed" example:"f6f982fa50028a18a6459ab046f1f93d05a598dd57c913921c01cf186b9c5cdc"`
	CreationHeight int               `expr:"creation_height" doc:"stated creation height" example:"1795981"`
	Assets         []*asset          `expr:"assets" doc:"its tokens in order; an id may be repeated"`
	Registers      map[string][]byte `expr:"registers" doc:"serialized additional registers, by the names R4 to R9" example:"R4: 05d0b79aa81d"`
	Values         map[string]any    `expr:"values" doc:"decoded additional registers, by the names R4 to R9: numbers, text, bytes, true or false, lists" example:"R4: 3934473704"`
	RegisterTexts  []string          `expr:"register_texts" doc:"additional registers in the form of the index register" example:"R4:05d0b79aa81d"`
}

// asset is a token in a box.
type asset struct {
	ID     []byte `expr:"id" doc:"the token's id" example:"011d3364de07e5a26f0c4eef0852cddb387039a921b7154ef3cab22c6eda887f"`
	Amount int    `expr:"amount" doc:"amount" example:"1"`
}

// mint is a token that a transaction mints. The amount is the sum over its boxes.
type mint struct {
	ID          []byte `expr:"id" doc:"the token's id" example:"ba6e27df8996a9a1924649ce5ec43697a357bc71358cb741835afe2715355990"`
	Amount      int    `expr:"amount" doc:"amount, at most 9223372036854775807" example:"1"`
	Name        string `expr:"name" doc:"name by its issuer (EIP-4), else empty" example:"Adventurer #019"`
	Description string `expr:"description" doc:"description by its issuer (EIP-4), else empty" example:"{\"originalAmountStaked\": 9700.0…"`
	Decimals    int    `expr:"decimals" doc:"decimals (EIP-4); 0 if missing" example:"0"`
}

// txFields are the fields of a transaction in expressions.
type txFields struct {
	Hash        []byte   `expr:"hash" doc:"its id" example:"e5d893f8fca691b6fd03808bb1a885e8966385ce43b7c98546aad8b628a059cc"`
	Index       int      `expr:"index" doc:"position in the block, from 0" example:"1"`
	Size        int      `expr:"size" doc:"serialized size in bytes with proofs; 0 for genesis" example:"1139"`
	InputCount  int      `expr:"input_count" doc:"number of inputs" example:"2"`
	OutputCount int      `expr:"output_count" doc:"number of outputs" example:"8"`
	Inputs      [][]byte `expr:"inputs" doc:"ids of the boxes that it spends" example:"306b250c23d3a078d69abb1c31c04584da617de3b67fe37ffa88760794697e6f"`
	DataInputs  [][]byte `expr:"data_inputs" doc:"ids of its data inputs" example:"dba6156d5938c9a0df048fa5bef43073d86c3480840bf0d729adcb20f9b9f19f"`
	Mints       []*mint  `expr:"mints" doc:"the token it mints, if any"`
}

// blockFields are the fields of a block. They are empty in the genesis, which is not in a block.
type blockFields struct {
	Height     int    `expr:"height" doc:"height; 0 for genesis" example:"1795984"`
	Hash       []byte `expr:"hash" doc:"the id of its header" example:"d0ebda28ab824d440fe205741109911b0d40deb67f6f7659da86bff70d95908d"`
	Time       int    `expr:"time" doc:"unix seconds" example:"1780062246"`
	Size       int    `expr:"size" doc:"bytes" example:"51978"`
	Version    int    `expr:"version" doc:"of the protocol" example:"4"`
	Difficulty int    `expr:"difficulty" doc:"difficulty, at most 9223372036854775807" example:"112862630510592"`
	MinerKey   []byte `expr:"miner_key" doc:"public key of the miner" example:"0274e729bb6615cbda94d9d176a2f1525068f12b330e38bbbf387232797dfd891f"`
	Votes      []byte `expr:"votes" doc:"three bytes, each a vote or 00" example:"000000"`
	TxCount    int    `expr:"tx_count" doc:"number of transactions" example:"8"`
}
