// Sights: what is kept of each object of one stream: not the document but a small value read
// from it once, when it changes. For whoever follows more objects than it wants to hold.
// Value; pure.
//
// As client::Cache: a fresh list is gathered aside and swapped in at once, and nothing goes back
// to an older version. An object that is made anew under its name is another: the key is the uid.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/match.h"
#include "client/watcher.h"
#include "kube/meta.h"

namespace trainyard::control {

template <typename T>
class Sights {
 public:
  struct Sight {
    int64_t version = 0;
    T value;
  };
  using Read = std::function<T(const client::Object& object)>;
  // Told of each object that is new, gone, or reads differently: null for what is not there. Values stay
  // where they are until they are gone, which is told at that address, or all of them are listed anew.
  using OnChange = std::function<void(const T* before, const T* after)>;

  explicit Sights(Read read) : read_(std::move(read)) {}

  void apply(const client::Output& output, const OnChange& changed) {
    std::visit(Match{
                   [&](const client::Init&) { incoming_.emplace(); },
                   [&](const client::Apply& apply) { put(apply.object, changed); },
                   [&](const client::Delete& gone) { drop(*gone.object, changed); },
                   [&](const client::InitDone& done) { swap_in(done.revision, changed); },
                   [&](const client::Seen& seen) { revision_ = std::max(revision_, seen.revision); },
               },
               output);
  }

  // What became of an object that is known, as the server answered who wrote it. The stream will tell the
  // same; until then nothing newer of other objects has been seen, and nobody is told of a change.
  void know(const client::Object& object) {
    auto known = sights_.find(kube::uid_of(*object));
    const int64_t version = kube::version_of(*object);
    if (known != sights_.end() && known->second.version < version) known->second = {version, read_(object)};
  }

  const std::map<std::string, Sight, std::less<>>& all() const { return sights_; }
  std::map<std::string, Sight, std::less<>>& all() { return sights_; }
  const T* find(std::string_view uid) const {
    auto found = sights_.find(uid);
    return found == sights_.end() ? nullptr : &found->second.value;
  }
  bool synced() const { return synced_; }
  // No list is being gathered: all that was read is in all().
  bool at_rest() const { return !incoming_; }

 private:
  static std::string key_of(const json::object& object) { return std::string(kube::uid_of(object)); }

  void put(const client::Object& object, const OnChange& changed) {
    int64_t version = kube::version_of(*object);
    std::string key = key_of(*object);
    if (incoming_) {
      auto known = sights_.find(key);
      bool same = known != sights_.end() && known->second.version == version;
      incoming_->insert_or_assign(std::move(key), Sight{version, same ? known->second.value : read_(object)});
      return;
    }
    bool is_new = version > revision_;
    revision_ = std::max(revision_, version);
    auto at = sights_.lower_bound(key);
    const bool is_known = at != sights_.end() && at->first == key;
    // One that we do not have and that is not new was deleted since.
    if (is_known ? at->second.version >= version : !is_new) return;
    T after = read_(object);
    if (!is_known) {
      at = sights_.emplace_hint(at, std::move(key), Sight{version, std::move(after)});
      changed(nullptr, &at->second.value);
      return;
    }
    at->second.version = version;
    if (!(at->second.value == after)) {
      std::swap(at->second.value, after);
      changed(&after, &at->second.value);
    }
  }

  void drop(const json::object& last, const OnChange& changed) {
    revision_ = std::max(revision_, kube::version_of(last));
    auto found = sights_.find(key_of(last));
    if (found == sights_.end()) return;
    const auto gone = sights_.extract(found);
    changed(&gone.mapped().value, nullptr);
  }

  void swap_in(int64_t revision, const OnChange& changed) {
    std::map<std::string, Sight, std::less<>> incoming =
        incoming_ ? std::move(*incoming_) : std::map<std::string, Sight, std::less<>>();
    incoming_.reset();
    // A server that lags may list an older world than the one seen: it is not gone back to.
    if (revision != 0 && revision < revision_) return;
    revision_ = std::max(revision_, revision);
    synced_ = true;
    std::swap(sights_, incoming);
    for (const auto& [key, before] : incoming) {
      if (!sights_.contains(key)) changed(&before.value, nullptr);
    }
    for (auto& [key, after] : sights_) {
      auto before = incoming.find(key);
      if (before == incoming.end()) {
        changed(nullptr, &after.value);
      } else if (!(before->second.value == after.value)) {
        changed(&before->second.value, &after.value);
      }
    }
  }

  // Fixed.
  Read read_;
  // State.
  std::map<std::string, Sight, std::less<>> sights_;  // by uid
  std::optional<std::map<std::string, Sight, std::less<>>> incoming_;
  bool synced_ = false;
  int64_t revision_ = 0;
};

}  // namespace trainyard::control
