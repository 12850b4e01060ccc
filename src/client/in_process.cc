#include "client/in_process.h"

#include "base/match.h"
#include "kube/scheduling.h"
#include "store/binding.h"

namespace trainyard::client {

namespace {

Result<Reply> with_object(const Result<store::Object>& object) {
  if (!object.ok()) return object.error();
  Reply reply;
  reply.object = *object;
  return reply;
}

Result<Reply> with_page(Result<store::Page> page) {
  if (!page.ok()) return page.error();
  Reply reply;
  reply.items = std::move(page.value().items);
  reply.revision = page->revision;
  reply.continue_token = std::move(page.value().continue_token);
  return reply;
}

Result<Reply> with_events(const Result<std::vector<store::WatchEvent>>& events) {
  if (!events.ok()) return events.error();
  Reply reply;
  for (const store::WatchEvent& event : *events) reply.events.push_back(to_watch_event(event));
  return reply;
}

}  // namespace

WatchEvent to_watch_event(const store::WatchEvent& event) {
  switch (event.kind) {
    case store::ChangeKind::kAdded:
      return {EventKind::kAdded, event.object};
    case store::ChangeKind::kModified:
      return {EventKind::kModified, event.object};
    case store::ChangeKind::kDeleted:
      return {EventKind::kDeleted, event.object};
    case store::ChangeKind::kBookmark:
      return {EventKind::kBookmark, event.object};
  }
  CHECK(false);
  return {};
}

Result<Reply> carry_out(store::Store& store, kube::Request&& request, Time now) {
  const kube::Resource& resource = request.resource;
  const std::string& ns = request.ns;
  return std::visit(
      Match{
          [&](const kube::Get& get) { return with_object(store.get(resource, ns, get.name)); },
          [&](const kube::List& list) { return with_page(store.list(resource, ns, list)); },
          [&](const kube::Watch& watch) { return with_events(store.watch(resource, ns, watch)); },
          [&](kube::Create& create) {
            if (resource == kube::kBindings) return with_object(store::bind(store, ns, create.body, now));
            return with_object(store.create(resource, ns, std::move(create.body), now, request.options));
          },
          [&](kube::Update& update) {
            if (update.part == kube::Part::kResize) {
              return with_object(store.resize(resource, ns, std::move(update.body), now, request.options));
            }
            return with_object(store.update(resource, ns, std::move(update.body), now, request.options));
          },
          [&](kube::UpdateStatus& update) {
            return with_object(
                store.update_status(resource, ns, std::move(update.body), now, request.options));
          },
          [&](const kube::Patch& patch) {
            return with_object(store.patch(resource, ns, patch, now, request.options));
          },
          [&](const kube::Delete& remove) {
            return with_object(
                store.remove(resource, ns, remove.name, remove.options, now, request.options.dry_run));
          },
          [&](const kube::DeleteCollection& which) -> Result<Reply> {
            Result<std::vector<store::Object>> removed =
                store.remove_collection(resource, ns, which, now, request.options.dry_run);
            if (!removed.ok()) return removed.error();
            Reply reply;
            reply.items = std::move(removed).value();
            return reply;
          },
      },
      request.verb);
}

Result<Reply> InProcess::send(kube::Request request) {
  return carry_out(store_, std::move(request), clock_());
}

}  // namespace trainyard::client
