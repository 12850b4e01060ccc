#include "sched/reasons.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/hash.h"
#include "sched/asked.h"
#include "sched/fit.h"
#include "sched/neighbours.h"

namespace trainyard::sched {
namespace {

constexpr size_t kNamedHoldersMax = 3;
constexpr size_t kNamedUnfitMax = 4;
constexpr const char* kNotBesideVolumes =
    "there are volumes for its claims, but not on nodes that have room for all of its pods";

// Needed members that may be on the same nodes.
struct Bundle {
  int some_class = 0;
  int pods = 0;
  Amounts wanted;
};

std::vector<Bundle> bundles_of(const Pass& pass, int g) {
  std::vector<Bundle> out;
  std::map<int, size_t> by_rule;  // by first appearance
  for (int m : needed_members(pass.gang(g), pass.needs_of(g))) {
    int pod_class = pass.gang(g).members[static_cast<size_t>(m)].pod_class;
    auto [at, fresh] = by_rule.try_emplace(pass.tables.pod_class(pod_class).node_rule, out.size());
    if (fresh) out.push_back({pod_class, 0, {}});
    ++out[at->second].pods;
    add(out[at->second].wanted, pass.tables.pod_class(pod_class).requests);
  }
  return out;
}

int64_t sum_over(const std::vector<int>& nodes, int resource, auto&& amount_of) {
  int64_t sum = 0;
  for (int n : nodes) sum = plus(sum, std::max<int64_t>(0, amount_of(n, resource)));
  return sum;
}

struct Short {
  Bundle bundle;
  int resource = 0;
  int64_t wanted = 0;
  int64_t free = 0;
};

// The resource that is lacking most, by what is wanted over what there is.
std::optional<Short> find_short(Pass& pass, int g, auto&& amount_of) {
  std::optional<Short> worst;
  for (const Bundle& bundle : bundles_of(pass, g)) {
    std::vector<int> nodes = nodes_of(pass, g, bundle.some_class);
    for (size_t r = 0; r < bundle.wanted.size(); ++r) {
      if (bundle.wanted[r] <= 0) continue;
      int64_t free = sum_over(nodes, static_cast<int>(r), amount_of);
      if (bundle.wanted[r] <= free) continue;
      bool worse = !worst || less({worst->wanted, worst->free, 1}, {bundle.wanted[r], free, 1});
      if (worse) worst = Short{bundle, static_cast<int>(r), bundle.wanted[r], free};
    }
  }
  return worst;
}

// ", 1 frees when default/x ends, 2 when default/y ends at ...".
std::string holders_text(Pass& pass, int g, const Short& lack) {
  std::vector<int> nodes = nodes_of(pass, g, lack.bundle.some_class);
  std::set<int> there(nodes.begin(), nodes.end());
  struct Holder {
    int gang;
    int64_t amount;
  };
  std::vector<Holder> holders;
  bool everywhere = there.size() == static_cast<size_t>(pass.tables.nodes());
  for (int other : pass.by_id) {
    if (other == g || pass.pods_held(other) == 0) continue;
    int64_t amount = 0;
    for (const Member& member : pass.gang(other).members) {
      if (member.state != MemberState::kPlaced || member.node < 0) continue;
      if (!everywhere && !there.contains(pass.tables.rank_of(member.node))) continue;
      amount += amount_at(pass.tables.pod_class(member.pod_class).requests, lack.resource);
    }
    if (amount > 0) holders.push_back({other, amount});
  }
  std::stable_sort(holders.begin(), holders.end(), [&](const Holder& a, const Holder& b) {
    Time x = pass.gang(a.gang).ends_at.value_or(Time{INT64_MAX});
    Time y = pass.gang(b.gang).ends_at.value_or(Time{INT64_MAX});
    return std::tuple(x, -a.amount) < std::tuple(y, -b.amount);
  });
  const std::string& name = pass.cluster.resources[static_cast<size_t>(lack.resource)];
  std::string text;
  int64_t missing = lack.wanted - lack.free;
  for (size_t i = 0; i < holders.size() && missing > 0 && i < kNamedHoldersMax; ++i) {
    const Gang& other = pass.gang(holders[i].gang);
    text += fmt::format(", {}{} when {}/{} ends", amount_text(name, holders[i].amount),
                        i == 0 ? " frees" : "", other.ns, other.name);
    if (other.ends_at) text += " at " + format_rfc3339(*other.ends_at);
    missing -= holders[i].amount;
  }
  if (holders.empty()) text += ", the rest is held by pods of others";
  return text;
}

// "4 pods of 2 cpu, 1 x nvidia.com/gpu".
std::string pods_phrase(const Pass& pass, int pods, int pod_class) {
  std::string each;
  for (const Need& need : pass.tables.needs(pod_class)) {
    if (need.resource == kPodCount) continue;
    if (!each.empty()) each += ", ";
    each += amount_phrase(pass.cluster.resources[static_cast<size_t>(need.resource)], need.amount);
  }
  return pods_text(pods) + (each.empty() ? "" : " of ") + each;
}

// Of a gang that must be in one domain; "" of any other.
std::string domain_text(const Pass& pass, int g) {
  const Gang& gang = pass.gang(g);
  if (gang.domain_key.empty() || !gang.domain_required) return "";
  return fmt::format("needs {} pods with the same {}; no one of them has room for all",
                     pass.needs_of(g).total, gang.domain_key);
}

bool wants_volumes(const Pass& pass, int g) {
  std::vector<int> needed = needed_members(pass.gang(g), pass.needs_of(g));
  return std::any_of(needed.begin(), needed.end(), [&](int m) {
    const Member& member = pass.gang(g).members[static_cast<size_t>(m)];
    return !pass.tables.pod_class(member.pod_class).claims.empty();
  });
}

// Enough in all, but in pieces.
std::string fragments_text(Pass& pass, int g, bool in_detail) {
  for (const Bundle& bundle : bundles_of(pass, g)) {
    int64_t room = 0;
    for (int n : nodes_of(pass, g, bundle.some_class)) room += pass.state.room_for(n, bundle.some_class);
    if (room >= bundle.pods) continue;
    return fmt::format("needs {}{}; enough is free in all, but in pieces: {} of them fit{}",
                       pods_phrase(pass, bundle.pods, bundle.some_class),
                       on_nodes(pass, g, bundle.some_class), room, room == 1 ? "s" : "");
  }
  if (std::string words = domain_text(pass, g); !words.empty()) return words;
  if (std::string words = neighbours_text(pass, g, in_detail); !words.empty()) return words;
  if (wants_volumes(pass, g)) return kNotBesideVolumes;
  return fmt::format("needs {} at once; each fits, but not all together", pods_text(pass.needs_of(g).total));
}

// "1 cordoned, 2 with taint a:NoSchedule, which it does not tolerate", the first few of them.
using UnfitCounts = std::map<std::pair<Unfit, std::string>, size_t>;
std::string counts_text(const UnfitCounts& counts) {
  std::string text;
  size_t named = 0;
  size_t unnamed = 0;
  for (const auto& [why, count] : counts) {
    if (++named > kNamedUnfitMax) {
      unnamed += count;
    } else {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, why.second);
    }
  }
  if (unnamed > 0) text += fmt::format(", {} for other reasons", unnamed);
  return text;
}

const NodeRule& node_rule_of(const Pass& pass, int pod_class) {
  return pass.cluster.node_rules[static_cast<size_t>(pass.tables.pod_class(pod_class).node_rule)];
}

std::string no_node_text(const Pass& pass, int g, int pod_class) {
  const NodeRule& rule = node_rule_of(pass, pod_class);
  UnfitCounts counts;
  for (const Node& node : pass.cluster.nodes) {
    std::optional<Unfit> why = unfit(rule, pass.queue_at(g), node);
    if (why) ++counts[{*why, unfit_text(*why, rule, pass.queue_at(g), node)}];
  }
  std::string text = counts_text(counts);
  return fmt::format("no node may take it: of {} node{} {}", pass.cluster.nodes.size(),
                     pass.cluster.nodes.size() == 1 ? "" : "s", text.empty() ? "none is there" : text);
}

// " (nodes that are left out: 1 cordoned)": those that have at least so much, if they only were in order.
std::string left_out_text(const Pass& pass, int g, int pod_class, int resource, int64_t least) {
  const NodeRule& rule = node_rule_of(pass, pod_class);
  UnfitCounts counts;
  for (const Node& node : pass.cluster.nodes) {
    if (amount_at(node.allocatable, resource) < least) continue;
    std::optional<Unfit> why = kept_out(rule, pass.queue_at(g), node);
    if (why) ++counts[{*why, unfit_text(*why, rule, pass.queue_at(g), node)}];
  }
  return counts.empty() ? "" : fmt::format(" (nodes that are left out: {})", counts_text(counts));
}

}  // namespace

