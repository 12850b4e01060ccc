"""What a user of the kubeflow-training SDK does, with the SDK as it is on PyPI. Run by install_cases."""

import sys
import time

from kubeflow.training import KubeflowOrgV1ReplicaSpec, KubeflowOrgV1RunPolicy, KubeflowOrgV1TFJob, KubeflowOrgV1TFJobSpec, TrainingClient
from kubernetes import client

kubeconfig, namespace = sys.argv[1:]
training = TrainingClient(config_file=kubeconfig, namespace=namespace)

container = client.V1Container(name="tensorflow", image="tensorflow/tensorflow:2.11.0", command=["python", "train.py"])
template = client.V1PodTemplateSpec(
    metadata=client.V1ObjectMeta(annotations={"sidecar.istio.io/inject": "false", "test/plan": "0"}),
    spec=client.V1PodSpec(containers=[container]),
)
worker = KubeflowOrgV1ReplicaSpec(replicas=1, restart_policy="Never", template=template)
job = KubeflowOrgV1TFJob(
    api_version="kubeflow.org/v1",
    kind="TFJob",
    metadata=client.V1ObjectMeta(name="sdk", namespace=namespace),
    spec=KubeflowOrgV1TFJobSpec(run_policy=KubeflowOrgV1RunPolicy(clean_pod_policy="None"), tf_replica_specs={"Worker": worker}),
)

training.create_job(job, namespace=namespace)
print("created")
done = training.wait_for_job_conditions("sdk", namespace=namespace, job_kind="TFJob", timeout=90, polling_interval=1)
true = {each.type for each in done.status.conditions if each.status == "True"}
assert {"Created", "Succeeded"} <= true, true
assert not true & {"Running", "Restarting", "Failed"}, true
assert training.is_job_succeeded("sdk", namespace=namespace, job_kind="TFJob")
assert len(training.list_jobs(namespace=namespace, job_kind="TFJob")) == 1
assert training.get_job_pod_names("sdk", namespace=namespace) == ["sdk-worker-0"]
assert training.get_job_pod_names("sdk", namespace=namespace, is_master=True) == ["sdk-worker-0"]
print("succeeded")
# The nodes are simulated and so is the log; tests/python reads real ones with the same SDK.
logs, _ = training.get_job_logs("sdk", namespace=namespace, job_kind="TFJob")
assert logs == {"sdk-worker-0": "tensorflow of sdk-worker-0 was here\n"}, logs
training.delete_job("sdk", namespace=namespace, job_kind="TFJob")
end = time.monotonic() + 30
while training.list_jobs(namespace=namespace, job_kind="TFJob") and time.monotonic() < end:
    time.sleep(0.5)
assert not training.list_jobs(namespace=namespace, job_kind="TFJob")
print("deleted")
