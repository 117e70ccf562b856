import { cut, noYaml, type WireCases } from './case.ts';
import type { Hand } from './hand.ts';

const event = 'p.1840a1b2c3d4e5f6';

/** Events and leases. */
export const eventAndLeaseCases: WireCases = {
  '07-events-leases/core-aggregate': {
    namespace: 'wire-events',
    prepare: (hand) => {
      const { metadata } = hand.api.create('events', {
        metadata: { name: event, namespace: 'wire-events' },
        involvedObject: {
          kind: 'Pod',
          namespace: 'wire-events',
          name: 'p',
          uid: 'u-1',
          apiVersion: 'v1',
          resourceVersion: '5',
        },
        reason: 'TaintManagerEviction',
        message: 'Marking for deletion Pod x/p',
        source: { component: 'taint-eviction-controller' },
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
        count: 1,
        type: 'Normal',
        reportingComponent: 'taint-eviction-controller',
      });
      return { '<uid-1>': metadata.uid ?? '' };
    },
  },
  '07-events-leases/core-create': { namespace: 'wire-events' },
  '07-events-leases/core-validation': { namespace: 'wire-events' },
  '07-events-leases/events-v1-create': { namespace: 'wire-events' },
  '07-events-leases/events-v1-series': {
    namespace: 'wire-events',
    prepare: (hand) => {
      hand.client.post('/apis/events.k8s.io/v1/namespaces/wire-events/events', {
        metadata: { name: 'n1' },
        eventTime: '2026-01-01T00:00:00.123456Z',
        reportingController: 'taint-eviction-controller',
        reportingInstance: 'taint-eviction-controller-host1',
        action: 'Evict',
        reason: 'TaintManagerEviction',
        regarding: { kind: 'Pod', namespace: 'wire-events', name: 'p', apiVersion: 'v1' },
        note: 'Marking for deletion',
        type: 'Normal',
      });
      return undefined;
    },
  },
  '07-events-leases/lease-election': { namespace: 'wire-events', without: { 11: cut } },
  '07-events-leases/microtime': { namespace: 'wire-events' },
  '07-events-leases/node-lease': { namespace: 'default' },
};

/** What the recorded service account may do in its namespace. */
function podReader({ api }: Hand): undefined {
  const metadata = { name: 'podreader', namespace: 'wire' };
  const group = 'rbac.authorization.k8s.io';
  api.create('roles', {
    metadata,
    rules: [
      { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods'] },
      { verbs: ['get'], apiGroups: [''], resources: ['configmaps'], resourceNames: ['one'] },
    ],
  });
  api.create('rolebindings', {
    metadata,
    roleRef: { apiGroup: group, kind: 'Role', name: 'podreader' },
    subjects: [{ kind: 'ServiceAccount', name: 'limited', namespace: 'wire' }],
  });
  return undefined;
}

/** Who is let in, and to what. */
export const accessCases: WireCases = {
  '08-auth/access-review': {
    namespace: 'wire',
    prepare: podReader,
    without: { 5: 'the rules that everybody has are fewer' },
  },
  '08-auth/anonymous': { namespace: 'wire' },
  '08-auth/forbidden': { namespace: 'wire', prepare: podReader },
  '08-auth/health': { namespace: 'wire', without: { 3: 'no checks are listed' } },
  '08-auth/impersonation': { namespace: 'wire', prepare: podReader },
  '08-auth/unauthorized': { namespace: 'wire', without: { 2: noYaml } },
};
