// Package decode describes a block as its chain adapter decoded it, in JSON shapes with formatted values.
package decode
