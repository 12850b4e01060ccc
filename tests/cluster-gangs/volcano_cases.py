"""Real Volcano, and Trainyard beside it: it hands its gangs over, and keeps out of what is Volcano's."""

from cases import TFJOB, VOLCANO_JOB, run_seed, seed
from gangs import pod_group
from yard import case, check, same, until


@case("real Volcano: seed 004's TFJob with a PodGroup that the user made")
def seed_tfjob(world):
    world.volcano("scheduler")
    world.operator("--gang-scheduler-name", "volcano")
    run_seed(world, seed("tfjob-volcano.yaml"), TFJOB, "vc-podgroup", 6)
    schedulers = {one["spec"]["schedulerName"] for one in world.pods()}
    check(schedulers <= {"volcano"}, f"pods are handed to {schedulers}")


@case("real Volcano's scheduler: seed 004's Volcano Job by our operator")
def seed_job_ours(world):
    world.volcano("scheduler")
    world.operator("--own-volcano-jobs")
    run_seed(world, seed("volcano-job.yaml"), VOLCANO_JOB, "vc-podgroup", 3)


def seed_as_admitted(world):
    """The Volcano Job with what Volcano's webhook, which does not run here, would add to it."""
    if not world.api.find("vc-queue", None, "default"):
        world.api.create("vc-queue", None, {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
                                            "metadata": {"name": "default"}, "spec": {"weight": 1}})
    return seed("volcano-job.yaml").replace("  schedulerName: volcano\n", "  schedulerName: volcano\n  queue: default\n  maxRetry: 3\n")


@case("real Volcano, scheduler and controllers: seed 004's Volcano Job, which our operator leaves alone")
def seed_job_theirs(world):
    world.volcano("scheduler", "controller-manager")
    world.operator("--gang-scheduler-name", "volcano")
    run_seed(world, seed_as_admitted(world), VOLCANO_JOB, "vc-podgroup", 3)


@case("real Volcano's controllers, our scheduler: seed 004's Volcano Job")
def seed_job_their_controllers(world):
    world.volcano("controller-manager")
    world.scheduler("--scheduler-name", "volcano")
    run_seed(world, seed_as_admitted(world), VOLCANO_JOB, "vc-podgroup", 3)


def gang_job(name, workers, cpu):
    container = {"name": "tensorflow", "image": "example/none:1", "resources": {"requests": {"cpu": cpu}}}
    role = {"replicas": workers, "restartPolicy": "Never", "template": {"spec": {"containers": [container]}}}
    return {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": name},
            "spec": {"successPolicy": "AllWorkers", "tfReplicaSpecs": {"Worker": role}}}


def placed(world):
    """How many pods of each job there are, and how many of them have a node."""
    counts = {"first": [0, 0], "second": [0, 0]}
    for one in world.pods():
        count = counts[one["metadata"]["labels"]["training.kubeflow.org/job-name"]]
        count[0] += 1
        count[1] += bool(one["spec"].get("nodeName"))
    return counts


def one_then_the_other(world, pods_of_loser):
    """Two jobs that each need 6 of 8 cpu: one runs, then the other, and never a part of either. The group of the one that waits."""
    world.add_nodes(2, 4)
    world.volcano("scheduler")
    world.operator("--gang-scheduler-name", "volcano")
    for name in ("first", "second"):
        world.api.create("tfjob", world.ns, gang_job(name, 6, "1"))
    until(lambda: sorted(placed(world).values()) == [[pods_of_loser, 0], [6, 6]],
          lambda: f"one is whole, the other has no node: {placed(world)}")
    winner, loser = ("first", "second") if placed(world)["first"][1] else ("second", "first")
    group = world.api.get("vc-podgroup", world.ns, loser)
    for phase in ("Running", "Succeeded"):
        same(placed(world)[loser], [pods_of_loser, 0], "the other waits while the first runs")
        for one in world.pods():
            if one["metadata"]["labels"]["training.kubeflow.org/job-name"] == winner:
                world.play(one, phase)
    until(lambda: placed(world)[loser] == [6, 6], lambda: f"the other is whole: {placed(world)}")
    return group


@case("real Volcano: two gangs that each need more than half; the second has no pods until Volcano lets it in")
def held_back(world):
    group = one_then_the_other(world, 0)
    same(group["spec"]["minMember"], 6, "minMember")
    same(group["spec"]["minResources"], {"cpu": "6"}, "minResources")


@case("real Volcano: two gangs that each need more than half, both let in: one is placed whole, then the other")
def both_let_in(world):
    # Groups that the user made say nothing of resources, so Volcano lets them in at once.
    for name in ("first", "second"):
        world.api.create("vc-podgroup", world.ns, pod_group(name, 6))
    group = one_then_the_other(world, 6)
    check("minResources" not in group["spec"], f"the user's own group is used as it is: {group['spec']}")
