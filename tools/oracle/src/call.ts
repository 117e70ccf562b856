import type { ApiRequest } from '@taintmgr/sim-cluster';

/** The actions of a client on pods, nodes and leases, as its requests show them. */
export type CallKind =
  | 'listNodes'
  | 'watchNodes'
  | 'readNode'
  | 'changeNode'
  | 'changeNodeStatus'
  | 'listPods'
  | 'watchPods'
  | 'readPod'
  | 'markPod'
  | 'changePodStatus'
  | 'deletePod'
  | 'evictPod'
  | 'listLeases'
  | 'watchLeases'
  | 'readLease'
  | 'listPolicies'
  | 'watchPolicies'
  | 'listPauses'
  | 'watchPauses'
  | 'listRules'
  | 'watchRules'
  | 'listNamespaces'
  | 'watchNamespaces'
  | 'other';

/** A request of a client to the API. */
export interface Call {
  /** The client's run that it belongs to, from 1. */
  readonly run: number;
  readonly kind: CallKind;
  /** `namespace/name` of a pod, the name of a node, '' for neither. */
  readonly target: string;
  /** The uid the request insists on; null: none. */
  readonly uid: string | null;
  readonly sentAt: number;
  /** When it reached the server; null: not yet. */
  servedAt: number | null;
  /** When the client had its answer, or the loss of it; null: not yet. */
  endedAt: number | null;
  /** True if the answer was a 2xx. */
  succeeded: boolean;
}

const pods = /^\/api\/v1\/namespaces\/([^/?]+)\/pods\/([^/?]+)(\/status|\/eviction)?(?:\?|$)/;
const nodes = /^\/api\/v1\/nodes\/([^/?]+)(\/status)?(?:\?|$)/;
const nodeLease =
  /^\/apis\/coordination\.k8s\.io\/v1\/namespaces\/kube-node-lease\/leases\/([^/?]+)/;
const collections = /^\/api\/v1\/(nodes|pods|namespaces)(?:\?|$)/;
const nodeLeases =
  /^\/apis\/coordination\.k8s\.io\/v1\/(?:namespaces\/kube-node-lease\/)?(leases)(?:\?|$)/;
const ownKinds = /^\/apis\/taintmgr\.dev\/v1alpha1\/([a-z]+)(?:\?|$)/;

/** By method and subresource. */
const podKinds: Readonly<Record<string, CallKind>> = {
  GET: 'readPod',
  DELETE: 'deletePod',
  'PATCH/status': 'markPod',
  'PUT/status': 'changePodStatus',
  'POST/eviction': 'evictPod',
};
const nodeKinds: Readonly<Record<string, CallKind>> = {
  GET: 'readNode',
  PATCH: 'changeNode',
  'PATCH/status': 'changeNodeStatus',
  'PUT/status': 'changeNodeStatus',
};
const collectionKinds: Readonly<Record<string, CallKind>> = {
  nodes: 'listNodes',
  pods: 'listPods',
  leases: 'listLeases',
  'nodes/watch': 'watchNodes',
  'pods/watch': 'watchPods',
  'leases/watch': 'watchLeases',
  namespaces: 'listNamespaces',
  evictionpolicies: 'listPolicies',
  evictionpauses: 'listPauses',
  nodetaintrules: 'listRules',
  'namespaces/watch': 'watchNamespaces',
  'evictionpolicies/watch': 'watchPolicies',
  'evictionpauses/watch': 'watchPauses',
  'nodetaintrules/watch': 'watchRules',
};

/** Reads a request in the form in which it is sent. */
export function callOf(request: ApiRequest, run: number, sentAt: number): Call {
  const { kind, target } = subjectOf(request);
  const uid = uidIn(request.body);
  return { run, kind, target, uid, sentAt, servedAt: null, endedAt: null, succeeded: false };
}

function subjectOf({ method, path }: ApiRequest): Pick<Call, 'kind' | 'target'> {
  const [, ns, pod, subresource = ''] = pods.exec(path) ?? [];
  if (pod) return { kind: podKinds[method + subresource] ?? 'other', target: `${ns}/${pod}` };
  const [, node, part = ''] = nodes.exec(path) ?? [];
  if (node) return { kind: nodeKinds[method + part] ?? 'other', target: node };
  const [, leased] = nodeLease.exec(path) ?? [];
  if (leased) return { kind: method === 'GET' ? 'readLease' : 'other', target: leased };
  const [, plural = ''] =
    collections.exec(path) ?? nodeLeases.exec(path) ?? ownKinds.exec(path) ?? [];
  const key = /[?&]watch=true/.test(path) ? `${plural}/watch` : plural;
  return { kind: (method === 'GET' ? collectionKinds[key] : undefined) ?? 'other', target: '' };
}

/** DeleteOptions and Eviction have it as a precondition, a patch in its metadata. */
function uidIn(body: ApiRequest['body']): string | null {
  if (typeof body !== 'string') return null;
  const { metadata, preconditions, deleteOptions } = JSON.parse(body);
  return (deleteOptions?.preconditions ?? preconditions ?? metadata)?.uid ?? null;
}
