// Kubernetes' own tests "NoExecuteTaintManager", step by step.
import assert from 'node:assert/strict';
import type { Suite } from './suite.ts';

/** How long the suite allows a pod to go: a minute for its kubelet, and some more. */
const deletionSeconds = 65;
const secondlyPolls = { everyMs: 2000, timesMax: 38 };

export interface TaintTest {
  /** As in the recording, without its labels. */
  readonly name: string;
  readonly run: (suite: Suite) => Promise<void>;
}

const condition = (type: string) => (found: { readonly type: string }) => found.type === type;

export const taintTests: readonly TaintTest[] = [
  {
    name: 'Single Pod [Serial] evicts pods from tainted nodes',
    run: async (suite) => {
      const name = 'taint-eviction-1';
      const stream = await suite.observe(name);
      const nodeName = await suite.runPod(name, { group: name });
      await suite.taint(nodeName);
      await suite.deletions(stream, deletionSeconds, [name]);
      await suite.untaint(nodeName);
    },
  },
  {
    name: "Single Pod [Serial] doesn't evict pod with tolerations from tainted nodes",
    run: async (suite) => {
      const name = 'taint-eviction-2';
      const stream = await suite.observe(name);
      const nodeName = await suite.runPod(name, { group: name, tolerationSeconds: null });
      await suite.taint(nodeName);
      suite.stays(stream, deletionSeconds, name);
      await suite.untaint(nodeName);
    },
  },
  {
    name: 'Single Pod [Serial] eventually evict pod with finite tolerations from tainted nodes',
    run: async (suite) => {
      const name = 'taint-eviction-3';
      const stream = await suite.observe(name);
      const nodeName = await suite.runPod(name, { group: name, tolerationSeconds: 70 });
      await suite.taint(nodeName);
      suite.stays(stream, deletionSeconds, name);
      const seconds = await suite.deletions(stream, deletionSeconds, [name]);
      assert.ok(seconds >= 5, `gone ${seconds} s later`);
      await suite.untaint(nodeName);
    },
  },
  {
    name: 'Single Pod [Serial] removing taint cancels eviction',
    run: async (suite) => {
      const name = 'taint-eviction-4';
      const stream = await suite.observe(name);
      const nodeName = await suite.runPod(name, { group: name, tolerationSeconds: 10 });
      await suite.taint(nodeName);
      await suite.untaint(nodeName);
      suite.stays(stream, 75, name);
    },
  },
  {
    name: 'Single Pod [Serial] pods evicted from tainted nodes have pod disruption condition',
    run: async (suite) => {
      const name = 'taint-eviction-pod-disruption';
      const finalizers = ['test.k8s.io/finalizer'];
      const nodeName = await suite.runPod(name, { group: name, finalizers });
      await suite.taint(nodeName);
      await suite.recorder.poll(async () => {
        await suite.poll(secondlyPolls, async () => {
          const { metadata } = await suite.pod(name);
          return metadata.deletionTimestamp ?? null;
        });
        const { status } = await suite.pod(name);
        const target = status.conditions.find(condition('DisruptionTarget'));
        assert.deepEqual([target.status, target.reason], ['True', 'DeletionByTaintManager']);
      });
      await suite.untaint(nodeName);
      // The kubelet has to be done with it before the last finalizer goes.
      suite.world.pass(deletionSeconds * 1000);
      const { metadata, ...rest } = await suite.pod(name);
      const { finalizers: _held, ...free } = metadata;
      await suite.updatePod({ ...rest, metadata: free });
      const { metadata: place } = { metadata };
      const { api } = suite.world.cluster;
      assert.equal(api.get('pods', place.namespace ?? '', name), null);
    },
  },
  {
    name: 'Multiple Pods [Serial] only evicts pods without tolerations from tainted nodes',
    run: async (suite) => {
      const group = 'taint-eviction-a';
      const [first, second] = [`${group}1`, `${group}2`] as const;
      const stream = await suite.observe(group);
      const nodeName1 = await suite.runPod(first, { group });
      const nodeName2 = await suite.runPod(second, { group, tolerationSeconds: null });
      const tainted = [...new Set([nodeName1, nodeName2])];
      for (const nodeName of tainted) await suite.taint(nodeName);
      const seconds = await suite.deletions(stream, deletionSeconds, [first]);
      suite.stays(stream, deletionSeconds - seconds, second);
      for (const nodeName of tainted.reverse()) await suite.untaint(nodeName);
    },
  },
  {
    name: 'Multiple Pods [Serial] evicts pods with minTolerationSeconds',
    run: async (suite) => {
      const group = 'taint-eviction-b';
      const [first, second] = [`${group}1`, `${group}2`] as const;
      const stream = await suite.observe(group);
      const nodeName = await suite.runPod(first, { group, tolerationSeconds: 5 });
      const { metadata } = await suite.node(nodeName);
      const hostname = metadata.labels?.['kubernetes.io/hostname'] ?? assert.fail(nodeName);
      const nodeSelector = { 'kubernetes.io/hostname': hostname };
      const together = { group, tolerationSeconds: 25, nodeSelector };
      assert.equal(await suite.runPod(second, together), nodeName);
      for (const name of [first, second]) {
        await suite.recorder.poll(() =>
          suite.poll(secondlyPolls, async () => {
            const { status } = await suite.pod(name);
            return status.phase === 'Running' ? status : null;
          }),
        );
      }
      await suite.taint(nodeName);
      const seconds = await suite.deletions(stream, 110, [first, second]);
      assert.ok(seconds >= 25, `both gone after ${seconds} s`);
      await suite.untaint(nodeName);
    },
  },
];
