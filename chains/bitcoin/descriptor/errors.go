package descriptor

import "birthmark/model"

func bad(format string, args ...any) error {
	return model.Errorf(model.Usage, "bad_wallet", "invalid extended key or descriptor: "+format, args...)
}

var errPrivate = model.Errorf(model.Usage, "private_key", "the value contains a private key: use the extended public key "+
	"or the public descriptor of the wallet; nothing here needs a private key")
