#include "server/work_threads.h"

#include <system_error>

namespace trainyard::server {

WorkThreads::~WorkThreads() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  has_work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool WorkThreads::submit(std::function<void()> work) {
  std::lock_guard lock(mutex_);
  if (work_.size() >= waiting_max_) return false;
  const bool wants_another = work_.size() >= idle_ && threads_.size() < threads_max_;
  if (wants_another && !begin_thread() && threads_.empty()) return false;
  work_.push_back(std::move(work));
  has_work_.notify_one();
  return true;
}

// False when the machine gives none.
bool WorkThreads::begin_thread() {
  try {
    threads_.emplace_back([this] { run(); });
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

void WorkThreads::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    has_work_.wait(lock, [this] { return ending_ || !work_.empty(); });
    --idle_;
    if (work_.empty()) return;
    std::function<void()> work = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
  }
}

}  // namespace trainyard::server
