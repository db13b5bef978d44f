package ergo

import "birthmark/model"

// describeToken reads [model.Mint.Info].
func describeToken(info []byte) model.AssetDescription { return model.AssetDescription{} }
