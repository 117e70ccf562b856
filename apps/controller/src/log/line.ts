// Log lines before they are written. The same key means the same in every line, and a key that is not here does
// not compile.
import type { Outcome, PodRef } from '@taintmgr/core';
import { formatDuration, type Millis } from '@taintmgr/core/time';

/** Each key with its content. docs/logs.md has them as a table. */
export const logKeys = {
  add: 'taints added to a node, key=value:effect',
  address: 'where it listens',
  again: 'when it is tried again',
  at: 'when a pod is evicted',
  attempt: 'number of the try, from 1',
  because: 'the reasons of a decision, in words',
  by: 'a user, a kind of limit, or a field manager',
  cause: 'what made a decision change',
  change: 'what a rule would do to a taint',
  check: 'a check of health',
  conditions: 'conditions of a node that were written',
  controller: 'one of the controllers',
  controllers: 'the controllers that run',
  count: 'how often an Event was recorded',
  counted: 'how a limit counts',
  deadlines: '`pause` or `resume`: what becomes of deadlines',
  deletes: 'objects deleted since the previous list',
  drain: 'a NodeDrain',
  drift: 'how an object differs from what was installed',
  dryRun: '`client` or `server`: nothing is changed',
  endpoint: 'where something is asked or sent',
  error: 'what went wrong, in words, often those of the API server',
  events: 'Kubernetes Events',
  evictions: 'how many evictions',
  fault: 'what a check has found',
  file: 'a file',
  from: 'the state before',
  grace: 'time that a pod is given to stop',
  in: 'how long until then',
  install: 'what must be installed',
  isMarked: 'whether the pod was marked for deletion',
  heldBack: 'what held a pod that another program has evicted',
  left: 'what is left on a node of a drain',
  request: 'an EvictionRequest, namespace/name',
  zones: 'zones, region/zone',
  leader: 'identity of the leader',
  lease: 'a Lease, namespace/name',
  limit: 'a limit, as `kubectl taintmgr resume` takes it',
  limits: 'how many limits',
  manager: 'the program that did it',
  mode: 'how pods leave',
  next: 'how long until the next try',
  node: 'a node',
  nodes: 'how many nodes',
  notReady: 'nodes of a zone that are not ready',
  object: 'an object, as kind and name',
  objects: 'how many objects',
  pod: 'a pod, namespace/name',
  pods: 'how many pods',
  port: 'a port',
  rate: 'nodes of a zone that are tainted in a second at most',
  ready: 'nodes of a zone that are ready',
  reason: 'the reason of an Event or a refusal',
  remove: 'taints removed from a node, key:effect',
  replicaSet: 'a ReplicaSet',
  requests: 'how many EvictionRequests',
  resource: 'a collection of the API',
  rule: 'a NodeTaintRule',
  semantics: 'whose rules apply',
  server: 'the API server',
  signal: 'a signal of the process, or of node pressure',
  since: 'since when',
  stuck: 'why retries cannot succeed',
  taintManager: 'a TaintManager',
  threshold: 'a threshold of node pressure',
  times: 'how many such lines were left out',
  to: 'the state after',
  took: 'how long it took',
  uid: 'the uid of a pod',
  upserts: 'objects that are new or were changed',
  variable: 'an environment variable',
  version: 'version of the program',
  wait: 'how long it waits',
  why: 'the reason, in words',
  write: 'what was written to a node',
  zone: 'a zone, region/zone',
} as const satisfies Readonly<Record<string, string>>;

type LogKey = keyof typeof logKeys;

/** Fields of a line. A literal with spreads in it may hold others as well: `fieldsOf` looks at those. */
export type Fields = Readonly<Partial<Record<LogKey, string | number>>>;

/** These fields, if all keys of them are known, those too that a spread may bring. */
export type Known<F> = { readonly [K in keyof F]: K extends LogKey ? F[K] : never };

/** A log line before it is written. */
export interface Line {
  readonly level: 'debug' | 'info' | 'warn';
  readonly message: string;
  readonly fields: Fields;
}

/** A line of these parts. */
export function line<F extends Fields & Known<F>>(
  level: Line['level'],
  message: string,
  fields: F,
): Line {
  return { level, message, fields };
}

/** Fields for a line to come, some of which may be left out: a type alone lets others slip in by a spread. */
export function fieldsOf<F extends Fields & Known<F>>(fields: F): Fields {
  return fields;
}

/** A short wait, exact to the tenth of a second. */
export function formatWait(length: Millis): string {
  return length < 10_000 ? `${(Math.max(0, length) / 1000).toFixed(1)}s` : formatDuration(length);
}

/** A pod, as it is named here. */
export type NamedPod = Pick<PodRef, 'namespace' | 'name' | 'nodeName'>;

/** The pod, and its node. */
export function podFields(pod: NamedPod): Readonly<Record<'pod' | 'node', string>> {
  return { pod: `${pod.namespace}/${pod.name}`, node: pod.nodeName };
}

/** The words for what went wrong with a request. */
export function errorOf(outcome: Outcome): string {
  return 'message' in outcome ? outcome.message : outcome.kind;
}

/** The subject of an Event: kinds with a separate key stand under it. */
export function subjectFields(subject: {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}): Fields {
  const { kind, namespace, name } = subject;
  const path = namespace === '' ? name : `${namespace}/${name}`;
  switch (kind) {
    case 'Pod':
      return { pod: path };
    case 'Node':
      return { node: path };
    case 'Lease':
      return { lease: path };
    case 'NodeDrain':
      return { drain: path };
    default:
      return { object: `${kind} ${path}` };
  }
}

const texts: ReadonlyMap<string, string> = new Map([
  ['caches synced, evictions start', 'caches synced, the dry run starts: nothing is evicted'],
  ['evicting', 'dry run: would evict'],
  ['evicted', 'dry run: would have evicted'],
]);

/** The line as a dry run says it; `isOfAct`: it reports something else that is planned, held or written. */
export function dryRunLine(said: Line, isOfAct = false): Line {
  const { message } = said;
  const isMarked = !isOfAct || message.startsWith('dry run: ');
  return { ...said, message: texts.get(message) ?? (isMarked ? message : `dry run: ${message}`) };
}
