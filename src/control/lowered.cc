#include "control/lowered.h"

#include "kube/access.h"
#include "kube/member.h"
#include "kube/meta.h"
#include "kube/same.h"

namespace trainyard::control {

namespace {

// Whether two objects agree in every member but those that are let differ.
bool agree(const json::object& a, const json::object& b, std::initializer_list<json::string_view> but,
           bool (*same_member)(json::string_view key, const json::value& a, const json::value& b)) {
  auto counts = [&](json::string_view key) { return std::find(but.begin(), but.end(), key) == but.end(); };
  auto covers = [&](const json::object& one, const json::object& other, bool compares) {
    return std::all_of(one.begin(), one.end(), [&](const json::key_value_pair& member) {
      if (!counts(member.key())) return true;
      const json::value* found = kube::member_of(other, kube::view(member.key()));
      return found != nullptr && (!compares || same_member(member.key(), member.value(), *found));
    });
  };
  return covers(b, a, false) && covers(a, b, true);
}

bool same_metadata(json::string_view, const json::value& a, const json::value& b) { return kube::same(a, b); }

bool same_part(json::string_view key, const json::value& a, const json::value& b) {
  if (key != "metadata" || !a.is_object() || !b.is_object()) return kube::same(a, b);
  return agree(a.get_object(), b.get_object(), {"resourceVersion", "managedFields"}, same_metadata);
}

}  // namespace

bool is_same_manifest(const json::object& a, const json::object& b) {
  return agree(a, b, {"status"}, same_part);
}

dialect::LowerResult Lowered::of(const JobKey& key, const client::Object& job,
                                 const dialect::Dialect& dialect, const dialect::Settings& settings) {
  {
    std::lock_guard lock(mutex_);
    auto found = entries_.find(key);
    if (found != entries_.end() && (found->second.job == job || is_same_manifest(*found->second.job, *job))) {
      if (found->second.job != job) found->second.state.reset();
      found->second.job = job;
      return found->second.spec;
    }
  }
  dialect::LowerResult result = dialect.lower(*job, settings);
  if (const auto* spec = std::get_if<model::JobSpec>(&result)) {
    std::lock_guard lock(mutex_);
    if (entries_.size() >= kLoweredMax && !entries_.contains(key)) entries_.clear();
    entries_.insert_or_assign(key, Entry{job, *spec, std::nullopt});
  }
  return result;
}

model::JobState Lowered::recall(const JobKey& key, const client::Object& job, const model::JobSpec& spec,
                                const dialect::Dialect& dialect) {
  std::lock_guard lock(mutex_);
  auto found = entries_.find(key);
  if (found == entries_.end() || found->second.job != job) return dialect.recall(spec, *job);
  std::optional<model::JobState>& state = found->second.state;
  if (!state) state = dialect.recall(spec, *job);
  return *state;
}

void Lowered::wrote(const JobKey& key, const client::Object& before, const client::Object& after,
                    const model::JobState& state) {
  std::lock_guard lock(mutex_);
  auto found = entries_.find(key);
  if (found == entries_.end() || found->second.job != before) return;
  found->second.job = after;
  found->second.state = state;
}

client::Object Lowered::known(const JobKey& key, int64_t version) const {
  std::lock_guard lock(mutex_);
  auto found = entries_.find(key);
  bool is_it = found != entries_.end() && version != 0 && kube::version_of(*found->second.job) == version;
  return is_it ? found->second.job : nullptr;
}

void Lowered::forget(const JobKey& key) {
  std::lock_guard lock(mutex_);
  entries_.erase(key);
}

size_t Lowered::size() const {
  std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace trainyard::control
