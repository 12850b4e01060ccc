// Cluster: the store of a simulated world and the hands that write to it. Every
// revision is told, with whose hand wrote it, to those who listen (the kubelet model,
// the watch networks, the checkers) before the next write can happen. Listeners may put
// things on the agenda; they never write while being told.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/json.h"
#include "kube/request.h"
#include "sim/agenda.h"
#include "store/store.h"

namespace trainyard::sim {

enum class Hand { kUser, kKubelet, kScheduler, kCollector, kOperator };
std::string_view to_string(Hand hand);

struct Author {
  Hand hand = Hand::kUser;
  int process_id = -1;  // of an operator, or of the real scheduler
};

// One revision.
struct Change {
  Author author;
  Time at;
  int64_t revision = 0;
  const kube::Resource* resource = nullptr;
  store::Object before;  // null: created
  store::Object after;   // null: gone
};

inline bool same_type(const kube::Resource& a, const kube::Resource& b) {
  return a.plural == b.plural && a.group == b.group;
}

// Every resource that anything in the world writes.
const std::vector<const kube::Resource*>& all_resources();

class Cluster {
 public:
  using Listener = std::function<void(const Change&)>;

  Cluster(uint64_t seed, Agenda& agenda) : agenda_(agenda), store_(seed), told_(store_.revision()) {}
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  void listen(Listener listener) { listeners_.push_back(std::move(listener)); }
  store::Store& store() { return store_; }
  const store::Store& store() const { return store_; }
  Time now() const { return agenda_.now(); }
  Agenda& agenda() { return agenda_; }

  // Writes by hands other than an operator's, in the one namespace of the world. They
  // take the object as it is. Null when the store refuses, as it does when the object has
  // vanished meanwhile.
  store::Object create(Author author, const kube::Resource& resource, json::object body);
  store::Object update(Author author, const kube::Resource& resource, json::object body);
  store::Object write_status(Author author, const kube::Resource& resource, std::string_view name,
                             json::object status);
  store::Object remove(Author author, const kube::Resource& resource, std::string_view name,
                       const kube::DeleteOptions& options = {});
  // Null when it is not there.
  store::Object find(const kube::Resource& resource, std::string_view name) const;
  // The owner of what is gone takes its dependents along.
  void collect_garbage();

  // Tells the listeners what was written to the resource since the last time. Must be
  // called after every write.
  void tell(Author author, const kube::Resource& resource);

 private:
  void tell_all(Author author);

  Agenda& agenda_;
  store::Store store_;
  std::vector<Listener> listeners_;
  int64_t told_ = 0;
};

}  // namespace trainyard::sim
