// The shim as a program of its own, for tests: <program> <plan.json>.
#include "node/shim.h"

int main(int argc, char** argv) { return argc == 2 ? trainyard::node::shim_main(argv[1]) : 2; }