// What is wrong with a claim has no figures that change with other gangs: other words are another cause.
uint64_t kind_of(const Waiting& waiting) {
  uint64_t code = (static_cast<uint64_t>(waiting.code) + 1) * 2 + (waiting.timed_out ? 1 : 0);
  return waiting.code == WaitCode::kClaims ? fnv1a(waiting.text, code) : code;
}

std::optional<Refusal> never_fits_a_node(Pass& pass, int g) {
  std::set<int> seen;
  for (int m : needed_members(pass.gang(g), pass.needs_of(g))) {
    int pod_class = pass.gang(g).members[static_cast<size_t>(m)].pod_class;
    if (!seen.insert(pod_class).second) continue;
    std::vector<int> nodes = nodes_of(pass, g, pod_class);
    if (nodes.empty())
      return Refusal{WaitKind::kInfeasible, WaitCode::kNoNode, no_node_text(pass, g, pod_class)};
    const Amounts& wanted = pass.tables.pod_class(pod_class).requests;
    bool taken = std::any_of(nodes.begin(), nodes.end(),
                             [&](int n) { return fits_within(wanted, pass.tables.node(n).allocatable); });
    if (taken) continue;
    for (const Need& need : pass.tables.needs(pod_class)) {
      int64_t most = 0;
      for (int n : nodes) most = std::max(most, amount_at(pass.tables.node(n).allocatable, need.resource));
      if (most >= need.amount) continue;
      const std::string& name = pass.cluster.resources[static_cast<size_t>(need.resource)];
      return Refusal{WaitKind::kInfeasible, WaitCode::kNoNode,
                     fmt::format("a pod needs {}{}; the largest has {}{}", amount_phrase(name, need.amount),
                                 on_nodes(pass, g, pod_class), amount_text(name, most),
                                 left_out_text(pass, g, pod_class, need.resource, need.amount))};
    }
    return Refusal{WaitKind::kInfeasible, WaitCode::kNoNode,
                   fmt::format("needs {}{}; no node has all of that", pods_phrase(pass, 1, pod_class),
                               on_nodes(pass, g, pod_class))};
  }
  return std::nullopt;
}

