// Package charts draws the explorer's figures as SVG on the server: bars, areas, lines and steps over heights or times
// ([Chart]), how a whole is shared ([Shares]), and a bar beside a number ([Bar]).
//
// What comes out is a figure for a page: the picture, and the numbers it was drawn from as a table behind a <details>. It
// needs no script, holds no style of its own and fits a policy that forbids inline ones: [Style] goes into the page's style
// sheet, and takes its colours from the variables named there, so that a chart is light or dark as its page is.
//
// The shapes are those of chartdraw (github.com/go-analyze/charts), which writes class names in the place of colours where it is
// asked to. They are drawn into a picture of their own that stretches to the width there is, with lines that keep theirs; the
// words along the axes stand outside of it and keep the size of the page's type, on a phone too. That is why the axes are
// not the library's: those scale with the picture. gonum/plot was the other candidate; its SVG has colours, fonts and sizes
// fixed, and no classes.
//
// Values are float64: good for a picture. What has to be exact is given as text, for the table.
package charts
