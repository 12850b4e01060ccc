#include "sched/volumes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <tuple>

namespace trainyard::sched {
namespace {

constexpr int64_t kBoundless = std::numeric_limits<int64_t>::max();

using NodeNames = std::vector<std::string>;

// The nodes of which terms speak. Most of those of local volumes ask for one value of one label: that
// is looked up, so that ten thousand volumes are not compared with each of five thousand nodes.
class NodesByLabel {
 public:
  explicit NodesByLabel(std::vector<const Node*> nodes) : nodes_(std::move(nodes)) {}

  // Sorted.
  NodeNames where(const std::vector<NodeTerm>& terms) {
    NodeNames out;
    for (const NodeTerm& term : terms) {
      if (term.labels.empty() && term.fields.empty()) continue;  // as Kubernetes reads an empty term
      for (const Node* node : candidates(term)) {
        bool holds = hold_all(term.labels, node->labels) &&
                     (term.fields.empty() || hold_all(term.fields, {{"metadata.name", node->name}}));
        if (holds) out.push_back(node->name);
      }
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

 private:
  using ByValue = std::map<std::string, std::vector<const Node*>>;

  std::vector<const Node*> candidates(const NodeTerm& term) {
    for (const kube::Requirement& one : term.labels) {
      if (one.op != kube::SelectorOp::kIn && one.op != kube::SelectorOp::kEquals) continue;
      const ByValue& there = of_label(one.key);
      std::vector<const Node*> out;
      for (const std::string& value : one.values) {
        auto found = there.find(value);
        if (found != there.end()) out.insert(out.end(), found->second.begin(), found->second.end());
      }
      return out;
    }
    return nodes_;
  }
  const ByValue& of_label(const std::string& key) {
    auto [at, fresh] = by_label_.try_emplace(key);
    if (!fresh) return at->second;
    for (const Node* node : nodes_) {
      auto label = node->labels.find(key);
      if (label != node->labels.end()) at->second[label->second].push_back(node);
    }
    return at->second;
  }

  std::vector<const Node*> nodes_;
  std::map<std::string, ByValue> by_label_;
};

// Why a volume of the right class is not for the claim. In the order in which it is asked.
enum class Unsuited { kTaken, kNotReady, kSmall, kAccess, kMode, kAttributes, kLabels };

std::string_view unsuited_text(Unsuited why) {
  switch (why) {
    case Unsuited::kTaken:
      return "taken";
    case Unsuited::kNotReady:
      return "not available";
    case Unsuited::kSmall:
      return "too small";
    case Unsuited::kAccess:
      return "of other access modes";
    case Unsuited::kMode:
      return "of another volumeMode";
    case Unsuited::kAttributes:
      return "of another volumeAttributesClass";
    case Unsuited::kLabels:
      return "without the labels that its selector asks for";
  }
  return "";
}

bool is_for(const VolumeSeen& volume, const ClaimSeen& claim) {
  return volume.claim == claim.key && (volume.claim_uid.empty() || volume.claim_uid == claim.uid);
}

std::optional<Unsuited> unsuited(const VolumeSeen& volume, const ClaimSeen& claim) {
  bool own = is_for(volume, claim);
  if (!volume.claim.empty() && !own) return Unsuited::kTaken;
  if (volume.deleting || (volume.phase != "Available" && !own)) return Unsuited::kNotReady;
  if (volume.size < claim.size) return Unsuited::kSmall;
  if (!std::includes(volume.modes.begin(), volume.modes.end(), claim.modes.begin(), claim.modes.end())) {
    return Unsuited::kAccess;
  }
  if (volume.volume_mode != claim.volume_mode) return Unsuited::kMode;
  if (volume.attributes_class != claim.attributes_class) return Unsuited::kAttributes;
  if (!hold_all(claim.selector, volume.labels)) return Unsuited::kLabels;
  return std::nullopt;
}

class Finder {
 public:
  explicit Finder(const VolumeDocuments& documents);
  VolumesFound find() &&;

 private:
  struct Made {
    const VolumeSeen* volume;
    int source = -1;         // -1: nobody asked yet
    std::string promised{};  // the claim it was chosen for
  };
  struct Room {
    const RoomSeen* room;
    int source = -1;
  };

  const ClassSeen* class_of(const ClaimSeen& claim) const;
  bool is_open(const ClaimSeen& claim) const;
  bool tells_room(const ClassSeen& kind, const ClaimSeen& claim) const;
  Made* made_named(const std::string& name);
  int add_source(SourceFound source);
  int source_of(Made& made);
  int source_of(Room& room, const ClassSeen& kind);
  int source_anywhere(const ClassSeen& kind);

  bool settle(const ClaimSeen& claim, OpenClaim& out);
  void leave_room_for(const ClaimSeen& claim, const std::string& node);
  std::string add_made(const ClaimSeen& claim, OpenClaim& out);
  std::string add_rooms(const ClaimSeen& claim, const ClassSeen& kind, OpenClaim& out);
  std::string open(const ClaimSeen& claim);
  std::string trouble_of(const ClaimSeen& claim) const;
  void restrict_nodes(const ClaimSeen& claim);

  const VolumeDocuments& documents_;
  NodesByLabel nodes_;
  std::map<std::string, const ClassSeen*> classes_;
  std::map<std::string, bool> tells_room_;                         // by driver
  std::map<std::string, std::vector<Room>> rooms_;                 // by class
  std::map<std::string, std::vector<Made>> made_;                  // by class
  std::map<std::string, std::pair<std::string, size_t>> made_at_;  // by name: class and place there
  std::map<std::string, int> anywhere_;                            // by class
  VolumesFound out_;
};

Finder::Finder(const VolumeDocuments& documents) : documents_(documents), nodes_(documents.nodes) {
  for (const ClassSeen* one : documents.classes) classes_[one->name] = one;
  for (const DriverSeen* one : documents.drivers) tells_room_[one->name] = one->tells_room;
  for (const VolumeSeen* one : documents.volumes) {
    std::vector<Made>& made = made_[one->storage_class];
    made_at_[one->name] = {one->storage_class, made.size()};
    made.push_back({one});
  }
  for (const auto& [claim, choice] : documents.choices) {
    if (Made* made = made_named(choice.volume)) made->promised = claim;
  }
  std::vector<const RoomSeen*> rooms = documents.rooms;
  std::sort(rooms.begin(), rooms.end(), [](const RoomSeen* a, const RoomSeen* b) { return a->key < b->key; });
  for (const RoomSeen* one : rooms) rooms_[one->storage_class].push_back({one});
}

Finder::Made* Finder::made_named(const std::string& name) {
  auto found = made_at_.find(name);
  return found == made_at_.end() ? nullptr : &made_[found->second.first][found->second.second];
}

const ClassSeen* Finder::class_of(const ClaimSeen& claim) const {
  auto found = classes_.find(claim.storage_class);
  return found == classes_.end() ? nullptr : found->second;
}

bool Finder::is_open(const ClaimSeen& claim) const {
  const ClassSeen* kind = class_of(claim);
  return claim.volume.empty() && claim.phase != "Lost" && kind != nullptr && kind->waits_for_consumer;
}

bool Finder::tells_room(const ClassSeen& kind, const ClaimSeen& claim) const {
  auto driver = tells_room_.find(kind.provisioner);
  return driver != tells_room_.end() && driver->second && claim.size > 0;
}

int Finder::add_source(SourceFound source) {
  out_.sources.push_back(std::move(source));
  return static_cast<int>(out_.sources.size()) - 1;
}

int Finder::source_of(Made& made) {
  if (made.source >= 0) return made.source;
  SourceFound source{made.volume->name, std::nullopt, made.volume->size};
  if (!made.volume->terms.empty()) source.nodes = nodes_.where(made.volume->terms);
  return made.source = add_source(std::move(source));
}

int Finder::source_of(Room& room, const ClassSeen& kind) {
  if (room.source >= 0) return room.source;
  NodeNames reach;
  for (const Node* node : documents_.nodes) {
    if (room.room->nodes && hold_all(*room.room->nodes, node->labels)) reach.push_back(node->name);
  }
  std::sort(reach.begin(), reach.end());
  if (!kind.terms.empty()) {
    NodeNames allowed = nodes_.where(kind.terms);
    std::erase_if(reach, [&](const std::string& node) {
      return !std::binary_search(allowed.begin(), allowed.end(), node);
    });
  }
  return room.source = add_source({"", std::move(reach), room.room->total});
}

// Of a driver that does not tell what room it has.
int Finder::source_anywhere(const ClassSeen& kind) {
  auto [at, fresh] = anywhere_.try_emplace(kind.name, -1);
  if (!fresh) return at->second;
  std::optional<NodeNames> allowed;
  if (!kind.terms.empty()) allowed = nodes_.where(kind.terms);
  return at->second = add_source({"", std::move(allowed), kBoundless});
}

// Of a claim of which it is clear what it gets. False: it is not.
bool Finder::settle(const ClaimSeen& claim, OpenClaim& out) {
  auto choice = documents_.choices.find(claim.key);
  bool chosen = choice != documents_.choices.end();
  Made* made = chosen ? made_named(choice->second.volume) : nullptr;
  std::string node = chosen ? choice->second.node : claim.selected_node;
  if (made != nullptr) {
    out.sources.push_back(source_of(*made));
  } else if (!node.empty()) {
    out.sources.push_back(add_source({"", NodeNames{node}, kBoundless}));
    leave_room_for(claim, node);
  }
  return !out.sources.empty();
}

// What is about to be made is still counted as room by whoever makes it.
void Finder::leave_room_for(const ClaimSeen& claim, const std::string& node) {
  const ClassSeen& kind = *class_of(claim);
  if (!tells_room(kind, claim)) return;
  for (Room& room : rooms_[kind.name]) {
    SourceFound& source = out_.sources[static_cast<size_t>(source_of(room, kind))];
    if (!std::binary_search(source.nodes->begin(), source.nodes->end(), node)) continue;
    if (source.room != kBoundless) source.room = std::max<int64_t>(0, source.room - claim.size);
    return;
  }
}

// Volumes that somebody made; or why those of its class will not do.
std::string Finder::add_made(const ClaimSeen& claim, OpenClaim& out) {
  std::map<Unsuited, int> counts;
  std::vector<Made>& all = made_[claim.storage_class];
  for (Made& made : all) {
    std::optional<Unsuited> why = unsuited(*made.volume, claim);
    if (!why && !made.promised.empty()) why = Unsuited::kTaken;
    if (!why && is_for(*made.volume, claim)) {
      out.sources = {source_of(made)};
      return "";
    }
    if (why) {
      ++counts[*why];
    } else {
      out.sources.push_back(source_of(made));
    }
  }
  auto rank = [&](int s) {
    const SourceFound& source = out_.sources[static_cast<size_t>(s)];
    size_t reach = source.nodes ? source.nodes->size() : documents_.nodes.size() + 1;
    return std::tuple(source.room, reach, std::string_view(source.volume));
  };
  std::sort(out.sources.begin(), out.sources.end(), [&](int a, int b) { return rank(a) < rank(b); });
  if (!out.sources.empty()) return "";
  if (all.empty()) return "there is none";
  std::vector<std::string> parts;
  for (const auto& [why, count] : counts) parts.push_back(fmt::format("{} {}", count, unsuited_text(why)));
  return fmt::format("of {} there {} {}", all.size(), all.size() == 1 ? "is" : "are", fmt::join(parts, ", "));
}

// Where one is made for it; or why nowhere.
std::string Finder::add_rooms(const ClaimSeen& claim, const ClassSeen& kind, OpenClaim& out) {
  if (!tells_room(kind, claim)) {
    out.sources.push_back(source_anywhere(kind));
    return "";
  }
  int64_t most = 0;
  for (Room& room : rooms_[kind.name]) {
    int s = source_of(room, kind);
    const SourceFound& source = out_.sources[static_cast<size_t>(s)];
    if (source.nodes->empty()) continue;
    most = std::max(most, std::min(room.room->largest, source.room));
    if (std::min(room.room->largest, source.room) >= claim.size) out.sources.push_back(s);
  }
  if (!out.sources.empty()) return "";
  return fmt::format("{} can make none larger than {}", kind.provisioner, amount_text("storage", most));
}

// Why it has no source; "" when it has.
std::string Finder::open(const ClaimSeen& claim) {
  const ClassSeen& kind = *class_of(claim);
  OpenClaim out{claim.storage_class, claim.size, {}};
  std::string none;
  if (!settle(claim, out)) {
    none = add_made(claim, out);
    bool own = out.sources.size() == 1 &&
               is_for(*made_named(out_.sources[static_cast<size_t>(out.sources[0])].volume)->volume, claim);
    if (kind.provisions() && !own) none = add_rooms(claim, kind, out);
  }
  if (out.sources.empty()) {
    return fmt::format("claim {} finds no volume of class {} for {} {}: {}", claim.name, claim.storage_class,
                       amount_text("storage", claim.size), fmt::join(claim.modes, ","), none);
  }
  out_.open.emplace(claim.key, std::move(out));
  return "";
}

std::string Finder::trouble_of(const ClaimSeen& claim) const {
  if (claim.is_bound()) return "";
  if (claim.phase == "Lost") return fmt::format("claim {} has lost its volume", claim.name);
  bool unknown = !claim.storage_class.empty() && class_of(claim) == nullptr;
  if (!unknown || !claim.volume.empty()) return fmt::format("claim {} has no volume yet", claim.name);
  return fmt::format("claim {} has no volume yet, and there is no StorageClass {}", claim.name,
                     claim.storage_class);
}

void Finder::restrict_nodes(const ClaimSeen& claim) {
  if (auto open = out_.open.find(claim.key); open != out_.open.end()) {
    NodeNames all;
    for (int s : open->second.sources) {
      const SourceFound& source = out_.sources[static_cast<size_t>(s)];
      if (!source.nodes) return;
      all.insert(all.end(), source.nodes->begin(), source.nodes->end());
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    out_.nodes[claim.key] = std::move(all);
    return;
  }
  const Made* made = made_named(claim.volume);
  if (made != nullptr && !made->volume->terms.empty()) {
    out_.nodes[claim.key] = nodes_.where(made->volume->terms);
  }
}

VolumesFound Finder::find() && {
  if (documents_.waits_for_claims) {
    out_.troubles.emplace();
    // Those that are settled first: what they get is not there for the others.
    auto is_settled = [&](const ClaimSeen& claim) {
      return !claim.selected_node.empty() || documents_.choices.contains(claim.key);
    };
    for (bool settled : {true, false}) {
      for (const ClaimSeen* claim : documents_.claims) {
        if (is_settled(*claim) != settled) continue;
        (*out_.troubles)[claim->key] = is_open(*claim) ? open(*claim) : trouble_of(*claim);
      }
    }
  }
  for (const ClaimSeen* claim : documents_.claims) restrict_nodes(*claim);
  return std::move(out_);
}

}  // namespace

VolumesFound find_volumes(const VolumeDocuments& documents) { return Finder(documents).find(); }

}  // namespace trainyard::sched