std::string shortage_text(Pass& pass, int g, bool in_detail) {
  std::optional<Short> lack =
      find_short(pass, g, [&](int node, int resource) { return pass.state.usable(node)[resource]; });
  if (!lack) return fragments_text(pass, g, in_detail);
  const std::string& name = pass.cluster.resources[static_cast<size_t>(lack->resource)];
  return fmt::format("needs {}{}; {} free{}", amount_phrase(name, lack->wanted),
                     on_nodes(pass, g, lack->bundle.some_class), amount_text(name, lack->free),
                     in_detail ? holders_text(pass, g, *lack) : "");
}

std::string too_large_text(Pass& pass, int g) {
  std::optional<Short> lack = find_short(pass, g, [&](int node, int resource) {
    return amount_at(pass.tables.node(node).allocatable, resource);
  });
  if (!lack) {
    if (std::string words = domain_text(pass, g); !words.empty()) return words;
    unsigned before = pass.state.used();
    pass.state.use(kEmpty);
    std::string words = neighbours_text(pass, g, false);
    pass.state.use(before);
    if (!words.empty()) return words;
    if (wants_volumes(pass, g)) return kNotBesideVolumes;
    return fmt::format("needs {} at once; that many do not fit together even when nothing else runs",
                       pods_text(pass.needs_of(g).total));
  }
  const std::string& name = pass.cluster.resources[static_cast<size_t>(lack->resource)];
  return fmt::format("needs {}{}; there are {} in all{}", amount_phrase(name, lack->wanted),
                     on_nodes(pass, g, lack->bundle.some_class), amount_text(name, lack->free),
                     left_out_text(pass, g, lack->bundle.some_class, lack->resource, 1));
}

