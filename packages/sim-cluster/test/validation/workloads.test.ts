// What is refused of workloads and budgets, in the words of the real server.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fixture } from '../world/api-fixture.ts';
import { merge, type Response } from '../world/client.ts';

const apps = '/apis/apps/v1/namespaces/default';
const paths = {
  Deployment: `${apps}/deployments`,
  ReplicaSet: `${apps}/replicasets`,
  StatefulSet: `${apps}/statefulsets`,
  DaemonSet: `${apps}/daemonsets`,
  Job: '/apis/batch/v1/namespaces/default/jobs',
} as const;
type Kind = keyof typeof paths;

const labels = { a: 'b' };
const containers = [{ name: 'c', image: 'i' }];

function template(spec: object = {}): object {
  return { metadata: { labels }, spec: { containers, ...spec } };
}

/** The least that a kind must say, with these fields. */
function bodyOf(kind: Kind, spec: object): { readonly metadata: object; readonly spec: object } {
  const own =
    kind === 'Job'
      ? { template: template({ restartPolicy: 'Never' }) }
      : { selector: { matchLabels: labels }, template: template() };
  return { metadata: { name: 'x' }, spec: { ...own, ...spec } };
}

const saidBy = ({ body }: Response): readonly string[] => {
  const causes: readonly { readonly field: string; readonly message: string }[] =
    body.details?.causes ?? [];
  return causes.map(({ field, message }) => `${field}: ${message}`);
};

const labelsField = 'spec.template.metadata.labels';
const mismatch = '`selector` does not match template `labels`';
const restart = 'spec.template.spec.restartPolicy';
const refused: readonly (readonly [string, Kind, object, readonly string[]])[] = [
  [
    'no selector',
    'Deployment',
    { selector: undefined },
    ['spec.selector: Required value', `${labelsField}: Invalid value: {"a":"b"}: ${mismatch}`],
  ],
  ...(['Deployment', 'ReplicaSet', 'DaemonSet', 'StatefulSet'] as const).map((kind) => {
    const word = kind === 'ReplicaSet' ? 'deployment' : kind.toLowerCase();
    const text = `spec.selector: Invalid value: {}: empty selector is invalid for ${word}`;
    return ['an empty selector', kind, { selector: {} }, [text]] as const;
  }),
  [
    'expressions that do not match',
    'ReplicaSet',
    { selector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['x'] }] } },
    [`${labelsField}: Invalid value: {"a":"b"}: ${mismatch}`],
  ],
  [
    'an unknown operator',
    'StatefulSet',
    { selector: { matchExpressions: [{ key: 'a', operator: 'Foo' }] } },
    [
      'spec.selector.matchExpressions[0].operator: Invalid value: "Foo": not a valid selector operator',
      `${labelsField}: Invalid value: {"a":"b"}: ${mismatch}`,
    ],
  ],
  [
    'a rolling update that moves nothing',
    'Deployment',
    { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: '0%' } } },
    [
      'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0',
    ],
  ],
  [
    'more unavailable pods than there are',
    'Deployment',
    { strategy: { rollingUpdate: { maxUnavailable: '150%', maxSurge: '150%' } } },
    [
      'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "150%": must not be greater than 100%',
    ],
  ],
  [
    'an unknown strategy',
    'Deployment',
    { strategy: { type: 'Foo' } },
    [
      'spec.strategy: Unsupported value: {"Type":"Foo","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"',
    ],
  ],
  [
    'a rolling update of what is recreated',
    'Deployment',
    { strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } },
    [
      "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
    ],
  ],
  [
    'a deadline before pods are available',
    'Deployment',
    { minReadySeconds: 10, progressDeadlineSeconds: 10 },
    ['spec.progressDeadlineSeconds: Invalid value: 10: must be greater than minReadySeconds'],
  ],
  [
    'surge and unavailable pods at once',
    'DaemonSet',
    { updateStrategy: { rollingUpdate: { maxSurge: 1 } } },
    [
      'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when `maxUnavailable` is non-zero',
    ],
  ],
  [
    'neither of them',
    'DaemonSet',
    { updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } },
    [
      'spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when `maxSurge` is 0',
    ],
  ],
  [
    'an unknown strategy',
    'StatefulSet',
    { updateStrategy: { type: 'Foo' } },
    [
      `spec.updateStrategy: Invalid value: {"Type":"Foo","RollingUpdate":null}: must be 'RollingUpdate' or 'OnDelete'`,
    ],
  ],
  [
    'an unknown policy',
    'StatefulSet',
    { podManagementPolicy: 'Foo' },
    [`spec.podManagementPolicy: Invalid value: "Foo": must be 'OrderedReady' or 'Parallel'`],
  ],
  ...(['Deployment', 'ReplicaSet', 'DaemonSet', 'StatefulSet'] as const).map((kind) => {
    const text = `${restart}: Unsupported value: "Never": supported values: "Always"`;
    return [
      'pods that end',
      kind,
      { template: template({ restartPolicy: 'Never' }) },
      [text],
    ] as const;
  }),
  [
    'a negative count',
    'DaemonSet',
    { minReadySeconds: -1 },
    ['spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0'],
  ],
  ...[{}, { restartPolicy: 'Always' }].map((spec) => {
    const text = `${restart}: Required value: valid values: "OnFailure", "Never"`;
    return ['pods that never end', 'Job', { template: template(spec) }, [text]] as const;
  }),
  [
    'an unknown mode',
    'Job',
    { completionMode: 'Foo' },
    ['spec.completionMode: Unsupported value: "Foo": supported values: "NonIndexed", "Indexed"'],
  ],
  [
    'indexes without a number',
    'Job',
    { completionMode: 'Indexed', parallelism: 2 },
    ['spec.completions: Required value: when completion mode is Indexed'],
  ],
];

