#include "hub/carry_out.h"

#include "base/match.h"
#include "kube/scheduling.h"
#include "store/binding.h"

namespace trainyard::hub {

namespace {

Result<Answer> with_object(Result<Object> object) {
  if (!object.ok()) return object.error();
  Answer answer;
  answer.revision = kube::version_of(**object);
  answer.object = std::move(object).value();
  return answer;
}

Result<Answer> with_page(Result<store::Page> page) {
  if (!page.ok()) return page.error();
  Answer answer;
  answer.items = std::move(page.value().items);
  answer.revision = page->revision;
  answer.continue_token = std::move(page.value().continue_token);
  answer.remaining = page->remaining;
  return answer;
}

}  // namespace

Result<Answer> carry_out(store::Store& store, kube::Request& request, Time now) {
  const kube::Resource& resource = request.resource;
  const std::string& ns = request.ns;
  const kube::WriteOptions& options = request.options;
  return std::visit(
      Match{
          [&](kube::Get& get) { return with_object(store.get(resource, ns, get.name)); },
          [&](kube::List& list) { return with_page(store.list(resource, ns, list)); },
          [&](kube::Watch&) -> Result<Answer> {
            return Error{ErrorKind::kInvalid, "a watch is opened, not submitted"};
          },
          [&](kube::Create& create) {
            if (resource == kube::kBindings) return with_object(store::bind(store, ns, create.body, now));
            return with_object(store.create(resource, ns, std::move(create.body), now, options));
          },
          [&](kube::Update& update) {
            if (update.part == kube::Part::kResize) {
              return with_object(store.resize(resource, ns, std::move(update.body), now, options));
            }
            return with_object(store.update(resource, ns, std::move(update.body), now, options));
          },
          [&](kube::UpdateStatus& update) {
            return with_object(store.update_status(resource, ns, std::move(update.body), now, options));
          },
          [&](kube::Patch& patch) {
            bool is_new = patch.kind == kube::PatchKind::kApply && !store.get(resource, ns, patch.name).ok();
            Result<Answer> answer = with_object(store.patch(resource, ns, patch, now, options));
            if (answer.ok()) answer.value().created = is_new;
            return answer;
          },
          [&](kube::Delete& remove) {
            return with_object(store.remove(resource, ns, remove.name, remove.options, now, options.dry_run));
          },
          [&](kube::DeleteCollection& which) -> Result<Answer> {
            Result<std::vector<Object>> removed =
                store.remove_collection(resource, ns, which, now, options.dry_run);
            if (!removed.ok()) return removed.error();
            Answer answer;
            answer.items = std::move(removed).value();
            answer.revision = store.revision();
            return answer;
          },
      },
      request.verb);
}

}  // namespace trainyard::hub
