module trainyard.test/load

go 1.22