// Those with the fewest sources choose first, whatever nodes they are on.
std::string lacking_volumes_text(const Pass& pass, int g) {
  std::set<int> claims;
  for (int m : needed_members(pass.gang(g), pass.needs_of(g))) {
    const Member& member = pass.gang(g).members[static_cast<size_t>(m)];
    for (int claim : pass.tables.pod_class(member.pod_class).claims) {
      if (pass.state.source_now(claim) < 0) claims.insert(claim);
    }
  }
  const std::vector<VolumeSource>& sources = pass.cluster.sources;
  std::map<std::string, std::vector<std::vector<int>>> by_class;  // the free sources of each claim
  for (int c : claims) {
    const Claim& claim = pass.cluster.claims[static_cast<size_t>(c)];
    std::vector<int> free = claim.sources;
    std::erase_if(free, [&](int source) { return !pass.state.source_is_free(source); });
    by_class[claim.storage_class].push_back(std::move(free));
  }
  for (auto& [name, wanting] : by_class) {
    std::stable_sort(wanting.begin(), wanting.end(),
                     [](const auto& a, const auto& b) { return a.size() < b.size(); });
    std::set<int> taken;
    size_t met = 0;
    for (const std::vector<int>& free : wanting) {
      auto one = std::find_if(free.begin(), free.end(), [&](int source) {
        return sources[static_cast<size_t>(source)].volume.empty() || taken.insert(source).second;
      });
      met += one != free.end();
    }
    if (met == wanting.size()) continue;
    return fmt::format("its claims need {} volume{} of class {}; {} that would do {} free", wanting.size(),
                       wanting.size() == 1 ? "" : "s", name, met, met == 1 ? "is" : "are");
  }
  return "";
}

std::string extra_members_text(Pass& pass, int g, const std::string& refusal) {
  const Pass::Row& row = pass.row(g);
  auto has_none = [&](int m) {
    return std::none_of(row.bound.begin(), row.bound.end(),
                        [&](const Spot& spot) { return spot.member == m; });
  };
  const size_t waiting = row.needs.waiting.size() - row.bound.size();
  std::string text = fmt::format("has its minimum; {} more pod{} wait{}", waiting, waiting == 1 ? "" : "s",
                                 waiting == 1 ? "s" : "");
  if (!refusal.empty()) return fmt::format("{}: one {}", text, refusal);
  auto first = std::find_if(row.needs.waiting.begin(), row.needs.waiting.end(), has_none);
  const int pod_class = pass.gang(g).members[static_cast<size_t>(*first)].pod_class;
  return fmt::format("{} for room: {}{}", text, pods_phrase(pass, 1, pod_class),
                     on_nodes(pass, g, pod_class));
}

std::string missing_members_text(const Gang& gang, const Needs& needs) {
  for (size_t role = 0; role < gang.roles.size(); ++role) {
    if (needs.absent_by_role[role] == 0) continue;
    return fmt::format("role {} needs {}; {} {} not there yet", gang.roles[role].name,
                       pods_text(gang.roles[role].min), needs.absent_by_role[role],
                       needs.absent_by_role[role] == 1 ? "is" : "are");
  }
  return fmt::format("needs {}; {} {} not there yet", pods_text(gang.min_member), needs.absent,
                     needs.absent == 1 ? "is" : "are");
}

}  // namespace trainyard::sched
