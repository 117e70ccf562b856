import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deadNodeLines, deadNodeOf, stuckText } from '../../src/explain/dead-nodes.ts';
import { explainSurvey } from '../../src/explain/explained.ts';
import { present } from '../../src/explain/question.ts';
import { nodeSubject } from '../../src/explain/subjects.ts';
import type { Attachments } from '../../src/survey/dead-nodes.ts';
import type { NodeFacts, PodFacts } from '../../src/survey/facts.ts';
import {
  node,
  nodeFactsOf,
  now,
  pod,
  podFactsOf,
  surveyOf,
  taint,
  tolerates,
} from '../world/values.ts';

const unreachable = 'node.kubernetes.io/unreachable:NoExecute';
const silent = { status: 'Unknown', since: now - 5_880_000, reason: 'NodeStatusUnknown' } as const;
const set = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db' };
const web = podFactsOf(pod('web', { deletionTimestamp: now - 5_000_000 }));
const db = podFactsOf(pod('db-0', { owner: set, deletionTimestamp: now - 5_000_000 }), {
  volumeClaims: ['data-db-0'],
});

interface Case {
  readonly node?: Partial<NodeFacts>;
  readonly taints?: readonly string[];
  readonly pods: readonly PodFacts[];
  readonly attachments?: Attachments;
  /** The lines; none: the machine is not dead, or nobody waits. */
  readonly says: readonly string[];
}

const off =
  'when it is off for a while: kubectl taint nodes n1 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute (take the taint off when the machine is back)';
const gone = 'when it is gone for good: kubectl delete node n1';
const check =
  'first make sure that the machine is off: ask its cloud or its BMC for its power state; a machine that has lost its network continues to run its pods';

function read({ node: fields, taints = [], pods, attachments }: Case) {
  const one = node('n1', ...[unreachable, ...taints].map((text) => taint(text, 5800)));
  const facts = nodeFactsOf(one, { ready: silent, ...fields });
  const survey = surveyOf([facts], pods, attachments === undefined ? {} : { attachments });
  return explainSurvey(survey, nodeSubject('n1'), present);
}

describe('the way out for pods of a dead machine', () => {
  const cases: Readonly<Record<string, Case>> = {
    'a machine that answers': {
      node: { ready: { ...silent, status: 'True' } },
      pods: [web],
      says: [],
    },
    'a machine that is silent for less than five minutes': {
      node: { ready: { ...silent, since: now - 299_000 } },
      pods: [web],
      says: [],
    },
    'nobody has to leave': { pods: [podFactsOf(pod('stays', tolerates('')))], says: [] },
    'a pod without a state of its own': {
      pods: [web],
      says: [
        '1 pod cannot end: the kubelet has been silent for 1h38m, and only the kubelet may end it',
        ...[check, off, gone],
      ],
    },
    'a StatefulSet and its volume': {
      node: { providerId: 'aws:///eu-1a/i-0abc' },
      pods: [web, db],
      attachments: new Map([['n1', [{ name: 'csi-1', volume: 'pv-1' }]]]),
      says: [
        '2 pods cannot end: the kubelet has been silent for 1h38m, and only the kubelet may end them',
        'first make sure that the machine is off: ask its cloud or its BMC for the power state of aws:///eu-1a/i-0abc; a machine that has lost its network continues to run its pods',
        ...[off, gone],
        'while it may still run, do neither: a second shop/db-0 (StatefulSet/db, volume data-db-0) would write beside the first',
        'VolumeAttachments that hold volumes there: csi-1 (pv-1)',
      ],
    },
    'no right to see attachments': {
      pods: [db],
      attachments: null,
      says: [
        '1 pod cannot end: the kubelet has been silent for 1h38m, and only the kubelet may end it',
        ...[check, off, gone],
        'while it may still run, do neither: a second shop/db-0 (StatefulSet/db, volume data-db-0) would write beside the first',
        'which volumes are attached there could not be read: no permission to list volumeattachments',
      ],
    },
    'its cloud says that it is shut down': {
      taints: ['node.cloudprovider.kubernetes.io/shutdown:NoSchedule'],
      pods: [web],
      says: [
        '1 pod cannot end: the kubelet has been silent for 1h38m, and only the kubelet may end it',
        'its cloud says that the machine is shut down (taint node.cloudprovider.kubernetes.io/shutdown); to be sure, ask its cloud or its BMC for its power state',
        ...[off, gone],
      ],
    },
    'somebody has said that it is off': {
      taints: ['node.kubernetes.io/out-of-service=nodeshutdown:NoExecute'],
      pods: [web],
      says: [
        '1 pod cannot end: the kubelet has been silent for 1h38m, and only the kubelet may end it',
        check,
        'the taint node.kubernetes.io/out-of-service is there: kube-controller-manager deletes each of its pods within a minute once the pod terminates',
      ],
    },
    'somebody has said that it is off, and one must not run twice': {
      taints: ['node.kubernetes.io/out-of-service=nodeshutdown:NoExecute'],
      pods: [db],
      says: [
        '1 pod cannot end: the kubelet has been silent for 1h38m, and only the kubelet may end it',
        check,
        'the taint node.kubernetes.io/out-of-service is there: kube-controller-manager deletes each of its pods within a minute once the pod terminates',
        'while it may still run, take the taint off (kubectl taint nodes n1 node.kubernetes.io/out-of-service-): a second shop/db-0 (StatefulSet/db, volume data-db-0) would write beside the first',
      ],
    },
  };
  for (const [name, one] of Object.entries(cases)) {
    it(name, () => {
      const { report, document } = read(one);
      const [about] = report.nodes;
      assert.ok(about);
      const dead = deadNodeOf(about, now);
      assert.deepEqual(dead ? [stuckText(dead, now), ...deadNodeLines(dead)] : [], one.says);
      assert.deepEqual(document.deadMachine?.toDo ?? [], one.says.slice(1));
    });
  }

  it('is in documents, with what a program needs to act', () => {
    const attachments = new Map([['n1', [{ name: 'csi-1', volume: 'pv-1' }]]]);
    const { toDo: _, ...document } =
      read({ pods: [web, db], attachments, says: [] }).document.deadMachine ?? {};
    assert.deepEqual(document, {
      silentSince: '2026-01-02T01:26:05Z',
      stuckPods: ['shop/db-0', 'shop/web'],
      mustNotRunTwice: ['shop/db-0'],
      outOfService: false,
      shutDown: false,
      volumeAttachments: [{ name: 'csi-1', volume: 'pv-1' }],
      commands: {
        outOfService:
          'kubectl taint nodes n1 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute',
        deleteNode: 'kubectl delete node n1',
      },
    });
  });
});
