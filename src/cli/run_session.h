// RunSession: the jobs of one `trainyard run` in a plane, watched and shown until they have
// all ended or the user stops them. Resource; one thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/disk_room.h"
#include "cli/interrupts.h"
#include "cli/live_screen.h"
#include "cli/manifest.h"
#include "cli/plane.h"
#include "cli/run_logs.h"
#include "cli/run_view.h"
#include "cli/tfevents.h"

namespace trainyard::cli {

class RunSession {
 public:
  // Everything is borrowed.
  // `logs`: the folder where the plane keeps what replicas print.
  RunSession(Plane& plane, const RunJobs& command, const Console& console, Interrupts& interrupts,
             std::filesystem::path logs);

  // Creates what the documents describe, the jobs last. REQUIRES: the jobs are valid.
  Result<Done> create(const std::vector<Object>& documents);
  // Shows the jobs until they have ended; the exit status.
  int watch();
  // How the replicas are to be left when the plane stops.
  Plane::Leave leave() const;

 private:
  struct Job {
    const dialect::Dialect* dialect = nullptr;
    std::string ns;
    std::string name;
    client::Object object;  // as seen last; null when it is gone
    std::vector<client::Object> pods;
    JobView view;
    bool ended = false;
    bool is_there = true;  // the API still has it
    bool removed = false;  // its removal was accepted
    std::string refusal;   // of its removal, as it was told
    // Folders that replicas may write event files to.
    std::map<std::filesystem::path, EventFolder> events;
  };

  Result<Done> create_other(const Object& document);
  // Why the document could not be created, with its place.
  Error refused(const Object& document, const Error& error) const;
  Result<Done> ensure_namespace(const std::string& ns);
  // The pods of all jobs, by the uid of the job.
  using PodsByOwner = std::map<std::string, std::vector<client::Object>, std::less<>>;
  PodsByOwner list_pods();
  // False: as it was at the last look.
  bool take_news(Job& job, PodsByOwner& pods);
  void look(Job& job, PodsByOwner& pods);
  void view_anew(Job& job, const std::vector<const json::object*>& views,
                 const std::vector<std::string>& uids);
  void hear_unseen_pods(const Job& job);
  // What the replica that failed the job printed last, under a line that says so; "" when there is nothing to
  // say.
  std::string last_words_of(const Job& job) const;
  void look_for_progress(Job& job);
  void show();
  // What to do about output that could not be written.
  void mend_output();
  void say(const std::string& line);
  void tell_of_disk(const std::string& news);
  // "" with a single job, else "job/".
  std::string prefix_of(const Job& job) const;
  // How often the user asked to stop: to read no more is to ask once.
  int asked() const { return interrupts_.count() + (reader_left_ ? 1 : 0); }
  void stop_jobs();
  void remove_jobs();
  bool all_ended() const;
  int exit_status() const;
  Screen screen() const;

  // Fixed.
  Plane& plane_;
  const RunJobs& command_;
  const Console& console_;
  Interrupts& interrupts_;
  const std::filesystem::path logs_kept_;
  // State.
  std::vector<Job> jobs_;
  RunLogs logs_;
  DiskRoom disk_;
  LiveScreen live_;
  std::string scrolled_;           // lines that wait to be shown
  std::vector<std::string> news_;  // what changed, to be said after what replicas had printed
  size_t name_width_ = 0;
  std::map<std::string, size_t> positions_;  // of replicas, for their colours
  int stops_ = 0;                            // how often the user asked, as far as that was heeded
  bool reader_left_ = false;
  int64_t looks_ = 0;
  int looks_after_end_ = 0;
};

}  // namespace trainyard::cli
