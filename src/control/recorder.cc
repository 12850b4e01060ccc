#include "control/recorder.h"

#include "base/hash.h"
#include "kube/access.h"
#include "kube/objects.h"

namespace trainyard::control {

namespace {

// Names in the order of what they tell, as a list is sorted by name: the time, the turn
// within it, and a little of the words, which tells apart what two recorders say at once.
std::string event_name(std::string_view object, std::string_view words, uint64_t turn, Time now) {
  constexpr size_t kObjectNameMax = 230;
  return fmt::format("{}.{:011x}{:03x}{:02x}", object.substr(0, kObjectNameMax),
                     static_cast<uint64_t>(now.ms), turn % 0x1000, fnv1a(words) % 0x100);
}

}  // namespace

void Recorder::tell(client::Client& client, const json::object& about, std::string_view component,
                    const dialect::EventText& text, Time now) {
  Words words{std::string(kube::uid_of(about)), text.warning, text.reason, text.message,
              std::string(component)};
  std::string ns(kube::namespace_of(about));
  auto found = told_.find(words);
  if (found != told_.end() && tell_again(client, ns, found->second, now)) return;
  kube::NewEvent event;
  event.name = event_name(kube::name_of(about), std::get<0>(words) + text.reason + text.message, turns_, now);
  event.ns = ns;
  event.involved = kube::involved_object(about);
  event.type = text.warning ? kube::EventType::kWarning : kube::EventType::kNormal;
  event.reason = text.reason;
  event.message = text.message;
  event.component = component;
  event.first = now;
  event.last = now;
  if (!client::create(client, kube::kEvents, ns, kube::event(event)).ok()) return;
  if (found != told_.end()) {
    oldest_.erase(found->second.turn);
    told_.erase(found);
  }
  make_room();
  oldest_.emplace(turns_, words);
  told_.emplace(std::move(words), Told{event.name, 1, turns_++});
}

bool Recorder::tell_again(client::Client& client, std::string_view ns, Told& told, Time now) {
  json::object body{{"count", told.count + 1}, {"lastTimestamp", format_rfc3339(now)}};
  Result<client::Object> patched =
      client::patch(client, kube::kEvents, ns, {told.name, kube::PatchKind::kMerge, std::move(body)});
  if (patched.ok()) ++told.count;
  // One that has expired at the server is told as if for the first time.
  return patched.ok() || patched.error().kind != ErrorKind::kNotFound;
}

void Recorder::make_room() {
  if (told_.size() < kEventsRememberedMax) return;
  told_.erase(oldest_.begin()->second);
  oldest_.erase(oldest_.begin());
}

}  // namespace trainyard::control