describe('a new workload is refused for', () => {
  for (const [what, kind, spec, said] of refused) {
    it(`${what}: ${kind}`, () => {
      const answer = fixture().client.post(paths[kind], bodyOf(kind, spec));
      assert.deepEqual([answer.status, ...saidBy(answer)], [422, ...said]);
    });
  }
});

const claim = (name: string): object => ({ metadata: { name }, spec: {} });
const containing = (more: object): object =>
  template({ restartPolicy: 'Never', containers: [{ ...containers[0], ...more }] });
const mounting = (name: string): object =>
  template({ containers: [{ ...containers[0], volumeMounts: [{ name, mountPath: '/d' }] }] });

it('a StatefulSet mounts the claims that are made for its pods', () => {
  const { client } = fixture();
  const own = { template: mounting('data'), volumeClaimTemplates: [claim('data')] };
  assert.equal(client.post(paths.StatefulSet, bodyOf('StatefulSet', own)).status, 201);
  const others = { template: mounting('data'), volumeClaimTemplates: [claim('other')] };
  assert.deepEqual(saidBy(client.post(paths.StatefulSet, bodyOf('StatefulSet', others))), [
    'spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"',
  ]);
});

it('a budget is refused for an unknown operator', () => {
  const selector = { matchExpressions: [{ key: 'a', operator: 'Foo' }] };
  const body = { metadata: { name: 'x' }, spec: { minAvailable: 1, selector } };
  const path = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
  assert.deepEqual(saidBy(fixture().client.post(path, body)), [
    'spec.selector.matchExpressions[0].operator: Invalid value: "Foo": not a valid selector operator',
  ]);
});

const forbidden =
  "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
const immutable = (field: string, value: unknown): string =>
  `spec.${field}: Invalid value: ${JSON.stringify(value)}: field is immutable`;
const otherLabels = { template: { metadata: { labels: { c: 'd' } } } };
const placed = { template: { spec: { nodeSelector: { zone: 'a' } } } };

/** What of the answer is compared: all but a whole template. */
const changes: readonly (readonly [Kind, object, object, readonly string[]])[] = [
  ['StatefulSet', {}, { serviceName: 'other' }, [forbidden]],
  ['StatefulSet', {}, { podManagementPolicy: 'Parallel' }, [forbidden]],
  ['StatefulSet', {}, { volumeClaimTemplates: [claim('d')] }, [forbidden]],
  [
    'StatefulSet',
    {},
    {
      ...{ replicas: 2, ordinals: { start: 1 }, minReadySeconds: 1, revisionHistoryLimit: 1 },
      ...{ updateStrategy: { type: 'OnDelete', rollingUpdate: null }, ...otherLabels },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' },
    },
    [],
  ],
  // As a client in Go writes back what it has read.
  [
    'StatefulSet',
    { volumeClaimTemplates: [claim('d')] },
    { volumeClaimTemplates: [{ ...claim('d'), status: {} }] },
    [],
  ],
  [
    'Job',
    { suspend: true, template: containing({ env: [{ name: 'A', value: '' }] }) },
    { suspend: false, template: containing({ env: [{ name: 'A' }] }) },
    [],
  ],
  [
    'Job',
    { suspend: true },
    { template: containing({ resources: { requests: { cpu: '1' } } }) },
    [],
  ],
  ['Job', {}, { completions: 9 }, [immutable('completions', 9)]],
  ['Job', {}, { completionMode: 'Indexed' }, [immutable('completionMode', 'Indexed')]],
  ['Job', {}, otherLabels, ['spec.template']],
  ['Job', {}, placed, ['spec.template']],
  ['Job', { suspend: true }, placed, []],
  ['Job', {}, { parallelism: 3, suspend: true, backoffLimit: 1 }, []],
  [
    'Job',
    { completionMode: 'Indexed', completions: 2, parallelism: 2 },
    { completions: 3 },
    ['spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism'],
  ],
  [
    'Job',
    { completionMode: 'Indexed', completions: 2, parallelism: 2 },
    { completions: 3, parallelism: 3 },
    [],
  ],
  [
    'Deployment',
    {},
    {
      selector: { matchLabels: { a: null }, matchExpressions: [{ key: 'a', operator: 'Exists' }] },
    },
    [immutable('selector', { matchExpressions: [{ key: 'a', operator: 'Exists' }] })],
  ],
];

describe('a change of a workload', () => {
  for (const [kind, spec, change, said] of changes) {
    const verdict = said.length > 0 ? 'is refused' : 'is taken';
    it(`${verdict}: ${kind} ${JSON.stringify(change)}`, () => {
      const { client } = fixture();
      const made = client.post(paths[kind], bodyOf(kind, spec));
      assert.equal(made.status, 201, made.text);
      const answer = client.patch(`${paths[kind]}/x`, { spec: change }, merge);
      const short = saidBy(answer).map((text) => text.replace(/^(spec\.template): .*/, '$1'));
      assert.deepEqual([answer.status, ...short], [said.length > 0 ? 422 : 200, ...said]);
    });
  }
});
