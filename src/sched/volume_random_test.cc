// Volumes on hundreds of small random clusters: each claim of a bound gang has one, reached from the pod's
// node and nobody else's; and a gang is bound exactly when there is a way. A failure names the seed.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/rng.h"
#include "sched/testing.h"

namespace trainyard::sched::testing {
namespace {

constexpr uint64_t kVolumeWorlds = 1500;

// Lines of nodes and then of volumes, each on one node, and of gangs whose pods have a claim or two each.
struct VolumeWorld {
  std::vector<std::string> nodes, sources, gangs;

  explicit VolumeWorld(Rng& rng, bool rooms) {
    auto count = static_cast<int>(rng.between(1, 3));
    for (int n = 0; n < count; ++n) nodes.push_back(fmt::format("node n{} cpu={}\n", n, rng.between(1, 4)));
    for (int v = 0; v < static_cast<int>(rng.between(0, 6)); ++v) {
      std::string reach = fmt::format("n{}", rng.between(0, count - 1));
      if (rooms && rng.chance(30)) reach += fmt::format("|n{}", rng.between(0, count - 1));
      bool made = !rooms || rng.chance(60);
      sources.push_back(fmt::format("{} v{} size={} on={}\n", made ? "volume" : "room", v,
                                    rng.between(1, made ? 3 : 6), reach));
    }
    for (int g = 0; g < static_cast<int>(rng.between(1, 3)); ++g) {
      std::string line = fmt::format("gang g{} age={}", g, rng.between(0, 200));
      for (int p = 0; p < static_cast<int>(rng.between(1, 3)); ++p) {
        int mine = rng.chance(20) ? 0 : p;  // or that of the first
        line +=
            fmt::format(" r{}*1:cpu={},claim=c{}x{}~{}", p, rng.between(1, 2), g, mine, (g + mine) % 3 + 1);
        if (rng.chance(20)) line += fmt::format(",claim=d{}x{}~{}", g, p, rng.between(1, 3));
      }
      gangs.push_back(line + "\n");
    }
  }
  std::string text() const {
    std::string out;
    for (const auto* part : {&nodes, &sources, &gangs}) {
      for (const std::string& line : *part) out += line;
    }
    return out;
  }
  void shuffle(Rng& rng) {
    for (auto* part : {&nodes, &sources, &gangs}) {
      for (size_t i = part->size(); i > 1; --i) std::swap((*part)[i - 1], (*part)[rng.below(i)]);
    }
  }
};

bool reached(const VolumeSource& source, int node) {
  return !source.nodes || std::find(source.nodes->begin(), source.nodes->end(), node) != source.nodes->end();
}

// "" or what is wrong.
std::string check_volumes(const World& world, const Decisions& decisions) {
  std::map<std::string, std::string> chosen;
  std::set<std::string> taken;
  for (const VolumeBinding& one : decisions.volumes) {
    if (!chosen.emplace(one.claim, one.volume).second && chosen[one.claim] != one.volume)
      return "two volumes";
  }
  for (const auto& [claim, volume] : chosen) {
    if (!taken.insert(volume).second) return "taken twice: " + volume;
  }
  for (const Binding& binding : decisions.bindings) {
    const Gang gang = World(world).gang(binding.gang);
    for (const Member& member : gang.members) {
      if (member.uid != binding.uid) continue;
      for (int c : world.cluster.classes[static_cast<size_t>(member.pod_class)].claims) {
        const Claim& claim = world.cluster.claims[static_cast<size_t>(c)];
        std::string volume = chosen.contains(claim.key) ? chosen[claim.key] : "";
        bool found = std::any_of(claim.sources.begin(), claim.sources.end(), [&](int s) {
          const VolumeSource& source = world.cluster.sources[static_cast<size_t>(s)];
          return source.volume == volume && reached(source, world.node_index(binding.node));
        });
        if (!found) return fmt::format("{} does not reach {} of {}", binding.uid, volume, claim.key);
      }
    }
  }
  return "";
}

// Tries every node for every pod and every volume for every claim.
class EveryWay {
 public:
  EveryWay(const World& world, const Gang& gang)
      : world_(world), gang_(gang), used_(world.cluster.nodes.size()) {}
  bool any() { return place(0); }

 private:
  const PodClass& class_of(size_t member) const {
    return world_.cluster.classes[static_cast<size_t>(gang_.members[member].pod_class)];
  }
  bool place(size_t member) {
    if (member == gang_.members.size()) return true;
    for (size_t n = 0; n < used_.size(); ++n) {
      int64_t cpu = class_of(member).requests[kCpu];
      if (used_[n] + cpu > world_.cluster.nodes[n].allocatable[kCpu]) continue;
      used_[n] += cpu;
      bool done = claim(member, static_cast<int>(n), 0);
      used_[n] -= cpu;
      if (done) return true;
    }
    return false;
  }
  bool claim(size_t member, int node, size_t at) {
    if (at == class_of(member).claims.size()) return place(member + 1);
    int c = class_of(member).claims[at];
    if (has_.contains(c)) {
      const VolumeSource& source = world_.cluster.sources[static_cast<size_t>(has_[c])];
      return reached(source, node) && claim(member, node, at + 1);
    }
    for (int s : world_.cluster.claims[static_cast<size_t>(c)].sources) {
      if (taken_.contains(s) || !reached(world_.cluster.sources[static_cast<size_t>(s)], node)) continue;
      taken_.insert(s);
      has_[c] = s;
      bool done = claim(member, node, at + 1);
      taken_.erase(s);
      has_.erase(c);
      if (done) return true;
    }
    return false;
  }

  const World& world_;
  const Gang& gang_;
  std::vector<int64_t> used_;
  std::set<int> taken_;
  std::map<int, int> has_;
};

TEST(VolumeRandom, ClaimsHaveVolumesThatTheirPodsReach) {
  for (uint64_t seed = 1; seed <= kVolumeWorlds && !::testing::Test::HasFailure(); ++seed) {
    Rng rng(seed);
    VolumeWorld made(rng, seed % 2 == 0);
    World world(made.text());
    Decisions decisions = world.run();
    EXPECT_EQ(check_volumes(world, decisions), "") << seed << "\n" << made.text() << summary(decisions);
    std::string before = made.text();
    made.shuffle(rng);
    EXPECT_EQ(summary(World(made.text()).run()), summary(decisions)) << seed << "\n" << before << made.text();
  }
}

TEST(VolumeRandom, AGangIsBoundWhenThereIsAWay) {
  for (uint64_t seed = 1; seed <= kVolumeWorlds && !::testing::Test::HasFailure(); ++seed) {
    Rng rng(seed * 31);
    VolumeWorld made(rng, false);
    made.gangs.resize(1);
    World world(made.text());
    EXPECT_EQ(!world.run().bindings.empty(), EveryWay(world, world.gangs[0]).any()) << seed << "\n"
                                                                                    << made.text();
  }
}

}  // namespace
}  // namespace trainyard::sched::testing
