// How the pods of a node are made and taken away.
#include <signal.h>

#include "kube/access.h"
#include "kube/meta.h"
#include "node/files.h"
#include "node/node_agent.h"
#include "node/not_honoured.h"

namespace trainyard::node {

using kube::text_at;

namespace {

constexpr Duration kDestroyRetry{1'000};
constexpr int kEndersAtStop = 8;

}  // namespace

// Ends what runs for pods that are no more. Only when all pods have been seen.
void Node::Agent::adopt() {
  adopted_ = true;
  std::set<std::string> uids;
  for (const std::string& uid : runtime_.pods()) uids.insert(uid);
  std::error_code error;
  for (std::filesystem::directory_iterator it(options_.data_dir / "pods", error), end; !error && it != end;
       it.increment(error)) {
    uids.insert(it->path().filename());
  }
  for (const std::string& uid : uids) {
    if (entries_.contains(uid)) continue;
    if (runtime_.destroy(uid).ok()) volumes_.tear_down(uid);
    devices_.release(uid);
  }
}

// Reads what the pod's plan depends on.
Result<Around> Node::Agent::around_of(const Entry& entry) {
  Around around;
  std::string ns(kube::namespace_of(*entry.pod));
  References references = references_of(*entry.pod);
  auto read = [&](const kube::Resource& resource, const std::set<std::string>& names,
                  std::map<std::string, Object>& into) -> Result<Done> {
    for (const std::string& name : names) {
      Result<client::Object> object = client::get(client_, resource, ns, name);
      if (object.ok()) into[name] = *object;
      if (!object.ok() && object.error().kind != ErrorKind::kNotFound) return object.error();
    }
    return Done{};
  };
  Result<Done> done = read(kube::kConfigMaps, references.config_maps, around.config_maps);
  if (done.ok()) done = read(kube::kSecrets, references.secrets, around.secrets);
  if (!done.ok()) return done.error();
  const bool tells_services = kube::bool_at(*entry.pod, {"spec", "enableServiceLinks"}).value_or(true);
  for (const auto& [key, service] : streams_[1].cache.all()) {
    if (tells_services && key.ns == ns) around.services.push_back(service.object());
  }
  around.node_name = options_.name;
  around.host_ip = options_.host_ip;
  around.pod_ip = entry.ip;
  around.node_cpu_millis = options_.capacity.cpu_millis;
  around.node_memory_bytes = options_.capacity.memory_bytes;
  around.node_disk_bytes = options_.disk_bytes;
  return around;
}

// A claim that a pod uses is a folder here: it says so, unless somebody has bound it already.
Result<Done> Node::Agent::bind_claims(const Entry& entry) {
  std::string ns(kube::namespace_of(*entry.pod));
  for (const VolumePlan& volume : entry.volumes) {
    const ClaimVolume* wanted = std::get_if<ClaimVolume>(&volume.kind);
    if (wanted == nullptr) continue;
    Result<client::Object> claim = client::get(client_, kube::kPersistentVolumeClaims, ns, wanted->claim);
    if (!claim.ok()) {
      return Error{
          claim.error().kind,
          fmt::format("MountVolume.SetUp failed for volume \"{}\" : persistentvolumeclaim \"{}\" not found",
                      volume.name, wanted->claim)};
    }
    tell_size(**claim);
    if (text_at(**claim, {"status", "phase"}) == "Bound") continue;
    json::object body = **claim;
    json::object status{{"phase", "Bound"}};
    if (const json::value* modes = kube::find(body, {"spec", "accessModes"})) status["accessModes"] = *modes;
    if (const json::value* sizes = kube::find(body, {"spec", "resources", "requests"}))
      status["capacity"] = *sizes;
    body["status"] = std::move(status);
    (void)client::update_status(client_, kube::kPersistentVolumeClaims, ns, std::move(body)).ok();
  }
  return Done{};
}

// Nothing holds a folder to a size: whoever looks at the claim is told, once.
void Node::Agent::tell_size(const json::object& claim) {
  const json::value* size = kube::find(claim, {"spec", "resources", "requests", "storage"});
  if (size == nullptr || !told_claims_.insert(std::string(kube::uid_of(claim))).second) return;
  PodEvent event{
      true, "SizeNotEnforced",
      fmt::format("the size of {} is not enforced: the claim is a folder of this machine and may "
                  "grow as large as its disk",
                  size->is_string() ? std::string(kube::view(size->get_string())) : json::serialize(*size))};
  (void)events_->submit(
      [this, claim, event, now = options_.clock()] { recorder_.tell(client_, claim, event, now); });
}

// On a thread of its own: with many pods the kernel's waits are waited for together.
void Node::Agent::prepare(Entry& entry) {
  entry.busy = true;
  bool taken = makers_->submit([this, plan = plan_pod(*entry.pod, options_.cluster_domain)] {
    if (is_stopping()) return;
    Result<std::string> ip = runtime_.prepare(plan);
    (void)post([this, uid = plan.uid, ip] { on_prepared(uid, ip); });
  });
  CHECK(taken);
}

Result<Done> Node::Agent::set_up_volumes(const std::string& uid, Entry& entry) {
  Result<Around> around = around_of(entry);
  if (!around.ok()) return around.error();
  Result<std::vector<VolumePlan>> volumes = plan_volumes(*allocated_pod(entry), *around);
  if (!volumes.ok()) return volumes.error();
  entry.volumes = *volumes;
  if (Result<Done> bound = bind_claims(entry); !bound.ok()) return bound;
  std::string ns(kube::namespace_of(*entry.pod));
  return volumes_.set_up(ns, uid, entry.volumes, fs_group_of(*entry.pod));
}

void Node::Agent::on_prepared(const std::string& uid, const Result<std::string>& ip) {
  auto found = entries_.find(uid);
  CHECK(found != entries_.end());
  Entry& entry = found->second;
  Time now = options_.clock();
  entry.busy = false;
  entry.dirty = true;
  if (!ip.ok()) return entry.machine.on_prepared(ip.error(), now);
  entry.ip = *ip;
  if (Result<Done> done = set_up_volumes(uid, entry); !done.ok()) {
    return entry.machine.on_prepared(done.error(), now);
  }
  entry.machine.on_prepared(ip, now);
  hosts_dirty_ = true;
  bool begun = !containers_of_pod(uid).empty();
  if (begun) return;
  for (const std::string& words : cannot_honour(*entry.pod)) tell(entry, {true, "NotHonoured", words}, now);
}

std::vector<std::string> Node::Agent::cannot_honour(const json::object& pod) {
  Around around;
  Result<std::vector<VolumePlan>> volumes = plan_volumes(pod, around);
  std::vector<ContainerPlan> plans;
  std::string uid(kube::uid_of(pod));
  for (bool init : {true, false}) {
    for (const json::object* container : containers_of(pod, init)) {
      // Values that are read elsewhere do not matter here.
      json::object bare = *container;
      bare.erase("env");
      bare.erase("envFrom");
      Result<ContainerWish> wish = plan_container(pod, bare, around);
      if (!wish.ok()) continue;
      ContainerPlan plan = std::move(wish.value().plan);
      for (const MountWish& mount : wish->mounts) {
        Mount as_is{"", mount.target, mount.read_only, std::nullopt, false};
        as_is.source = options_.data_dir / "pods" / uid / "volumes" / mount.volume / mount.sub_path;
        const json::array* sources = kube::array_at(pod, {"spec", "volumes"});
        for (const json::value& entry : kube::or_empty(sources)) {
          if (!entry.is_object() || text_at(entry.get_object(), {"name"}) != mount.volume) continue;
          const json::object& volume = entry.get_object();
          as_is.memory = text_at(volume, {"emptyDir", "medium"}) == "Memory";
          std::string_view host = text_at(volume, {"hostPath", "path"});
          if (!host.empty()) as_is.source = std::filesystem::path(host) / mount.sub_path;
          std::string_view claim = text_at(volume, {"persistentVolumeClaim", "claimName"});
          if (!claim.empty()) {
            as_is.source = volumes_.claim_folder(std::string(kube::namespace_of(pod)), std::string(claim));
          }
        }
        plan.mounts.push_back(std::move(as_is));
      }
      plans.push_back(std::move(plan));
    }
  }
  std::vector<std::string> words = runtime_.cannot_honour(plan_pod(pod, options_.cluster_domain), plans);
  for (std::string& more : not_honoured(pod)) words.push_back(std::move(more));
  return words;
}

Result<ContainerPlan> Node::Agent::plan_start(Entry& entry, const StartContainer& what, std::string& reason) {
  std::string uid(kube::uid_of(*entry.pod));
  std::string ns(kube::namespace_of(*entry.pod));
  std::string name(kube::name_of(*entry.pod));
  const Object pod = allocated_pod(entry);
  const json::object* container = find_container(*pod, what.name);
  CHECK(container != nullptr);
  reason = "CreateContainerConfigError";
  Result<Around> around = around_of(entry);
  if (!around.ok()) return around.error();
  Result<ContainerWish> wish = plan_container(*pod, *container, *around);
  if (!wish.ok()) return wish.error();
  for (const std::string& words : wish->left_out) {
    tell(entry, {true, "InvalidEnvironmentVariableNames", words}, options_.clock());
  }
  ContainerPlan plan = wish->plan;
  plan.id.attempt = what.attempt;
  Result<std::vector<Mount>> mounts = volumes_.mounts(ns, uid, entry.volumes, wish->mounts);
  if (!mounts.ok()) return mounts.error();
  plan.mounts = *mounts;
  plan.log_file = logs_.file(ns, name, uid, what.name, what.attempt);
  logs_.remember(*entry.pod);
  reason = "CreateContainerError";
  plan.termination_file =
      options_.data_dir / "pods" / uid / "termination" / fmt::format("{}.{}", what.name, what.attempt);
  Result<Done> made = make_folders(plan.termination_file.parent_path());
  if (made.ok()) made = write_soon(plan.termination_file, "", 0666);
  if (!made.ok()) return made.error();
  plan.mounts.push_back({plan.termination_file, wish->termination_path, false, std::nullopt, false});
  std::optional<std::vector<int>> gpus = devices_.assign(uid, what.name, wish->gpus, options_.gpus);
  if (!gpus) return Error{ErrorKind::kUnavailable, "not enough GPUs are free"};
  plan.gpus = *gpus;
  bool told = std::any_of(plan.env.begin(), plan.env.end(),
                          [](const auto& pair) { return pair.first == "CUDA_VISIBLE_DEVICES"; });
  if (!options_.gpus.empty() && !told) {
    plan.env.emplace_back("CUDA_VISIBLE_DEVICES", fmt::format("{}", fmt::join(plan.gpus, ",")));
  }
  if (wish->gpus > 0) {
    made = write_whole(options_.data_dir / "gpus.json", devices_.to_text());
    if (!made.ok()) return made.error();
  }
  return plan;
}

void Node::Agent::start_container(Entry& entry, const StartContainer& what, Time now) {
  entry.dirty = true;
  if (const json::object* container = find_container(*entry.pod, what.name)) {
    std::string image(text_at(*container, {"image"}));
    entry.machine.on_image(what.name, image, runtime_.image_id(image));
  }
  std::string reason;
  Result<ContainerPlan> plan = plan_start(entry, what, reason);
  if (!plan.ok()) return entry.machine.on_start_failed(what.name, reason, plan.error().message, now);
  Result<Done> started = runtime_.start(*plan);
  if (!started.ok()) {
    return entry.machine.on_start_failed(what.name, "CreateContainerError", started.error().message, now);
  }
  entry.machine.on_started(what.name);
}

void Node::Agent::finish(const std::string& uid, Entry& entry) {
  if (entry.busy) return;
  checks_.drop(uid);
  entry.busy = true;
  bool taken = makers_->submit([this, uid] {
    bool is_gone = runtime_.destroy(uid).ok();
    (void)post([this, uid, is_gone] { on_destroyed(uid, is_gone); });
  });
  CHECK(taken);
}

void Node::Agent::on_destroyed(const std::string& uid, bool is_gone) {
  auto found = entries_.find(uid);
  CHECK(found != entries_.end());
  Entry& entry = found->second;
  entry.busy = false;
  if (!is_gone) {
    entry.wake = entry.destroy_after = options_.clock() + kDestroyRetry;
    return;
  }
  entry.finished = entry.dirty = true;
  give_back(uid, entry);
  hosts_dirty_ = true;
}

// The pod is no more: nothing of it may go on.
void Node::Agent::drop(const std::string& uid, Time now) {
  auto found = entries_.find(uid);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  if (!entry.finished) {
    if (!entry.destroy_after || *entry.destroy_after <= now) finish(uid, entry);
    gone_.insert(uid);
    return;
  }
  volumes_.tear_down(uid);
  (void)events_->submit([this, uid] { recorder_.forget(uid); });
  std::erase_if(samples_, [&](const auto& sample) { return sample.first.pod_uid == uid; });
  entries_.erase(found);
  hosts_dirty_ = true;
}

void Node::Agent::end_all() {
  // All at once first: then none is waited for alone.
  for (const ContainerStatus& status : runtime_.list()) {
    if (status.phase == ContainerPhase::kRunning) (void)runtime_.signal(status.id, SIGKILL).ok();
  }
  std::vector<std::string> uids = runtime_.pods();
  WorkPool enders(kEndersAtStop, uids.size());
  for (const std::string& uid : uids) {
    CHECK(enders.submit([this, uid] { (void)runtime_.destroy(uid).ok(); }));
  }
}

}  // namespace trainyard::node
