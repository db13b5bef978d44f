package blockbook

var DescribeData = describeData
