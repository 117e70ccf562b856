import type { WireCase, WireCases } from './case.ts';
import type { Hand } from './hand.ts';

const policies = 'validatingadmissionpolicies';
const bindings = 'validatingadmissionpolicybindings';
const namespace = 'wire-vap';
const summed = 'the recording sums the answer up';
/** Policies are compiled once a second. */
const inForceMs = 1100;

/** Each policy of a recording stands alone, and is in force when something else is asked. */
function each({ api, clock }: Hand, { note = '', path }: { note?: string; path: string }): void {
  if (note.startsWith('the policy')) {
    for (const resource of [policies, bindings]) {
      for (const { metadata } of api.list(resource)) api.delete(resource, '', metadata.name);
    }
  }
  if (!path.includes('admissionregistration')) clock.advanceTo(clock.now() + inForceMs);
}

function policyCase(rest: Partial<WireCase> = {}): WireCase {
  return { namespace, each, ...rest };
}

function configMap({ api }: Hand, name: string, data: object = {}): string {
  const { metadata } = api.create('configmaps', { metadata: { name, namespace }, data });
  return metadata.uid ?? '';
}

/** Jane may create ConfigMaps in the namespace. */
function jane({ api }: Hand): void {
  const name = 'jane';
  const apiGroup = 'rbac.authorization.k8s.io';
  api.create('roles', {
    metadata: { name, namespace },
    rules: [{ verbs: ['create'], apiGroups: [''], resources: ['configmaps'] }],
  });
  api.create('rolebindings', {
    metadata: { name, namespace },
    subjects: [{ apiGroup, kind: 'User', name }],
    roleRef: { apiGroup, kind: 'Role', name },
  });
}

const leaseName = 'wire-controller';

/** The lease of the controller that holds pods, renewed so long ago. */
function lease({ api, clock }: Hand, agoMs: number | null, annotations: object = {}): void {
  if (api.get('leases', namespace, leaseName)) api.delete('leases', namespace, leaseName);
  const renewTime = agoMs === null ? {} : { renewTime: microTime(clock.now() - agoMs) };
  api.create('leases', {
    metadata: { name: leaseName, namespace, annotations: { ...annotations } },
    spec: renewTime,
  });
  clock.advanceTo(clock.now() + 10);
}

const microTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');

/** The recordings tell of conditions without their times, which are those of the harness. */
const recordedAt = Date.parse('2026-01-01T00:00:00Z');

function optIn({ api, clock }: Hand, value: string): void {
  const home = api.get('namespaces', '', namespace);
  if (!home) throw new Error('no namespace');
  const labels = { ...home.metadata.labels, 'wire/takeover': value };
  api.update('namespaces', { ...home, metadata: { ...home.metadata, labels } });
  clock.advanceTo(clock.now() + 10);
}

/** Fresh for a condition of that time. */
const fresh = (hand: Hand, annotations: object = {}): void =>
  lease(hand, hand.clock.now() - recordedAt, annotations);
const stale = (hand: Hand, annotations: object = {}): void =>
  lease(hand, hand.clock.now() - recordedAt + 61_000, annotations);

/** The pod as it was before. */
function conditions(hand: Hand, name: string, list: readonly object[]): void {
  const pod = hand.api.get('pods', namespace, name);
  if (!pod) throw new Error('no pod');
  hand.api.update('pods', { ...pod, status: { ...pod.status, conditions: list } }, 'status');
}

const hold = { 'taintmgr.dev/hold-readiness': 'zone-a' };
const none = (hand: Hand): void => conditions(hand, 'victim', []);

/** ValidatingAdmissionPolicies and their bindings. */
export const policyCases: WireCases = {
  '12-admission-policy/actions': policyCase({ without: { 16: 'of the audit log' } }),
  '12-admission-policy/binding-errors': policyCase(),
  '12-admission-policy/binding-without-policy': policyCase(),
  '12-admission-policy/create': policyCase({
    without: { 1: 'a watch of a second and a half' },
    before: {
      5: ({ api }) => {
        const policy = api.get(policies, '', 'wire-max');
        const spec = { ...policy?.spec, failurePolicy: 'Fail' };
        if (policy) api.update(policies, { ...policy, spec });
      },
    },
  }),
  '12-admission-policy/create-errors': policyCase({
    before: { 30: ({ api }) => api.delete(policies, '', 'wire-bad') },
  }),
  '12-admission-policy/deny': policyCase(),
  '12-admission-policy/failure-policy': policyCase(),
  '12-admission-policy/order': policyCase({
    prepare: (hand) => {
      configMap(hand, 'keep');
      return { '<uid-1>': configMap(hand, 'go') };
    },
    without: { 16: summed },
  }),
  '12-admission-policy/crud': policyCase({
    prepare: ({ api }) => {
      const name = 'wire-crud';
      const resourceRules = [
        {
          apiGroups: [''],
          apiVersions: ['v1'],
          operations: ['CREATE', 'UPDATE'],
          resources: ['configmaps'],
        },
      ];
      const validations = [{ expression: 'true' }];
      const policy = api.create(policies, {
        metadata: { name },
        spec: { matchConstraints: { resourceRules }, validations },
      });
      const matchLabels = { 'kubernetes.io/metadata.name': namespace };
      const binding = api.create(bindings, {
        metadata: { name },
        spec: {
          policyName: name,
          validationActions: ['Deny'],
          matchResources: { namespaceSelector: { matchLabels } },
        },
      });
      return { '<uid-1>': policy.metadata.uid ?? '', '<uid-2>': binding.metadata.uid ?? '' };
    },
    without: { 4: summed, 18: 'it has more resources', 19: 'groups have their addresses too' },
  }),
  '12-admission-policy/variables': policyCase({
    prepare: (hand) => {
      jane(hand);
      configMap(hand, 'seen', { a: '1' });
      return undefined;
    },
  }),
  '12-admission-policy/takeover': policyCase({
    prepare: (hand) => {
      hand.pod('victim');
      optIn(hand, 'enabled');
      fresh(hand);
      return undefined;
    },
    before: {
      9: none,
      10: none,
      11: (hand) => {
        none(hand);
        stale(hand);
      },
      12: (hand) => {
        none(hand);
        lease(hand, null);
      },
      13: (hand) => {
        none(hand);
        hand.api.delete('leases', namespace, leaseName);
      },
      14: (hand) => {
        none(hand);
        fresh(hand);
      },
      17: (hand) => optIn(hand, 'disabled'),
    },
  }),
  '12-admission-policy/readiness': policyCase({
    prepare: (hand) => {
      hand.pod('held');
      optIn(hand, 'enabled');
      fresh(hand, hold);
      return undefined;
    },
    before: { 6: (hand) => fresh(hand), 8: (hand) => stale(hand, hold) },
  }),
};
