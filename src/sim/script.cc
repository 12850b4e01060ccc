#include "sim/script.h"

#include <charconv>

#include "base/check.h"

namespace trainyard::sim {

namespace {

constexpr std::string_view kYardLine = "yard ";

std::string_view take_until(std::string_view& text, char end) {
  const size_t at = std::min(text.find(end), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return taken;
}

int64_t script_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  CHECK(error == std::errc{});
  CHECK(end == text.data() + text.size());
  return value;
}

constexpr Scenario kCrowded[] = {
    // The room for the rest of a gang goes while the scheduler is away, in the middle of binding it.
    {"gang-in-part", "yard 1 1\ntfjob train worker=2 gang cpu=1\n5 cordon node-1\n"},
    {"t9k-gang-in-part", "yard 1 1 1\nt9k train ps=1 worker=2 gang cpu=1\n5 cordon node-2\n"},
    {"volcano-gang-in-part", "yard 1 1\nvolcano train ps=1 worker=1 cpu=1\n5 cordon node-1\n"},
    // A manifest that asks for a larger gang than its job has pods, until somebody mends it.
    {"gang-too-large",
     "yard 2 2\ntfjob train worker=2 gang cpu=1 min-available=3\n40 apply tfjob train worker=2 gang cpu=1\n"
     "80 exit worker-0 0\n"},
    // Workers that want the same port of their nodes: there is room for both on one, and they need two.
    {"gang-with-host-ports", "yard 4 4\ntfjob train worker=2 gang cpu=1 host-ports\n60 exit worker-0 0\n"},
    // One gang is made to leave for another, and the scheduler is struck between two evictions.
    {"gang-makes-room",
     "yard 1 1\ntfjob train worker=2 gang cpu=1\n"
     "20 also tfjob urgent worker=2 gang cpu=1 priority=high\n60 exit urgent-worker-0 0\n"},
    // ... and for whom it was is gone when the scheduler is back, while one that was made to leave hangs.
    {"gang-makes-room-for-nobody",
     "yard 1 1\ntfjob train worker=2 gang cpu=1\n15 hang train-worker-0\n"
     "20 also tfjob rush worker=2 gang cpu=1 priority=high\n25 not tfjob rush worker=2\n60 delete\n"},
    // ... or the scheduler is struck when it has said that a pod will go, and the pod stays and later
    // fails.
    {"gang-is-told-to-go-and-stays",
     "yard 1 1\ntfjob train worker=2 gang cpu=1 restart=ExitCode backoff=3\n"
     "20 also tfjob rush worker=2 gang cpu=1 priority=high\n25 not tfjob rush worker=2\n"
     "60 exit train-worker-0 137\n90 delete\n"},
    // The scheduler is not told that what it bound is bound, when there is room for one that goes before it
    // and
    // wants the same node.
    {"gang-is-bound-and-not-seen",
     "yard 2 2\nt9k large worker=2 gang cpu=2\n0 cordon node-0\n0 cordon node-1\n"
     "5 also t9k small worker=2 gang cpu=1\n10 freeze 30\n12 uncordon node-0\n"
     "20 uncordon node-1\n60 not t9k small worker=2\n90 exit worker-0 0\n"},
};

std::vector<Scenario> and_crowded(std::vector<Scenario> all) {
  all.insert(all.end(), std::begin(kCrowded), std::end(kCrowded));
  return all;
}

}  // namespace

Script parse_script(std::string_view text) {
  Script script;
  bool first = true;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (line.empty()) continue;
    if (line.starts_with(kYardLine)) {
      line.remove_prefix(kYardLine.size());
      while (!line.empty()) script.yard.push_back(static_cast<int>(script_number(take_until(line, ' '))));
      continue;
    }
    if (first) {
      script.job = parse_blueprint(line);
      first = false;
      continue;
    }
    const std::string_view when = take_until(line, ' ');
    const std::string_view deed = take_until(line, ' ');
    CHECK(!deed.empty());
    script.lines.push_back({seconds(script_number(when)), std::string(deed), std::string(line)});
  }
  CHECK(!first);
  return script;
}

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all = and_crowded({
      {"create", "tfjob train ps=1 worker=2\n"},
      {"complete", "tfjob train chief=1 worker=2 clean=All\n20 exit worker-1 0\n40 exit chief-0 0\n"},
      {"fail", "tfjob train worker=2 restart=Never clean=Running\n20 exit worker-1 1\n"},
      {"restart",
       "tfjob train worker=2 restart=ExitCode backoff=3\n20 exit worker-0 137\n40 exit worker-1 143\n"
       "60 exit worker-0 0\n"},
      {"budget",
       "tfjob train worker=1 restart=ExitCode backoff=1\n20 exit worker-0 137\n50 exit worker-0 137\n"},
      {"in-place",
       "tfjob train worker=2 restart=OnFailure backoff=3\n20 exit worker-0 1\n40 exit worker-0 0\n"},
      {"job-scope",
       "tfjob train ps=1 worker=2 restart=ExitCode scope=job backoff=2\n20 exit worker-1 137\n"
       "60 exit worker-0 0\n"},
      {"role-scope", "tfjob train ps=1 worker=2 restart=ExitCode scope=role\n20 exit worker-1 137\n"},
      {"evict", "tfjob train worker=2 restart=ExitCode backoff=0\n20 evict worker-1\n60 exit worker-0 0\n"},
      {"pod-deleted",
       "tfjob train worker=2 restart=Never\n20 delete-pod worker-1\n60 delete-service worker-0\n"},
      {"scale",
       "tfjob train worker=1 dynamic\n20 apply tfjob train worker=3 dynamic\n"
       "50 apply tfjob train worker=2 dynamic\n"},
      {"suspend",
       "tfjob train worker=2\n20 apply tfjob train worker=2 suspended\n50 apply tfjob train worker=2\n"
       "80 exit worker-0 0\n"},
      {"invalid-edit",
       "tfjob train worker=2\n20 apply tfjob train worker=2 invalid\n30 exit worker-1 1\n"
       "50 apply tfjob train worker=2\n80 exit worker-0 0\n"},
      {"t9k-invalid-edit", "t9k train worker=2\n20 apply t9k train worker=2 invalid\n"},
      {"volcano-invalid-edit", "volcano train worker=2\n20 apply volcano train worker=2 invalid\n"},
      {"delete", "tfjob train worker=2 hold\n20 delete\n"},
      {"recreate", "tfjob train worker=2\n20 delete\n21 create\n"},
      {"ttl", "tfjob train worker=1 ttl=30 clean=None\n20 exit worker-0 0\n"},
      {"deadline", "tfjob train worker=2 deadline=40\n"},
      {"t9k-complete", "t9k train chief=1 worker=1 clean=Unfinished\n20 exit chief-0 0\n"},
      {"t9k-restart",
       "t9k train worker=2 restart=OnFailure backoff=2 clean=All\n20 exit worker-1 1\n"
       "40 exit worker-0 2\n60 exit worker-0 0\n"},
      {"t9k-pause",
       "t9k train worker=2 gang\n20 apply t9k train worker=2 gang suspended\n"
       "50 apply t9k train worker=2 gang\n"},
      {"t9k-deadline", "t9k train worker=1 ps=1 deadline=30\n"},
      {"volcano-complete",
       "volcano train ps=1 worker=2 policies=TaskCompleted:CompleteJob\n20 exit worker-0 0\n"
       "30 exit worker-1 0\n"},
      {"volcano-restart",
       "volcano train ps=1 worker=2 policies=PodFailed:RestartJob backoff=3\n"
       "20 exit worker-0 1\n"},
      {"volcano-task", "volcano train ps=1 worker=2 policies=PodEvicted:RestartTask\n20 evict worker-1\n"},
      {"volcano-abort",
       "volcano train worker=2\n20 command AbortJob\n50 command ResumeJob\n80 exit worker-0 0\n"
       "90 exit worker-1 0\n"},
      {"orphan", "tfjob train worker=2\n20 orphan\n"},
      {"orphan-held", "tfjob train worker=2 hold\n20 orphan\n"},
      {"orphan-recreate", "tfjob train worker=2\n20 orphan\n25 create\n60 exit worker-0 0\n"},
      {"quota", "tfjob train ps=1 worker=2\n0 quota 1\n30 no-quota\n"},
      {"t9k-board", "t9k train worker=1 board clean=All\n20 exit worker-0 0\n"},
      {"volcano-keys",
       "volcano train worker=2 keys policies=PodFailed:RestartJob backoff=3\n20 exit worker-0 1\n"},
      {"volcano-terminate", "volcano train worker=2 ttl=20\n20 command TerminateJob\n"},
  });
  return all;
}

}  // namespace trainyard::sim
