// OperatorReport: what an operator tells of its work, as log lines, metrics and the answer to
// "are you ready?". Resource: told things on the operator's thread, asked on any.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "cli/operator_http.h"
#include "cli/operator_log.h"
#include "control/metrics.h"
#include "control/observer.h"
#include "dialect/shared/dialect.h"

namespace trainyard::cli {

class OperatorReport final : public control::Observer {
 public:
  // Everything outlives it.
  OperatorReport(Log& log, control::OperatorMetrics& metrics, std::vector<dialect::Dialect> dialects,
                 int streams);

  void passed(const control::JobKey& key, const control::Pass& pass, Duration queued, Duration took) override;
  void leads(bool leads) override;
  void lease_trouble(const std::optional<Error>& why) override;
  void stream_is(int stream, const client::Stream& what, const control::StreamHealth& health) override;
  void shown(Duration lag) override;

  // 200 when every stream is followed (a kind that the server does not know is waited for and
  // named), 503 with the reasons when one is not.
  Page ready() const;

 private:
  struct Known {
    std::string name;  // "tfjobs.kubeflow.org in all namespaces"
    control::StreamHealth health;
    bool jobs = false;
  };
  void log_transition(const control::JobKey& key, const control::Pass& pass);

  Log& log_;
  control::OperatorMetrics& metrics_;
  std::vector<dialect::Dialect> dialects_;
  std::map<control::JobKey, std::string> last_error_;  // told; not told again while it is the same
  mutable std::mutex mutex_;
  std::vector<Known> streams_;
  bool leads_ = false;
  std::string lease_trouble_;
};

}  // namespace trainyard::cli
