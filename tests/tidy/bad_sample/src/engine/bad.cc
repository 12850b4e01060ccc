#include "engine/bad.h"

namespace trainyard::engine {

void every_banned_call() {
  // A mention of system_clock or rand() in words is no use of it.
  auto now = std::chrono::system_clock::now();
  int dice = rand();
  const char* home = getenv("HOME");
  std::thread worker;
  std::unordered_map<int, int> walked;
  std::unordered_map<int, int> kept;  // never walked
  printf("%d", dice);
  auto then = time(nullptr);
  assert(home != nullptr);
  // TODO: remove
  // worker.join();
  // return;
}

struct Sample {
  int short_one() { return 1; }

  int long_one() {
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
    step();
  }
};

