// ExplainText: prints one job for a person. Writes to the console; otherwise pure.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/time.h"
#include "cli/console.h"
#include "cli/manifest.h"
#include "dialect/shared/dialect.h"
#include "model/observation.h"
#include "model/plan.h"

namespace trainyard::cli {

class ExplainText {
 public:
  // REQUIRES: all of them outlive this.
  ExplainText(const Console& console, const dialect::Dialect& dialect, const dialect::Settings& settings,
              const model::JobSpec& spec)
      : console_(console), dialect_(dialect), settings_(settings), spec_(spec) {}

  // What the manifest asks for.
  void manifest(const Object& object) const;
  // What would be done next and why; `status` is the one that the job has.
  void outlook(const json::object& status, const model::Observation& seen, const model::Plan& plan,
               Time now) const;

 private:
  std::string group_of_pods() const;
  // "sleep inf" for a role whose pods are there to look around in, else "".
  std::string debug_command(const model::Role& role) const;
  std::string kubectl_get() const;
  // Steps that would only be taken if what was not given were not there; what it is goes into `not_given`.
  bool is_guess(const model::Step& step, const model::Observation& seen,
                std::set<std::string>& not_given) const;
  void next_steps(const json::object& status, const model::Observation& seen, const model::Plan& plan,
                  Time now) const;
  void heading(std::string_view text) const;
  void line(std::string_view text) const;
  void roles() const;
  void pods() const;
  void tf_config() const;
  void around() const;
  void rules() const;

  const Console& console_;
  const dialect::Dialect& dialect_;
  const dialect::Settings& settings_;
  const model::JobSpec& spec_;
};

}  // namespace trainyard::cli
