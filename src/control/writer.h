// Writer: single writes on behalf of one job in one pass, each made safe: proved fresh,
// with preconditions, looked up again when their fate is unknown. What the caches must
// show afterwards is gathered on the way. Used by apply, which decides the order.
//
// Resource of one pass. A method answers with the error that stops the pass; a
// Result<bool> is true when something was really done now, false when it was done before.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/barrier.h"
#include "control/apply.h"

namespace trainyard::control {

// An object by its name, and which of that name is meant.
struct Named {
  std::string name;
  std::string uid;
};

class Writer {
 public:
  // `context` outlives it.
  Writer(const ApplyContext& context, Time now) : c_(context), now_(now), job_(context.job) {}
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // The job itself, with its version as precondition. `once_more` gives an equal status: it is asked
  // when nobody knows whether the write was done.
  std::optional<Error> write_status(json::object status, const std::function<json::object()>& once_more);
  std::optional<Error> set_finalizer(bool present);
  std::optional<Error> remove_job();

  // Children. `stream` is the cache that will show them, -1 for none.
  Result<bool> create(const kube::Resource& resource, int stream, json::object body);
  // Several of one kind at once; an answer for each, in their order, or one error for all. `once_more` gives
  // an equal body: it is asked when something is found in the place of one.
  std::vector<Result<bool>> create_all(const kube::Resource& resource, int stream,
                                       std::vector<json::object> bodies,
                                       const std::function<json::object(size_t)>& once_more);
  // True: it was there, and is gone or going by our hand.
  Result<bool> remove(const kube::Resource& resource, int stream, const std::string& name,
                      const std::string& uid);
  // Several of one kind at once, as create_all.
  std::vector<Result<bool>> remove_all(const kube::Resource& resource, int stream,
                                       const std::vector<Named>& objects);
  // Looks whether an object that left the cache is really gone; if only its labels or its
  // owner are, gives them back. True: it is there after all.
  Result<bool> recover(const kube::Resource& resource, int stream, const json::object& last);
  // Bring what the cache shows to what is rendered; fields of others stay.
  Result<bool> update_gang(const kube::Resource& resource, int stream, const json::object& rendered);
  Result<bool> update_companion(const kube::Resource& resource, int stream, const json::object& rendered);

  const client::Object& job() const { return job_; }
  // The job as the server answered the write of its status; null when there was none, or no answer.
  const client::Object& answered() const { return answered_; }
  int writes() const { return writes_; }
  std::vector<client::Expected> take_expected() { return std::move(expected_); }

 private:
  std::optional<Error> prove_fresh();
  int jobs_stream() const { return c_.view.in(c_.view.dialects[c_.key.dialect].jobs, c_.key.ns); }
  client::Object stored(int stream, std::string_view name) const;
  Result<bool> gone_or_there(const kube::Resource& resource, int stream, const Named& object,
                             const Result<client::Reply>& reply);
  Result<bool> made_or_found(const kube::Resource& resource, int stream,
                             const std::function<json::object()>& wanted, const Result<client::Reply>& reply);
  // After a write to the job: takes the new version over.
  void job_became(const client::Object& job);
  // After a write to the job that failed: finds out what to wait for.
  Error job_lost(Error error);

  Result<bool> look_at_existing(const kube::Resource& resource, int stream, const json::object& wanted,
                                const Error& why);
  bool can_serve(const json::object& wanted, const json::object& found) const;
  Result<bool> take_back(const kube::Resource& resource, int stream, const json::object& wanted,
                         const json::object& found);
  Result<bool> update(const kube::Resource& resource, int stream, json::object body);
  bool still_there(const kube::Resource& resource, const std::string& name, const std::string& uid);
  bool is_same_replica(const json::object& wanted, const json::object& found) const;
  Error not_ours(const kube::Resource& resource, const json::object& found) const;

  void expect_version(int stream, const json::object& object);
  void expect_gone(int stream, std::string_view name, std::string_view uid);

  // Fixed.
  const ApplyContext& c_;
  Time now_;
  // State.
  client::Object job_;
  client::Object answered_;
  bool fresh_ = false;
  int writes_ = 0;
  std::vector<client::Expected> expected_;
};

}  // namespace trainyard::control
