// For tests: a small language for clusters and gangs, and decisions as text.
//
//   node n1 cpu=4 gpu=2 zone=a [cordoned] [down] [taint=key] [rather-not=key]
//   queue q weight=2 priority=1 cap.cpu=4 guarantee.cpu=2 deserved.cpu=3 closed kept ns=a on=zone:a
//   gang a min=2 queue=q class=100 priority=5 age=600 worker*2:cpu=1,gpu=1 ps@n1:cpu=1 ...
//   other n1 cpu=1
//   volume v1 size=10 [on=n1|n2]          one that somebody made
//   room r1 size=40 [on=n1|n2]            where volumes are made
//
// A member is role[*count][@node | ~node (leaving) | !node (evicted) | + (succeeded) | -
// (failed) | ? (gated)]:asks, and asks are cpu, mem, gpu, label=value of the node, tolerates=key,
// port=80, app=x, near=x/key, apart=x/key, likes=x/key, shuns=x/key, wishes=label:value, disk=n1|n2,
// claim=name~size (served by all volumes and rooms that are large enough, the volumes first). Gangs also
// know: ns=, role.min=2, spread=role, keeps, firm (not preemptible), meek (never preempts), timeout=60,
// runs=60, ends=60, same=key, rather-same=key, asks.cpu=4 (not let in yet), was-whole, broken=60. Times are
// seconds; ages before now, `ends` after.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "base/check.h"
#include "kube/access.h"
#include "sched/schedule.h"

namespace trainyard::sched::testing {

inline constexpr Time kNow{1'700'000'000'000};

inline json::object object(std::string_view text) { return json::parse(kube::jview(text)).as_object(); }

inline std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> out;
  std::stringstream in(text);
  for (std::string part; std::getline(in, part, by);) {
    if (!part.empty()) out.push_back(part);
  }
  return out;
}

struct Setting {
  std::string key;
  std::string value;
};
inline Setting setting(const std::string& text) {
  size_t at = text.find('=');
  return at == std::string::npos ? Setting{text, ""} : Setting{text.substr(0, at), text.substr(at + 1)};
}

inline kube::Requirement equals(const std::string& key, const std::string& value) {
  return {key, kube::SelectorOp::kEquals, {value}};
}

class World {
 public:
  explicit World(const std::string& text = "") {
    cluster.resources = {"cpu", "memory", "pods", "nvidia.com/gpu"};
    for (const std::string& line : split(text, '\n')) read(line);
    if (cluster.queues.empty()) cluster.queues.push_back({"default"});
  }

  Decisions run() const { return schedule(cluster, gangs, policy, now); }

  int node_index(const std::string& name) const {
    for (size_t i = 0; i < cluster.nodes.size(); ++i) {
      if (cluster.nodes[i].name == name) return static_cast<int>(i);
    }
    return -1;
  }
  Gang& gang(const std::string& id) {
    auto found = std::find_if(gangs.begin(), gangs.end(), [&](const Gang& gang) { return gang.id == id; });
    CHECK(found != gangs.end());
    return *found;
  }

  // As if everything decided had been done: evicted pods are gone and wait anew.
  void carry_out(const Decisions& decisions) {
    for (const Eviction& eviction : decisions.evictions) {
      Member& member = find(eviction.gang, eviction.uid);
      CHECK(member.state == MemberState::kPlaced);
      member.state = MemberState::kWaiting;
      member.node = -1;
    }
    for (const Binding& binding : decisions.bindings) {
      Member& member = find(binding.gang, binding.uid);
      CHECK(member.state == MemberState::kWaiting);
      member.state = MemberState::kPlaced;
      member.node = node_index(binding.node);
    }
  }

  Cluster cluster;
  std::vector<Gang> gangs;
  Policy policy;
  Time now = kNow;

 private:
  Member& find(const std::string& id, const std::string& uid) {
    for (Member& member : gang(id).members) {
      if (member.uid == uid) return member;
    }
    CHECK(false);
    return gang(id).members.front();
  }

  static int resource(const std::string& key) {
    if (key == "cpu") return kCpu;
    if (key == "mem") return kMemory;
    if (key == "pods") return kPodCount;
    return key == "gpu" ? 3 : -1;
  }
  static void put(Amounts& into, int resource, const std::string& value) {
    into.resize(4, 0);
    into[static_cast<size_t>(resource)] = std::stoll(value) * (resource == kCpu ? 1000 : 1);
  }

