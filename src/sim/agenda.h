// Agenda: the virtual clock and everything that is going to happen, in order of time
// and, at equal times, in the order it was put down. Nothing here waits: time jumps.
// One agenda belongs to one world and one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/time.h"

namespace trainyard::sim {

class Agenda {
 public:
  using Deed = std::function<void()>;

  explicit Agenda(Time start) : now_(start) {}
  Agenda(const Agenda&) = delete;
  Agenda& operator=(const Agenda&) = delete;

  Time now() const { return now_; }
  bool empty() const { return entries_.empty(); }
  // REQUIRES: !empty().
  Time next() const { return entries_.top().at; }

  // A time in the past stands for now.
  void at(Time when, Deed deed) {
    size_t place = deeds_.size();
    if (free_.empty()) {
      deeds_.push_back(std::move(deed));
    } else {
      place = free_.back();
      free_.pop_back();
      deeds_[place] = std::move(deed);
    }
    entries_.push({when < now_ ? now_ : when, order_++, place});
  }
  void in(Duration after, Deed deed) { at(now_ + after, std::move(deed)); }

  // Does the next deed. REQUIRES: !empty().
  void step() {
    CHECK(!entries_.empty());
    const Entry entry = entries_.top();
    entries_.pop();
    CHECK(entry.at >= now_);
    now_ = entry.at;
    const Deed deed = std::move(deeds_[entry.place]);  // it may add others, in its place too
    free_.push_back(entry.place);
    deed();
  }

  // Lets time pass. REQUIRES: nothing is due before.
  void pass_to(Time when) {
    CHECK(entries_.empty() || entries_.top().at >= when);
    if (when > now_) now_ = when;
  }

 private:
  struct Entry {
    Time at;
    uint64_t order = 0;
    size_t place = 0;  // of its deed: what is sorted is small
  };
  struct Later {
    bool operator()(const Entry& a, const Entry& b) const {
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };

  std::priority_queue<Entry, std::vector<Entry>, Later> entries_;
  std::vector<Deed> deeds_;
  std::vector<size_t> free_;  // places in deeds_
  Time now_;
  uint64_t order_ = 0;
};

}  // namespace trainyard::sim
