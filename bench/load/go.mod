module versus-training-operator

go 1.22
