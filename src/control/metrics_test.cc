#include "control/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/fake_dialect.h"

namespace trainyard::control {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Metrics, TextAsPrometheusReadsIt) {
  Metrics metrics;
  metrics.declare("b_total", MetricKind::kCounter, "Counts.");
  metrics.declare("a_seconds", MetricKind::kHistogram, "Measures.");
  metrics.add("b_total", {{"kind", "TF\"Job"}}, 2);
  metrics.add("b_total", {{"kind", "TF\"Job"}});
  metrics.observe("a_seconds", {}, Duration{3});
  metrics.observe("a_seconds", {}, Duration{700'000});
  std::string text = metrics.text();
  EXPECT_THAT(text,
              HasSubstr("# HELP b_total Counts.\n# TYPE b_total counter\nb_total{kind=\"TF\\\"Job\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("a_seconds_bucket{le=\"0.002\"} 0\na_seconds_bucket{le=\"0.005\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("a_seconds_bucket{le=\"600\"} 1\na_seconds_bucket{le=\"+Inf\"} 2\n"
                              "a_seconds_sum 700.003\na_seconds_count 2\n"));
  EXPECT_LT(text.find("a_seconds"), text.find("b_total"));
}

Pass pass_in(model::Phase phase, Transition transition = {}) {
  Pass pass;
  pass.state.emplace();
  pass.state->phase = phase;
  if (phase == model::Phase::kFinished) pass.state->result = model::ResultKind::kSucceeded;
  pass.transition = transition;
  return pass;
}

TEST(Metrics, JobsAreInOneStateEach) {
  OperatorMetrics metrics;
  dialect::Dialect dialect = testing::toy();
  dialect.name = "tfjob";
  JobKey key{0, "ns", "j"};
  Transition created;
  created.created = 1;
  metrics.passed(dialect, key, pass_in(model::Phase::kStarting, created), Duration{1}, Duration{2});
  metrics.passed(dialect, {0, "ns", "k"}, pass_in(model::Phase::kStarting), Duration{1}, Duration{2});
  Transition succeeded;
  succeeded.succeeded = 1;
  metrics.passed(dialect, key, pass_in(model::Phase::kFinished, succeeded), Duration{1}, Duration{2});
  std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("namespace=\"ns\",state=\"starting\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("namespace=\"ns\",state=\"succeeded\"} 1\n"));
  std::string theirs = "{job_namespace=\"ns\",framework=\"tensorflow\"} 1\n";
  EXPECT_THAT(text, HasSubstr("training_operator_jobs_created_total" + theirs));
  EXPECT_THAT(text, HasSubstr("training_operator_jobs_successful_total" + theirs));
  EXPECT_THAT(text, Not(HasSubstr("training_operator_jobs_deleted_total" + theirs)));
  Pass gone;
  gone.job_gone = true;
  metrics.passed(dialect, key, gone, Duration{0}, Duration{0});
  metrics.passed(dialect, key, gone, Duration{0}, Duration{0});
  text = metrics.text();
  EXPECT_THAT(text, HasSubstr("namespace=\"ns\",state=\"succeeded\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("training_operator_jobs_deleted_total" + theirs));
}

// Another leads now and counts the same jobs.
TEST(Metrics, WhoNoLongerLeadsTellsOfNoJobs) {
  OperatorMetrics metrics;
  dialect::Dialect dialect = testing::toy();
  JobKey key{0, "ns", "j"};
  metrics.leads(true);
  metrics.passed(dialect, key, pass_in(model::Phase::kRunning), Duration{1}, Duration{2});
  EXPECT_THAT(metrics.text(), HasSubstr("state=\"running\"} 1\n"));
  metrics.leads(false);
  EXPECT_THAT(metrics.text(), Not(HasSubstr("state=\"running\"}")));
  metrics.leads(true);
  metrics.passed(dialect, key, pass_in(model::Phase::kFinished), Duration{1}, Duration{2});
  EXPECT_THAT(metrics.text(), HasSubstr("state=\"succeeded\"} 1\n"));
  EXPECT_THAT(metrics.text(), Not(HasSubstr("state=\"running\"}")));
}

}  // namespace
}  // namespace trainyard::control
