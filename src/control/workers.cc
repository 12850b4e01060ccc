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
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void Workers::put(Line& line, std::function<void()> work) {
  {
    std::lock_guard lock(mutex_);
    CHECK(!stopping_);
    line.push_back(std::move(work));
  }
  changed_.notify_all();
}

void Workers::serve(Line& line) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !line.empty(); });
    if (line.empty()) return;
    std::function<void()> work = std::move(line.front());
    line.pop_front();
    lock.unlock();
    work();
    work = nullptr;  // what it holds goes before others are kept waiting
    lock.lock();
  }
}

}  // namespace trainyard::control
