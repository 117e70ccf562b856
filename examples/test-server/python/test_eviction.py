"""A test of a Python client against the simulated cluster, with the official client as it is:

    npx @taintmgr/api-server --topology three-zones -- python3 -m unittest test_eviction.py
"""

import json
import unittest

from kubernetes import client, config, watch
from kubernetes.client.rest import ApiException


class Eviction(unittest.TestCase):
    """An evicted pod goes, and the disruption budget refuses what it has to."""

    @classmethod
    def setUpClass(cls):
        config.load_kube_config()
        cls.core = client.CoreV1Api()
        cls.policy = client.PolicyV1Api()

    def test_budget(self):
        budget = self.policy.list_pod_disruption_budget_for_all_namespaces().items[0]
        namespace = budget.metadata.namespace
        labels = budget.spec.selector.match_labels
        selector = ",".join(f"{key}={value}" for key, value in labels.items())
        pods = self.core.list_namespaced_pod(namespace, label_selector=selector)

        evicted, refused = [], []
        for pod in pods.items:
            try:
                self.evict(pod.metadata.name, namespace)
                evicted.append(pod.metadata.name)
            except ApiException as error:
                self.assertEqual(error.status, 429)
                refused.append(json.loads(error.body)["details"]["causes"][0]["reason"])

        self.assertEqual(len(evicted), budget.status.disruptions_allowed)
        self.assertEqual(set(refused), {"DisruptionBudget"})
        self.assertEqual(self.deleted_after(pods, namespace), evicted[0])

    def evict(self, name, namespace):
        metadata = client.V1ObjectMeta(name=name, namespace=namespace)
        self.core.create_namespaced_pod_eviction(
            name, namespace, client.V1Eviction(metadata=metadata)
        )

    def deleted_after(self, pods, namespace):
        """The first pod whose deletion the watch reports."""
        changes = watch.Watch().stream(
            self.core.list_namespaced_pod,
            namespace,
            resource_version=pods.metadata.resource_version,
            timeout_seconds=60,
        )
        for change in changes:
            if change["type"] == "DELETED":
                return change["object"].metadata.name
        return None


if __name__ == "__main__":
    unittest.main()
