#include "small_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/match.h"

namespace trainyard::laws {
namespace {

using namespace model;

template <typename List>
void drop(List& list, const std::string& uid) {
  std::erase_if(list, [&](const auto& each) { return each.uid == uid; });
}

}  // namespace

void SmallWorld::carry_out(const Plan& plan, Observation& seen) {
  auto uid = [&] { return fmt::format("uid-{}", next_uid_++); };
  const JobSpec& spec = seen.spec;
  for (const Step& step : plan.steps) {
    std::visit(Match{[&](const AddFinalizer&) { seen.has_finalizer = true; },
                     [&](const WriteState&) { seen.state = plan.state; },
                     [&](const DeletePod& s) { drop(seen.pods, s.uid); },
                     [&](const DeleteService& s) { drop(seen.services, s.uid); },
                     [&](const DeleteCompanion& s) { drop(seen.companions, s.uid); },
                     [&](const DeleteGang&) { seen.gang.reset(); },
                     [&](const DeleteCommand& s) { drop(seen.commands, s.uid); },
                     [&](const UpsertGang& s) {
                       seen.gang = GangSeen{uid(), true, GangPhase::kRunning, s.gang, ""};
                     },
                     [&](const UpsertCompanion& s) {
                       drop(seen.companions, s.uid);
                       for (const Companion& wanted : spec.companions) {
                         if (wanted.kind == s.kind && wanted.name == s.name) {
                           seen.companions.push_back({s.kind, s.name, uid(), wanted.digest, true});
                         }
                       }
                     },
                     [&](const UpsertTensorBoard&) {
                       seen.tensorboard = TensorBoardSeen{*spec.tensorboard, uid(), true};
                     },
                     [&](const CreateService& s) {
                       ServiceSeen service;
                       service.id = s.id;
                       service.name = spec.pod_name(s.id);
                       service.uid = uid();
                       seen.services.push_back(std::move(service));
                     },
                     [&](const CreatePod& s) {
                       PodSeen pod;
                       pod.id = s.id;
                       pod.name = spec.pod_name(s.id);
                       pod.uid = uid();
                       pod.attempt = s.attempt;
                       seen.pods.push_back(std::move(pod));
                     },
                     [&](const DropFinalizer&) { seen.has_finalizer = false; }, [&](const DeleteJob&) {}},
               step);
  }
  seen.state = plan.state;
  std::sort(seen.pods.begin(), seen.pods.end(), [](const PodSeen& a, const PodSeen& b) {
    return std::tie(a.id, a.name) < std::tie(b.id, b.name);
  });
  std::sort(seen.services.begin(), seen.services.end(),
            [](const ServiceSeen& a, const ServiceSeen& b) { return a.id < b.id; });
  std::sort(seen.companions.begin(), seen.companions.end(),
            [](const CompanionSeen& a, const CompanionSeen& b) {
              return std::tie(a.kind, a.name) < std::tie(b.kind, b.name);
            });
}

void SmallWorld::turn(Observation& seen, Time now) const {
  for (PodSeen& pod : seen.pods) {
    if (pod.phase == PodPhase::kPending) {
      pod.phase = PodPhase::kRunning;
      pod.ready = true;
      pod.scheduled = true;
      pod.created_at = now;
    } else if (pod.phase == PodPhase::kRunning) {
      pod.exit_code = pod.attempt == 0 ? first_exit_code_ : 0;
      pod.phase = *pod.exit_code == 0 ? PodPhase::kSucceeded : PodPhase::kFailed;
      pod.ready = false;
      pod.finished_at = now;
    }
  }
}

}  // namespace trainyard::laws
