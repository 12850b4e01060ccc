#include "control/workers.h"

#include "base/check.h"

namespace trainyard::control {

Workers::Workers(int threads) {
  CHECK(threads > 0);
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(usual_); });
  threads_.emplace_back([this] { serve(urgent_); });
}

Workers::~Workers() { stop(); }

void Workers::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  usual_.changed.notify_all();
  urgent_.changed.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

bool Workers::busy() {
  std::lock_guard lock(mutex_);
  return usual_.free == 0;
}

void Workers::put(Line& line, std::function<void()> work) {
  {
    std::lock_guard lock(mutex_);
    CHECK(!stopping_);
    line.work.push_back(std::move(work));
  }
  line.changed.notify_one();
}

void Workers::serve(Line& line) {
  std::unique_lock lock(mutex_);
  while (true) {
    ++line.free;
    line.changed.wait(lock, [&] { return stopping_ || !line.work.empty(); });
    if (line.work.empty()) return;
    --line.free;
    std::function<void()> work = std::move(line.work.front());
    line.work.pop_front();
    lock.unlock();
    work();
    work = nullptr;  // what it holds goes before others are kept waiting
    lock.lock();
  }
}

}  // namespace trainyard::control
