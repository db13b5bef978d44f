// Package proof holds what block files and peers are both judged by: [Work], the measure by which the best chain is
// chosen, and [MerkleRoot], by which a header commits to its transactions.
package proof
