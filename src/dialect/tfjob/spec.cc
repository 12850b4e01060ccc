#include "dialect/tfjob/spec.h"

namespace trainyard::dialect::tf {

std::string_view title_of(TfRole role) {
  switch (role) {
    case TfRole::kChief:
      return "Chief";
    case TfRole::kMaster:
      return "Master";
    case TfRole::kPs:
      return "PS";
    case TfRole::kWorker:
      return "Worker";
    case TfRole::kEvaluator:
      return "Evaluator";
  }
  return "";
}

std::string_view name_of(TfRole role) {
  switch (role) {
    case TfRole::kChief:
      return "chief";
    case TfRole::kMaster:
      return "master";
    case TfRole::kPs:
      return "ps";
    case TfRole::kWorker:
      return "worker";
    case TfRole::kEvaluator:
      return "evaluator";
  }
  return "";
}

const TfReplicas* TfJob::find(TfRole role) const {
  for (const TfReplicas& one : replicas) {
    if (one.role == role) return &one;
  }
  return nullptr;
}

int TfJob::total_replicas() const {
  int total = 0;
  for (const TfReplicas& one : replicas) total += one.replicas;
  return total;
}

}  // namespace trainyard::dialect::tf
