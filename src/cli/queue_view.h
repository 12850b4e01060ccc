// What `trainyard queue` shows: queues, what they hold and who waits in them, from the documents
// of a cluster. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "client/client.h"
#include "kube/objects.h"

namespace trainyard::cli {

struct QueueDocuments {
  std::vector<client::Object> queues;  // of Volcano and T9k
  std::vector<client::Object> groups;  // of all four kinds
  std::vector<client::Object> pods;
  std::vector<client::Object> nodes;
};

struct GangLine {
  kube::PodGroup group;
  std::string state;   // by its pods: Running, Waiting, Done
  std::string reason;  // why it waits
};

struct QueueLine {
  kube::Queue queue;
  bool is_object = true;  // false: `default`, which is there without anybody having made it
  std::vector<GangLine> gangs;
  int running = 0;
  int waiting = 0;
  // Of what it holds, the part of the cluster, in hundredths, that is largest; -1 when not known.
  int share_percent = -1;
  std::string share_of;  // the resource
};

// By name; `default` is always among them.
std::vector<QueueLine> queue_lines(const QueueDocuments& documents);

std::string queue_table(const std::vector<QueueLine>& lines);
std::string queue_description(const QueueLine& line, Time now);
// The same for programs; `with_gangs`: and each of its gangs.
json::object queue_document(const QueueLine& line, bool with_gangs);

}  // namespace trainyard::cli
