#include "sched/admit.h"

#include <fmt/format.h>

#include <algorithm>

namespace trainyard::sched {
namespace {

// What is let in may ask for 6/5 of what is there: some of it will end before it starts.
constexpr int64_t kOverNumerator = 6;
constexpr int64_t kOverDenominator = 5;

// What is held or asked for already, in all and by queue.
struct Spoken {
  Amounts all;
  std::vector<Amounts> by_queue;
};

Spoken spoken_for(const Pass& pass) {
  Spoken out;
  out.by_queue.resize(pass.cluster.queues.size());
  for (size_t q = 0; q < pass.cluster.queues.size(); ++q) {
    out.by_queue[q] = pass.book.held(Moment::kSoon, static_cast<int>(q));
    add(out.all, out.by_queue[q]);
  }
  for (const OtherPod& pod : pass.cluster.others) add(out.all, pass.tables.pod_class(pod.pod_class).requests);
  for (size_t g = 0; g < pass.gangs.size(); ++g) {
    int q = pass.queue_of(static_cast<int>(g));
    if (q < 0 || !pass.bound[g].empty()) continue;
    for (int m : pass.needs_of(static_cast<int>(g)).waiting) {
      const Amounts& wanted =
          pass.tables.pod_class(pass.gangs[g].members[static_cast<size_t>(m)].pod_class).requests;
      add(out.all, wanted);
      add(out.by_queue[static_cast<size_t>(q)], wanted);
    }
  }
  return out;
}

std::string why_not(const Pass& pass, const Spoken& spoken, int g) {
  const Amounts& wanted = pass.gang(g).min_resources;
  const Queue& queue = pass.book.queue(pass.queue_of(g));
  const Amounts& in_queue = spoken.by_queue[static_cast<size_t>(pass.queue_of(g))];
  for (size_t r = 0; r < wanted.size(); ++r) {
    if (wanted[r] <= 0) continue;
    int resource = static_cast<int>(r);
    const std::string& name = pass.cluster.resources[r];
    int64_t capacity = amount_at(queue.capacity, resource);
    int64_t held = amount_at(in_queue, resource);
    if (capacity > 0 && held + wanted[r] > capacity) {
      return fmt::format("needs {}, queue {} has {} of the {} it may hold spoken for",
                         amount_phrase(name, wanted[r]), queue.name, amount_text(name, held),
                         amount_text(name, capacity));
    }
    __int128 most = static_cast<__int128>(amount_at(pass.tables.total(), resource)) * kOverNumerator;
    __int128 asked = static_cast<__int128>(amount_at(spoken.all, resource)) + wanted[r];
    if (asked * kOverDenominator > most) {
      return fmt::format("needs {}, {} of the {} there are is spoken for", amount_phrase(name, wanted[r]),
                         amount_text(name, amount_at(spoken.all, resource)),
                         amount_text(name, amount_at(pass.tables.total(), resource)));
    }
  }
  return "";
}

}  // namespace

void admit(Pass& pass) {
  std::vector<int> asking;
  for (int g : pass.by_id) {
    if (pass.gang(g).asks_admission) asking.push_back(g);
  }
  if (asking.empty()) return;
  std::stable_sort(asking.begin(), asking.end(), [&](int a, int b) { return pass.goes_first(a, b); });
  Spoken spoken = spoken_for(pass);
  for (int g : asking) {
    int q = pass.queue_of(g);
    if (q < 0 || pass.book.turns_away(q, pass.gang(g).ns, false)) continue;  // told when it was considered
    std::string why = why_not(pass, spoken, g);
    if (!why.empty()) {
      pass.wait(g, WaitKind::kWaitFor, WaitCode::kNotAdmitted, std::move(why));
      continue;
    }
    pass.out.admitted.push_back(pass.gang(g).id);
    add(spoken.all, pass.gang(g).min_resources);
    add(spoken.by_queue[static_cast<size_t>(q)], pass.gang(g).min_resources);
  }
}

}  // namespace trainyard::sched
