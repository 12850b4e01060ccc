#include "sched/admit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "sched/preempt.h"

namespace trainyard::sched {
namespace {

// What is let in may ask for 6/5 of what is there: some of it will end before it starts.
constexpr int64_t kOverNumerator = 6;
constexpr int64_t kOverDenominator = 5;

// What is in a gang's way.
struct Taken {
  Amounts held;
  Amounts asked;
};

class Gate {
 public:
  explicit Gate(Pass& pass);

  void line_up();
  // The next to be considered: queues in their order, a queue that was let more in later.
  std::optional<int> next();
  void consider(int g);

 private:
  using Shape = std::tuple<int, int64_t, bool, Amounts>;  // alike before this gate

  int64_t rank(int g) const { return pass_.book.queue(pass_.queue_of(g)).priority; }
  bool goes_before(int a, int b) const;
  bool outranks(int g, int other) const;
  Amounts asked_by(int g) const;
  Taken in_the_way_of(int g);
  std::optional<Refusal> full_queue(int g) const;
  // The first resource of which there is not enough; -1 when there is.
  int lacking(int g, const Taken& taken) const;
  bool is_reserved_for(int g);
  void refuse(int g, const Taken& taken, int resource);

  Pass& pass_;
  Preemption preemption_;
  std::map<int, std::vector<int>> lines_;  // by queue, the next one last
  Taken taken_;                            // by all that is in
  std::set<std::string_view> infeasible_;
  std::vector<Amounts> by_queue_;
  std::optional<int> first_waiting_;  // of those with pods
  std::set<Shape> in_vain_;
  int tries_ = 0;
  bool refused_any_ = false;
  bool kept_room_ = false;
};

Gate::Gate(Pass& pass) : pass_(pass), preemption_(pass) {
  for (const Waiting& told : pass.out.waiting) {
    if (told.kind == WaitKind::kInfeasible) infeasible_.insert(told.gang);
  }
}

bool Gate::goes_before(int a, int b) const {
  return rank(a) != rank(b) ? rank(a) > rank(b) : pass_.goes_first(a, b);
}

bool Gate::outranks(int g, int other) const {
  if (rank(g) != rank(other)) return rank(g) > rank(other);
  return pass_.queue_of(g) == pass_.queue_of(other) &&
         pass_.gang(g).class_priority > pass_.gang(other).class_priority;
}

// By its pods that wait and are promised nothing yet. What can never start asks for nothing: it would keep
// everybody out.
Amounts Gate::asked_by(int g) const {
  Amounts out;
  const Pass::Row& row = pass_.row(g);
  if (pass_.queue_of(g) < 0 || !row.bound.empty() || row.promised) return out;
  if (infeasible_.contains(pass_.gang(g).id)) return out;
  for (int m : row.needs.waiting) {
    add(out, pass_.tables.pod_class(pass_.gang(g).members[static_cast<size_t>(m)].pod_class).requests);
  }
  return out;
}

void Gate::line_up() {
  for (int g : pass_.open) {
    int q = pass_.queue_of(g);
    bool served = q >= 0 && !pass_.book.turns_away(q, pass_.gang(g).ns, false);  // else it was told so
    if (pass_.gang(g).asks_admission && served) lines_[q].push_back(g);
  }
  if (lines_.empty()) return;
  for (auto& [_, line] : lines_) {
    std::sort(line.begin(), line.end(), [&](int a, int b) { return pass_.goes_first(b, a); });
  }
  for (size_t q = 0; q < pass_.cluster.queues.size(); ++q) {
    by_queue_.push_back(pass_.book.held(Moment::kSoon, static_cast<int>(q)));
    add(taken_.held, by_queue_.back());
  }
  for (const OtherPod& pod : pass_.cluster.others) {
    add(taken_.held, pass_.tables.pod_class(pod.pod_class).requests);
  }
  for (int g : pass_.open) {
    Amounts asked = asked_by(g);
    if (asked.empty()) continue;
    add(taken_.asked, asked);
    add(by_queue_[static_cast<size_t>(pass_.queue_of(g))], asked);
    if (!first_waiting_ || goes_before(g, *first_waiting_)) first_waiting_ = g;
  }
}

std::optional<int> Gate::next() {
  auto best = lines_.end();
  auto share = [&](int q) { return pass_.book.share(q, by_queue_[static_cast<size_t>(q)]); };
  for (auto line = lines_.begin(); line != lines_.end(); ++line) {
    if (line->second.empty()) continue;
    bool first = best == lines_.end() ||
                 pass_.book.goes_before(line->first, share(line->first), best->first, share(best->first));
    if (first) best = line;
  }
  if (best == lines_.end()) return std::nullopt;
  int g = best->second.back();
  best->second.pop_back();
  return g;
}

std::optional<Refusal> Gate::full_queue(int g) const {
  const Amounts& wanted = pass_.gang(g).min_resources;
  const Queue& queue = pass_.book.queue(pass_.queue_of(g));
  const Amounts& in_queue = by_queue_[static_cast<size_t>(pass_.queue_of(g))];
  for (size_t r = 0; r < wanted.size(); ++r) {
    std::optional<int64_t> most = most_of(queue, static_cast<int>(r));
    int64_t spoken_for = amount_at(in_queue, static_cast<int>(r));
    if (wanted[r] <= 0 || !most || plus(spoken_for, wanted[r]) <= *most) continue;
    const std::string& name = pass_.cluster.resources[r];
    std::string needs = amount_phrase(name, wanted[r]);
    if (wanted[r] > *most) return never_in_queue(queue, needs, amount_text(name, *most));
    return Refusal{WaitKind::kWaitFor, WaitCode::kNotAdmitted,
                   fmt::format("needs {}, queue {} has {} of the {} it may hold spoken for", needs,
                               queue.name, amount_text(name, spoken_for), amount_text(name, *most))};
  }
  return std::nullopt;
}

int Gate::lacking(int g, const Taken& taken) const {
  const Amounts& wanted = pass_.gang(g).min_resources;
  for (size_t r = 0; r < wanted.size(); ++r) {
    if (wanted[r] <= 0) continue;
    int resource = static_cast<int>(r);
    __int128 most = static_cast<__int128>(amount_at(pass_.tables.total(), resource)) * kOverNumerator;
    __int128 asked =
        static_cast<__int128>(amount_at(taken.held, resource)) + amount_at(taken.asked, resource) + wanted[r];
    if (asked * kOverDenominator > most) return resource;
  }
  return -1;
}

Taken Gate::in_the_way_of(int g) {
  Taken out = taken_;
  if (tries_ >= pass_.policy.preempt_tries_max) return out;
  ++tries_;
  add(out.held, preemption_.may_take(g, pass_.gang(g).min_resources), -1);
  for (int other : pass_.open) {
    if (pass_.queue_of(other) >= 0 && outranks(g, other)) add(out.asked, asked_by(other), -1);
  }
  return out;
}

bool Gate::is_reserved_for(int g) {
  bool first = !kept_room_ && (!first_waiting_ || goes_before(g, *first_waiting_));
  if (!first || pass_.out.reservation || pass_.timed_out(g)) return false;
  const Amounts& wanted = pass_.gang(g).min_resources;
  for (size_t r = 0; r < wanted.size(); ++r) {
    if (wanted[r] > amount_at(pass_.tables.total(), static_cast<int>(r))) return false;
  }
  if (pass_.waited(g) >= pass_.policy.reserve_after) return true;
  pass_.wake_at(pass_.gang(g).queued_at + pass_.policy.reserve_after);
  return false;
}

void Gate::refuse(int g, const Taken& taken, int resource) {
  int64_t wanted = amount_at(pass_.gang(g).min_resources, resource);
  int64_t total = amount_at(pass_.tables.total(), resource);
  const std::string& name = pass_.cluster.resources[static_cast<size_t>(resource)];
  if (wanted > total) {
    pass_.wait(
        g, WaitKind::kInfeasible, WaitCode::kTooLarge,
        fmt::format("needs {}; there are {} in all", amount_phrase(name, wanted), amount_text(name, total)));
    return;
  }
  refused_any_ = true;
  pass_.wait(g, WaitKind::kWaitFor, WaitCode::kNotAdmitted,
             fmt::format("needs {}; of the {} there are {} held, and gangs before it ask for {}",
                         amount_phrase(name, wanted), amount_text(name, total),
                         amount_text(name, amount_at(taken.held, resource)),
                         amount_text(name, amount_at(taken.asked, resource))));
}

void Gate::consider(int g) {
  const Gang& gang = pass_.gang(g);
  if (std::optional<Refusal> why = full_queue(g)) {
    pass_.wait(g, why->kind, why->code, std::move(why->text));
    return;
  }
  int resource = lacking(g, taken_);
  if (resource >= 0) {
    // Once one of its shape was refused, more is taken for the next, never less.
    Shape shape{pass_.queue_of(g), gang.class_priority, gang.may_preempt, gang.min_resources};
    Taken taken = in_vain_.contains(shape) ? taken_ : in_the_way_of(g);
    resource = lacking(g, taken);
    if (resource >= 0 && !is_reserved_for(g)) {
      in_vain_.insert(std::move(shape));
      refuse(g, taken, resource);
      return;
    }
  } else if (refused_any_ && !pass_.policy.backfill) {
    pass_.wait(g, WaitKind::kWaitFor, WaitCode::kBehindReserved, "waits behind a gang that does not fit yet");
    return;
  }
  kept_room_ = kept_room_ || resource >= 0;  // for one at a time
  pass_.out.admitted.push_back(gang.id);
  add(taken_.asked, gang.min_resources);
  add(by_queue_[static_cast<size_t>(pass_.queue_of(g))], gang.min_resources);
}

}  // namespace

void admit(Pass& pass) {
  Gate gate(pass);
  gate.line_up();
  while (std::optional<int> g = gate.next()) gate.consider(*g);
}

}  // namespace trainyard::sched