  void read(const std::string& line) {
    std::vector<std::string> words = split(line, ' ');
    if (words.empty()) return;
    std::vector<std::string> rest(words.begin() + 2, words.end());
    if (words[0] == "node") read_node(words[1], rest);
    if (words[0] == "queue") read_queue(words[1], rest);
    if (words[0] == "gang") read_gang(words[1], rest);
    if (words[0] == "volume" || words[0] == "room") read_source(words[0] == "volume" ? words[1] : "", rest);
    if (words[0] == "other") {
      cluster.others.push_back({node_index(words[1]), class_of("other", split(rest.front(), ','))});
    }
  }

  void read_node(const std::string& name, const std::vector<std::string>& words) {
    Node node;
    node.name = name;
    node.allocatable = {0, int64_t{1} << 40, 110, 0};
    for (const std::string& word : words) {
      auto [key, value] = setting(word);
      if (key == "cordoned") {
        node.cordoned = true;
      } else if (key == "down") {
        node.ready = false;
      } else if (key == "taint" || key == "rather-not") {
        node.taints.push_back(
            {value, "", key == "taint" ? TaintEffect::kNoSchedule : TaintEffect::kPreferNoSchedule});
      } else if (resource(key) >= 0) {
        put(node.allocatable, resource(key), value);
      } else {
        node.labels[key] = value;
      }
    }
    cluster.nodes.push_back(std::move(node));
  }

  void read_source(const std::string& name, const std::vector<std::string>& words) {
    VolumeSource source{name, std::nullopt, 0};
    for (const std::string& word : words) {
      auto [key, value] = setting(word);
      if (key == "size") source.room = std::stoll(value);
      if (key != "on") continue;
      source.nodes.emplace();
      for (const std::string& node : split(value, '|')) source.nodes->push_back(node_index(node));
    }
    cluster.sources.push_back(std::move(source));
  }

  // "data~10".
  int claim_of(const std::string& text) {
    std::vector<std::string> parts = split(text, '~');
    Claim claim{"default/" + parts[0], "c", std::stoll(parts[1]), {}};
    for (size_t s = 0; s < cluster.sources.size(); ++s) {
      if (cluster.sources[s].room >= claim.size) claim.sources.push_back(static_cast<int>(s));
    }
    std::stable_sort(claim.sources.begin(), claim.sources.end(), [&](int a, int b) {
      auto rank = [&](int s) {
        const VolumeSource& source = cluster.sources[static_cast<size_t>(s)];
        return std::tuple(source.volume.empty(), source.room, source.volume);
      };
      return rank(a) < rank(b);
    });
    auto found = std::find(cluster.claims.begin(), cluster.claims.end(), claim);
    if (found == cluster.claims.end()) found = cluster.claims.insert(found, claim);
    return static_cast<int>(found - cluster.claims.begin());
  }

  void read_queue(const std::string& name, const std::vector<std::string>& words) {
    Queue queue{name};
    for (const std::string& word : words) {
      auto [key, value] = setting(word);
      std::vector<std::string> dotted = split(key, '.');
      if (dotted.size() == 2) {
        Amounts& into = dotted[0] == "cap"         ? queue.capacity
                        : dotted[0] == "guarantee" ? queue.guarantee
                                                   : queue.deserved;
        put(into, resource(dotted[1]), value);
      } else if (key == "weight") {
        queue.weight = std::stoi(value);
      } else if (key == "priority") {
        queue.priority = std::stoi(value);
      } else if (key == "closed") {
        queue.closed = true;
      } else if (key == "kept") {
        queue.preemptible = false;
      } else if (key == "ns") {
        queue.namespaces = split(value, ',');
      } else if (key == "on") {
        std::vector<std::string> pair = split(value, ':');
        queue.node_selector.push_back(equals(pair[0], pair[1]));
      } else {
        CHECK(false);
      }
    }
    cluster.queues.push_back(std::move(queue));
  }

  static int role_of(Gang& gang, const std::string& name) {
    for (size_t i = 0; i < gang.roles.size(); ++i) {
      if (gang.roles[i].name == name) return static_cast<int>(i);
    }
    gang.roles.push_back({name});
    return static_cast<int>(gang.roles.size()) - 1;
  }

