// SchedulerView: what the scheduler has seen of a cluster, read once per change, and what it has
// done that is not to be seen yet (the assume cache). Value; pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "client/client.h"
#include "client/packed.h"
#include "client/watcher.h"
#include "control/claims_seen.h"
#include "control/sights.h"
#include "sched/gangs_from.h"
#include "sched/kept_snapshot.h"

namespace trainyard::control {

struct PodSight {
  sched::PodSeen seen;
  std::string told;               // the message of PodScheduled=False, "" when it says nothing
  std::optional<Time> told_at{};  // since when
  // Since when it is said that its scheduler will delete it; nullopt when nobody says so, or it is deleted.
  std::optional<Time> marked_at{};
  bool operator==(const PodSight&) const = default;
};

struct GroupSight {
  sched::GroupSeen seen;
  client::Packed said;  // who it is, and its status
  // Its status is what it should be, as long as what it is made of has this print (sched::status_print). Of
  // this very document: one that is read anew has none.
  mutable std::optional<uint64_t> told{};
  bool operator==(const GroupSight& other) const {
    return seen == other.seen && said.version() == other.said.version();
  }
};

struct QueueSight {
  kube::Queue seen;
  client::Object object;
  bool operator==(const QueueSight& other) const { return object == other.object; }
};

struct DocumentSight {
  client::Object object;
  bool operator==(const DocumentSight&) const = default;
};

// The resource of a PodGroup, by its API group. REQUIRES: one of the four.
kube::Resource group_resource(std::string_view api_group);

class SchedulerView final : public sched::DocumentSource {
 public:
  explicit SchedulerView(bool waits_for_claims = false);
  SchedulerView(const SchedulerView&) = delete;
  SchedulerView& operator=(const SchedulerView&) = delete;

  const std::vector<client::Stream>& streams() const { return streams_; }
  bool synced() const;
  // Whether it may change a decision: what we did ourselves does not.
  bool take_in(int stream, const client::Output& output);

  // By reference: it stays true until the next take_in. REQUIRES: it has looked at claims.
  sched::Documents all() override;
  sched::Documents of(const std::set<uint64_t>& families) override;
  const sched::Shapes& shapes() const { return shapes_; }
  // What may be another in the documents than when this was asked before. Shapes may have other numbers after
  // it.
  sched::Changes take_changes();
  // What is kept of a group of the documents.
  const GroupSight& sight_of(const sched::GroupSeen& group) const;
  std::vector<client::Object> queues() const;

  // Claims as they are now, with what was decided and is not to be seen yet. `claims` stays true until
  // the next take_in.
  void look_at_claims(ClaimsSeen::Choices choices) { claims_.refresh(nodes_.all(), std::move(choices)); }
  const ClaimsSeen& claims() const { return claims_; }

  // The names of those that are there and ready.
  std::set<std::string> ready_nodes() const;
  const PodSight* find_pod(std::string_view uid) const { return pods_.find(uid); }
  // The uids of those that run and of which it is said that their scheduler will delete them.
  const std::set<std::string>& marked_pods() const { return marked_; }
  const std::map<std::string, std::string>& assumed() const { return assumed_; }
  void assume(const std::string& uid, const std::string& node);
  void forget_assumed(const std::string& uid);
  // A group or queue whose status we wrote, as the server has it now: what is decided next is decided on
  // that, and seen again it is no news.
  void wrote(const kube::Resource& resource, const client::Object& object);

 private:
  bool is_own(const std::string& uid, int64_t version) const;
  bool can_matter(const PodSight* pod) const;
  void forget_old_shapes();
  void index_all();

  std::vector<client::Stream> streams_;
  sched::Shapes shapes_;
  client::Patterns patterns_;  // of groups
  Sights<PodSight> pods_;
  Sights<sched::NodeSeen> nodes_;
  std::vector<Sights<GroupSight>> groups_;  // by API group, in the order of the streams
  std::vector<Sights<QueueSight>> queues_;
  Sights<DocumentSight> priority_classes_;
  Sights<DocumentSight> namespaces_;
  ClaimsSeen claims_;
  std::map<std::string, std::string> assumed_;  // pod uid -> node
  std::map<std::string, int64_t> own_versions_;
  sched::Changes changes_;
  // By family.
  std::multimap<uint64_t, const PodSight*> pods_of_;
  std::multimap<uint64_t, const GroupSight*> groups_of_;
  std::set<std::string> marked_;
  int shapes_checked_ = 0;  // with so many of them there was nothing to forget
};

}  // namespace trainyard::control
