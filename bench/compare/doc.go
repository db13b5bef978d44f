// Package compare compares the figures of two programs that measured the same work in turn. The ratio of a figure is
// the geometric mean over the rounds, with the 95% confidence interval of Student's t distribution: a round has one
// measurement of each program, shortly after each other, so load of the machine that lasts longer than a round
// cancels out.
package compare
