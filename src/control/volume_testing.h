// VolumeYard: a SchedulerYard whose claims have to be bound; the test plays those who make volumes and bind
// them. Class `late` makes volumes when a pod has a node, `soon` at once, `local` never.
#pragma once

#include <string>
#include <vector>

#include "control/scheduler_testing.h"

namespace trainyard::control::testing {

class VolumeYard : public SchedulerYard {
 public:
  explicit VolumeYard(SchedulerOptions options = {.waits_for_claims = true})
      : SchedulerYard(std::move(options)) {
    storage_class("late", "example.com/maker", "WaitForFirstConsumer");
    storage_class("soon", "example.com/maker", "Immediate");
    storage_class("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer");
  }

  void storage_class(std::string_view name, std::string_view provisioner, std::string_view mode,
                     json::array topologies = {}) {
    put(kube::kStorageClasses, "",
        {{"metadata", json::object{{"name", kube::jview(name)}}},
         {"provisioner", kube::jview(provisioner)},
         {"volumeBindingMode", kube::jview(mode)},
         {"allowedTopologies", std::move(topologies)}});
  }
  void claim(std::string_view name, std::string_view storage_class, std::string_view size = "10Gi") {
    json::object requests{{"storage", kube::jview(size)}};
    put(kube::kPersistentVolumeClaims, "ns",
        {{"metadata", json::object{{"name", kube::jview(name)}, {"namespace", "ns"}}},
         {"spec", json::object{{"storageClassName", kube::jview(storage_class)},
                               {"accessModes", json::array{"ReadWriteOnce"}},
                               {"resources", json::object{{"requests", std::move(requests)}}}}},
         {"status", json::object{{"phase", "Pending"}}}});
  }
  // A volume of class `local` that waits for a claim.
  void local_volume(std::string_view name, std::string_view node, std::string_view size = "10Gi") {
    json::object spec{{"storageClassName", "local"},
                      {"accessModes", json::array{"ReadWriteOnce"}},
                      {"capacity", json::object{{"storage", kube::jview(size)}}},
                      {"nodeAffinity", only_from(node)}};
    put(kube::kPersistentVolumes, "",
        {{"metadata", json::object{{"name", kube::jview(name)}}}, {"spec", std::move(spec)}});
    set_phase(kube::kPersistentVolumes, "", name, "Available");
  }
  // A volume that is only to be reached from the named node ("": from everywhere), and the claim has it.
  void make_volume(std::string_view claim, std::string_view node) {
    json::object spec;
    if (!node.empty()) spec["nodeAffinity"] = only_from(node);
    put(kube::kPersistentVolumes, "",
        {{"metadata", json::object{{"name", fmt::format("of-{}", claim)}}}, {"spec", std::move(spec)}});
    bind(claim, fmt::format("of-{}", claim));
  }
  // As the controller of volumes does when a volume names its claim.
  void bind_claimed_volumes() {
    store::Page volumes = store.list(kube::kPersistentVolumes, "").value();
    for (const client::Object& volume : volumes.items) {
      std::string_view claim = kube::text_at(*volume, {"spec", "claimRef", "name"});
      if (!claim.empty()) bind(claim, kube::name_of(*volume));
    }
  }
  void select(std::string_view claim, std::string_view node) {
    json::object changed = **store.get(kube::kPersistentVolumeClaims, "ns", claim);
    json::object& annotations = kube::ensure_object(changed, {"metadata", "annotations"});
    annotations.erase(kube::jview(kube::kSelectedNodeAnnotation));
    if (!node.empty()) annotations[kube::jview(kube::kSelectedNodeAnnotation)] = kube::jview(node);
    ASSERT_TRUE(store.update(kube::kPersistentVolumeClaims, "ns", changed, now).ok());
  }
  std::string selected(std::string_view claim) {
    return std::string(kube::annotation_of(**store.get(kube::kPersistentVolumeClaims, "ns", claim),
                                           kube::kSelectedNodeAnnotation));
  }
  // The claim that the volume names.
  std::string claimed(std::string_view volume) {
    return std::string(
        kube::text_at(**store.get(kube::kPersistentVolumes, "", volume), {"spec", "claimRef", "name"}));
  }
  void pod_with(std::string_view name, std::string_view cpu, const std::vector<std::string>& claims,
                std::string_view group = "") {
    json::object made = pod_object(name, cpu, group);
    json::array volumes;
    for (const std::string& claim : claims) {
      volumes.push_back(
          json::object{{"name", claim}, {"persistentVolumeClaim", json::object{{"claimName", claim}}}});
    }
    made["spec"].as_object()["volumes"] = std::move(volumes);
    add(made);
  }
  void put(const kube::Resource& resource, std::string_view ns, const json::object& object) {
    ASSERT_TRUE(store.create(resource, std::string(ns), object, now).ok());
  }

 private:
  static json::object only_from(std::string_view node) {
    json::object term{{"matchFields", json::array{json::object{{"key", "metadata.name"},
                                                               {"operator", "In"},
                                                               {"values", json::array{kube::jview(node)}}}}}};
    return {{"required", json::object{{"nodeSelectorTerms", json::array{std::move(term)}}}}};
  }
  void set_phase(const kube::Resource& resource, std::string_view ns, std::string_view name,
                 std::string_view phase) {
    json::object object = **store.get(resource, std::string(ns), name);
    object["status"] = json::object{{"phase", kube::jview(phase)}};
    ASSERT_TRUE(store.update_status(resource, std::string(ns), object, now).ok());
  }
  void bind(std::string_view claim, std::string_view volume) {
    json::object bound = **store.get(kube::kPersistentVolumeClaims, "ns", claim);
    bound["spec"].as_object()["volumeName"] = kube::jview(volume);
    ASSERT_TRUE(store.update(kube::kPersistentVolumeClaims, "ns", bound, now).ok());
    set_phase(kube::kPersistentVolumeClaims, "ns", claim, "Bound");
  }
};

}  // namespace trainyard::control::testing
