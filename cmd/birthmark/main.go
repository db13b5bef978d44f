// Command birthmark indexes UTXO blockchains into a database and answers queries about them. Its commands are in
// [birthmark/internal/cli].
package main

import (
	"os"

	"birthmark/internal/cli"
)

func main() {
	os.Exit(cli.Main())
}