  void read_gang(const std::string& id, const std::vector<std::string>& words) {
    Gang gang;
    gang.id = id;
    gang.ns = "default";
    gang.name = id;
    gang.queue = "default";
    gang.min_member = -1;
    gang.queued_at = now;
    for (const std::string& word : words) {
      if (word.find(':') != std::string::npos && !word.starts_with("same=")) {
        read_members(gang, word);
      } else {
        read_setting(gang, setting(word));
      }
    }
    if (gang.min_member < 0) gang.min_member = static_cast<int>(gang.members.size());
    if (gang.roles.empty()) gang.roles.push_back({"worker"});
    gangs.push_back(std::move(gang));
  }

  void read_setting(Gang& gang, const Setting& one) {
    const auto& [key, value] = one;
    auto span = [&one] { return seconds(std::stoll(one.value)); };
    std::vector<std::string> dotted = split(key, '.');
    if (key == "min") gang.min_member = std::stoi(value);
    if (key == "ns") gang.ns = value;
    if (key == "queue") gang.queue = value;
    if (key == "class") gang.class_priority = std::stoi(value);
    if (key == "priority") gang.job_priority = std::stoi(value);
    if (key == "age") gang.queued_at = now - span();
    if (key == "spread")
      gang.roles[static_cast<size_t>(role_of(gang, value))].arrangement = Arrangement::kSpread;
    if (key == "firm") gang.preemptible = false;
    if (key == "meek") gang.may_preempt = false;
    if (key == "timeout") gang.schedule_timeout = span();
    if (key == "runs") gang.runs_at_most = span();
    if (key == "ends") gang.ends_at = now + span();
    if (key == "same" || key == "rather-same") {
      gang.domain_key = value;
      gang.domain_required = key == "same";
    }
    if (key == "was-whole") gang.whole_once = true;
    if (key == "broken") gang.broken_since = now - span();
    if (dotted.size() == 2 && dotted[1] == "min") {
      gang.roles[static_cast<size_t>(role_of(gang, dotted[0]))].min = std::stoi(value);
    }
    if (dotted.size() == 2 && dotted[0] == "asks") {
      gang.asks_admission = true;
      put(gang.min_resources, resource(dotted[1]), value);
    }
  }

  void read_members(Gang& gang, const std::string& word) {
    std::string head = word.substr(0, word.find(':'));
    int pod_class = class_of(gang.ns, split(word.substr(word.find(':') + 1), ','));
    Member member;
    member.pod_class = pod_class;
    if (size_t at = head.find_first_of("@~!+-?"); at != std::string::npos) {
      char mark = head[at];
      std::string node = head.substr(at + 1);
      head.resize(at);
      if (mark == '@') member.state = MemberState::kPlaced;
      if (mark == '~' || mark == '!') member.state = MemberState::kLeaving;
      if (mark == '+') member.state = MemberState::kSucceeded;
      if (mark == '-') member.state = MemberState::kFailed;
      if (mark == '?') member.state = MemberState::kGated;
      member.evicted = mark == '!';
      if (!node.empty()) member.node = node_index(node);
    }
    int count = 1;
    if (size_t at = head.find('*'); at != std::string::npos) {
      count = std::stoi(head.substr(at + 1));
      head.resize(at);
    }
    member.role = role_of(gang, head);
    for (int i = 0; i < count; ++i) {
      auto same_role = std::count_if(gang.members.begin(), gang.members.end(),
                                     [&](const Member& other) { return other.role == member.role; });
      member.name = fmt::format("{}-{}", head, same_role);
      member.uid = gang.id + "/" + member.name;
      gang.members.push_back(member);
    }
  }

  int term_of(const std::string& text) {
    size_t slash = text.find('/');
    PodTerm term{{equals("app", text.substr(0, slash))}, std::nullopt, text.substr(slash + 1)};
    auto found = std::find(cluster.pod_terms.begin(), cluster.pod_terms.end(), term);
    if (found == cluster.pod_terms.end()) found = cluster.pod_terms.insert(found, term);
    return static_cast<int>(found - cluster.pod_terms.begin());
  }

