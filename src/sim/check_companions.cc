// Checkers about what stands around a job: Secrets that its pods log in with, and its
// TensorBoard (invariants 1, 2, 11, 15).
#include <fmt/format.h>

#include "kube/access.h"
#include "kube/same.h"
#include "sim/checkers.h"

namespace trainyard::sim {

namespace {

bool same_data(const json::object& a, const json::object& b) {
  const json::object* left = kube::object_at(a, {"data"});
  const json::object* right = kube::object_at(b, {"data"});
  return left == nullptr || right == nullptr ? left == right : kube::same(*left, *right);
}

}  // namespace

// Pods that run hold the keys they were started with: new ones in their place lock the
// later ones out.
void Checkers::secret_changed(const Change& change) {
  if (change.author.hand != Hand::kOperator || !change.before || !change.after) return;
  if (same_data(*change.before, *change.after)) return;
  violate(11, "keys-stay", fmt::format("the keys in {} were changed", kube::name_of(*change.after)));
}

void Checkers::board_changed(const Change& change) {
  if (change.author.hand != Hand::kOperator) return;
  // It shows what is left of a job that has ended, so only the job's going takes it along.
  if (!change.after) {
    violate(11, "board-stays", fmt::format("an operator deleted {}", kube::name_of(*change.before)));
    return;
  }
  if (change.before) return;
  const JobHistory* job = job_of(std::string(kube::controller_uid_of(*change.after)));
  if (job == nullptr) {
    violate(2, "no-board-without-job", fmt::format("{} has no job", kube::name_of(*change.after)));
  } else if (!job->wish.board && job->spec_changed <= sight_of(change.author.process_id).revision) {
    violate(1, "board-was-asked-for", fmt::format("{} did not ask for a TensorBoard", job->name));
  }
}

void Checkers::companions_at_rest(const JobHistory& job) {
  // Exactly one of its own; none is enough where an earlier job of its name left one behind.
  auto check = [&](const kube::Resource& resource, const char* rule, const char* what) {
    int own = 0;
    int left = 0;
    auto all = cluster_.store().list(resource, "");
    CHECK(all.ok());
    for (const store::Object& object : all->items) {
      const std::string_view owner = kube::controller_uid_of(*object);
      if (owner == job.uid) ++own;
      if (owner.empty() && kube::name_of(*object).starts_with(job.name)) ++left;
    }
    if (own == 1 || (own == 0 && left > 0)) return;
    violate(15, rule, fmt::format("{} has {} {} of its own", job.name, own, what));
  };
  if (job.wish.board) check(kube::kTensorBoards, "board-is-there", "TensorBoards");
  if (job.wish.keys) check(kube::kSecrets, "keys-are-there", "Secrets with keys");
}

}  // namespace trainyard::sim
