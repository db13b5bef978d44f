// Package utxo is the common part of the protocols of Cardano: it reads outputs with their addresses, assets, datums and
// reference scripts, blocks by slot, and datums and scripts by hash.
//
// Datums and scripts are read from raw transactions. A datum or a script by hash is searched in the transactions that
// create or spend outputs with the hash. A family of all datums would also have datums that no output names, which no
// client requests.
package utxo