  int class_of(const std::string& ns, const std::vector<std::string>& asks) {
    PodClass pod;
    NodeRule rule;
    pod.ns = ns;
    pod.requests = {0, 0, 1, 0};
    for (const std::string& ask : asks) {
      auto [key, value] = setting(ask);
      if (resource(key) >= 0) {
        put(pod.requests, resource(key), value);
      } else if (key == "tolerates") {
        rule.tolerations.push_back({value, true, "", std::nullopt});
      } else if (key == "port") {
        pod.ports.push_back({"", "TCP", std::stoi(value)});
      } else if (key == "app") {
        pod.labels["app"] = value;
      } else if (key == "near") {
        pod.near.push_back(term_of(value));
      } else if (key == "apart") {
        pod.apart.push_back(term_of(value));
      } else if (key == "likes" || key == "shuns") {
        pod.preferred.push_back({key == "likes" ? 10 : -10, term_of(value)});
      } else if (key == "wishes") {
        std::vector<std::string> pair = split(value, '~');
        rule.preferred.push_back({10, {{equals(pair[0], pair[1])}, {}}});
      } else if (key == "needs") {  // zone~a|b
        std::vector<std::string> pair = split(value, '~');
        rule.required.push_back({{{pair[0], kube::SelectorOp::kIn, split(pair[1], '|')}}, {}});
      } else if (key == "disk") {
        rule.allowed = split(value, '|');
      } else if (key == "claim") {
        pod.claims.push_back(claim_of(value));
      } else {
        rule.selector[key] = value;
      }
    }
    auto same_rule = std::find(cluster.node_rules.begin(), cluster.node_rules.end(), rule);
    if (same_rule == cluster.node_rules.end()) same_rule = cluster.node_rules.insert(same_rule, rule);
    pod.node_rule = static_cast<int>(same_rule - cluster.node_rules.begin());
    auto same = std::find(cluster.classes.begin(), cluster.classes.end(), pod);
    if (same == cluster.classes.end()) same = cluster.classes.insert(same, pod);
    return static_cast<int>(same - cluster.classes.begin());
  }
};

inline std::string_view name_of(WaitCode code) {
  switch (code) {
    case WaitCode::kMembersMissing:
      return "MembersMissing";
    case WaitCode::kNoGroup:
      return "NoGroup";
    case WaitCode::kNoQueue:
      return "NoQueue";
    case WaitCode::kQueueClosed:
      return "QueueClosed";
    case WaitCode::kNamespace:
      return "Namespace";
    case WaitCode::kQueueFull:
      return "QueueFull";
    case WaitCode::kGuaranteed:
      return "Guaranteed";
    case WaitCode::kNoNode:
      return "NoNode";
    case WaitCode::kTooLarge:
      return "TooLarge";
    case WaitCode::kResources:
      return "Resources";
    case WaitCode::kLeaving:
      return "Leaving";
    case WaitCode::kBehindReserved:
      return "BehindReserved";
    case WaitCode::kOwnMembers:
      return "OwnMembers";
    case WaitCode::kExtraMembers:
      return "ExtraMembers";
    case WaitCode::kNotAdmitted:
      return "NotAdmitted";
    case WaitCode::kClaims:
      return "Claims";
  }
  return "";
}

// "a/worker-0=n1 a/worker-1=n1; evict b/worker-0; wait c Resources; never d NoNode; reserve c".
inline std::string summary(const Decisions& decisions) {
  std::vector<std::string> parts;
  std::string bound;
  for (const Binding& one : decisions.bindings)
    bound += (bound.empty() ? "" : " ") + one.uid + "=" + one.node;
  if (!bound.empty()) parts.push_back(bound);
  for (const VolumeBinding& one : decisions.volumes)
    parts.push_back(fmt::format("{}={}", one.claim.substr(one.claim.find('/') + 1), one.volume));
  for (const std::string& id : decisions.admitted) parts.push_back("admit " + id);
  for (const Eviction& one : decisions.evictions) {
    constexpr const char* kWords[] = {"preempt", "reclaim", "release", "finish"};
    parts.push_back(fmt::format("{} {}", kWords[static_cast<int>(one.cause)], one.uid));
  }
  for (const Waiting& one : decisions.waiting) {
    parts.push_back(fmt::format("{} {} {}", one.kind == WaitKind::kInfeasible ? "never" : "wait", one.gang,
                                name_of(one.code)));
  }
  if (decisions.reservation) parts.push_back("reserve " + decisions.reservation->gang);
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : "; ") + part;
  return out;
}

inline std::string outcome(const std::string& world) { return summary(World(world).run()); }

inline std::string reason(const World& world, const std::string& id) {
  for (const Waiting& one : world.run().waiting) {
    if (one.gang == id) return one.text;
  }
  return "";
}

}  // namespace trainyard::sched::testing
