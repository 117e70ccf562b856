// The events of a prediction run: nodes, pods of every kind, policies of each action, and the
// actions of people on them.
import {
  type ClusterApi,
  type Json,
  type KubeObject,
  pod,
  type Random,
  seededRandom,
  type TimedToleration,
} from '@taintmgr/sim-cluster';

type Spec = Readonly<Record<string, Json>>;

function policy(name: string, pods: readonly string[], spec: Spec): KubeObject {
  const podSelector = { matchExpressions: [{ key: 'app', operator: 'In', values: [...pods] }] };
  return {
    apiVersion: 'taintmgr.dev/v1alpha1',
    kind: 'EvictionPolicy',
    metadata: { name },
    spec: { match: { podSelector }, ...spec },
  };
}

/** The names of pods, by their expected fate. */
interface PodGroups {
  readonly lasting: readonly string[];
  readonly forced: readonly string[];
  readonly kept: readonly string[];
  readonly given: readonly string[];
  readonly asEver: readonly string[];
}

function policiesFor(groups: PodGroups): readonly KubeObject[] {
  return [
    policy('lasting', groups.lasting, { action: 'Delete', minTaintAge: '30s' }),
    policy('forced', groups.forced, { action: 'EvictThenDelete', deleteAfter: '20s' }),
    policy('kept', groups.kept, { action: 'Keep' }),
    policy('given', groups.given, { action: 'Evict', defaultTolerationSeconds: 33 }),
    policy('as-ever', groups.asEver, { action: 'KubeControllerManager' }),
  ];
}

/** A pod of the run. */
export interface CastPod {
  readonly name: string;
  readonly node: string;
  readonly kind: string;
  readonly tolerations: readonly TimedToleration[];
  /** When it is created, in seconds. */
  readonly at: number;
  /** The time of an edit of its tolerations, and the new ones; left out: never. */
  readonly edit?: { readonly at: number; readonly tolerations: readonly TimedToleration[] };
  readonly object?: (made: KubeObject, nodeUid: string) => KubeObject;
}

/** A user gives a node the taints that it has from then on. */
interface Tainting {
  readonly at: number;
  readonly node: string;
  readonly taints: readonly string[];
}

/** A user does something else, which matters to some of the pods. */
export interface Act {
  readonly at: number;
  readonly pods: readonly string[];
  readonly carryOut: (api: ClusterApi) => void;
}

/** Pods, and what happens to their nodes. */
export interface Scenario {
  readonly pods: readonly CastPod[];
  readonly taintings: readonly Tainting[];
  /** Policies of each action, for some of the pods. */
  readonly policies: readonly KubeObject[];
  /** Left out: nothing else happens. */
  readonly acts?: readonly Act[];
}

/** When everybody goes home, and when kube-controller-manager is restarted where it is. */
export const endSeconds = 150;
export const restartSeconds = 34;
export const restartedSeconds = 37;
export const namespaceName = 'cast';
export const daemonSetName = 'agent';

const taintings: readonly Tainting[] = [
  { at: 10, node: 'z-1', taints: ['k:NoExecute'] },
  { at: 10, node: 'z-2', taints: ['k:NoExecute'] },
  { at: 25, node: 'z-2', taints: ['k:NoExecute', 'k2:NoExecute'] },
  { at: 10, node: 'z-3', taints: ['k:NoExecute'] },
  { at: 30, node: 'z-3', taints: [] },
  { at: 42, node: 'z-3', taints: ['k:NoExecute'] },
  { at: 10, node: 'z-4', taints: ['k:NoExecute', 'k2:NoExecute'] },
  { at: 21, node: 'z-4', taints: ['k:NoExecute'] },
  { at: 10, node: 'z-5', taints: ['k:NoExecute'] },
  // A taint that evicts no pod, but renews the time at which taints were written.
  { at: 28, node: 'z-5', taints: ['k:NoExecute', 'spare:NoSchedule'] },
];

const forEver = null;

/** The scenario without a seed: pods of every kind, in the order of their nodes. */
export const usual: Scenario = {
  pods: [...onOne(), ...onTwo(), ...onThree(), ...onFour(), ...onFive()],
  taintings,
  policies: policiesFor({
    lasting: ['five', 'twenty', 'late', 'gone-before', 'twice'],
    forced: ['budget', 'budget-4', 'saved-late'],
    kept: ['forty', 'longer', 'unmoved'],
    given: ['plain', 'not-second'],
    asEver: ['ninety', 'down', 'up-late', 'shorter', 'down-5', 'late-5'],
  }),
};

/** A taint, and pods of every kind. */
function onOne(): readonly CastPod[] {
  const of = maker('z-1');
  return [
    of('plain', 'no toleration'),
    of('five', 'tolerates for a while', { k: 5 }),
    of('twenty', 'tolerates for a while', { k: 20 }),
    of('forty', 'tolerates for a while', { k: 40 }),
    of('ninety', 'tolerates for a while', { k: 90 }),
    of('ever', 'tolerates for ever', { k: forEver }),
    { ...of('up', 'edited up', { k: 20 }), edit: { at: 20, tolerations: tolerating({ k: 60 }) } },
    {
      ...of('up-late', 'edited up', { k: 50 }),
      edit: { at: 40, tolerations: tolerating({ k: 80 }) },
    },
    {
      ...of('down', 'edited down', { k: 60 }),
      edit: { at: 20, tolerations: tolerating({ k: 15 }) },
    },
    {
      ...of('down-0', 'edited down', { k: 70 }),
      edit: { at: 20, tolerations: tolerating({ k: 30 }) },
    },
    {
      ...of('spared', 'edited to for ever', { k: 30 }),
      edit: { at: 20, tolerations: tolerating({ k: forEver }) },
    },
    {
      ...of('limited', 'edited from for ever', { k: forEver }),
      edit: { at: 22, tolerations: tolerating({ k: 30 }) },
    },
    { ...of('static', 'static pod', { '': forEver }), object: asMirror },
    { ...of('finalizer', 'finalizers', { k: 25 }), object: withFinalizer },
    of('budget', 'budget', { k: 45 }),
    { ...of('agent', 'of a DaemonSet', { k: 35 }), object: ofDaemonSet },
    { ...of('late', 'late', { k: 22 }), at: 28 },
    { ...of('late-long', 'late', { k: 60 }), at: 38 },
  ];
}

/** A second taint 15 s after the first. */
function onTwo(): readonly CastPod[] {
  const of = maker('z-2');
  return [
    of('shorter', 'two taints', { k: 60, k2: 12 }),
    of('longer', 'two taints', { k: 40, k2: 60 }),
    of('only-second', 'two taints', { k: forEver, k2: 30 }),
    of('not-second', 'two taints', { k: 50 }),
    of('both', 'two taints', { k: forEver, k2: forEver }),
    of('zero', 'two taints', { k: 70, k2: 0 }),
    { ...of('late-two', 'late', { k: 60, k2: 25 }), at: 36 },
    {
      ...of('up-two', 'edited up', { k: 45, k2: 45 }),
      edit: { at: 32, tolerations: tolerating({ k: 90, k2: 90 }) },
    },
  ];
}

/** The taint goes and comes back. */
function onThree(): readonly CastPod[] {
  const of = maker('z-3');
  return [
    of('gone-before', 're-taint', { k: 14 }),
    of('twice', 're-taint', { k: 25 }),
    of('long', 're-taint', { k: 65 }),
    of('never', 're-taint', { k: forEver }),
    { ...of('between', 'late', { k: 30 }), at: 36 },
    { ...of('after', 'late', { k: 40 }), at: 50 },
    {
      ...of('edited-between', 'edited up', { k: 60 }),
      edit: { at: 35, tolerations: tolerating({ k: 20 }) },
    },
    { ...of('agent-3', 'of a DaemonSet', { k: forEver }), object: ofDaemonSet },
  ];
}

/** Two taints, of which one goes. */
function onFour(): readonly CastPod[] {
  const of = maker('z-4');
  return [
    of('short-kept', 'two taints', { k: 80, k2: 35 }),
    of('first-short', 'two taints', { k: 35, k2: 80 }),
    of('saved', 'two taints', { k: forEver, k2: 40 }),
    of('saved-late', 'two taints', { k: 90, k2: 60 }),
    { ...of('budget-4', 'budget', { k: 50, k2: 50 }) },
  ];
}

/** Another taint is written beside it. */
function onFive(): readonly CastPod[] {
  const of = maker('z-5');
  return [
    of('unmoved', 'taints written again', { k: 40 }),
    of('unmoved-long', 'taints written again', { k: 75 }),
    of('unmoved-ever', 'taints written again', { k: forEver }),
    { ...of('finalizer-5', 'finalizers', { k: 60 }), object: withFinalizer },
    {
      ...of('down-5', 'edited down', { k: 70 }),
      edit: { at: 45, tolerations: tolerating({ k: 45 }) },
    },
    { ...of('late-5', 'late', { k: 30 }), at: 40 },
  ];
}

export type Seconds = Readonly<Record<string, number | null>>;

function maker(node: string): (name: string, kind: string, seconds?: Seconds) => CastPod {
  return (name, kind, seconds = {}) => ({
    name,
    node,
    kind,
    tolerations: tolerating(seconds),
    at: 2,
  });
}

/** Tolerates NoExecute taints by key, '' any, for so many seconds, null for ever. */
export function tolerating(seconds: Seconds): readonly TimedToleration[] {
  return Object.entries(seconds).map(([key, tolerationSeconds]) => ({
    ...(key !== '' && { key }),
    operator: 'Exists',
    effect: 'NoExecute',
    ...(tolerationSeconds !== null && { tolerationSeconds }),
  }));
}

/** The pod as a user creates it, on its node at once. */
export function objectOf(
  { name, node, tolerations, object }: CastPod,
  nodeUid: string,
): KubeObject {
  const spec = { nodeName: node, tolerations: [...tolerations] as Json[] };
  const made = pod(namespaceName, name, { spec });
  return object ? object(made, nodeUid) : made;
}

function asMirror(made: KubeObject, nodeUid: string): KubeObject {
  const annotations = { 'kubernetes.io/config.mirror': 'stand-in' };
  const owner = { apiVersion: 'v1', kind: 'Node', name: made.spec.nodeName, uid: nodeUid };
  const ownerReferences = [{ ...owner, controller: true }];
  return { ...made, metadata: { ...made.metadata, annotations, ownerReferences } };
}

function withFinalizer(made: KubeObject): KubeObject {
  return { ...made, metadata: { ...made.metadata, finalizers: ['example.com/hold'] } };
}

function ofDaemonSet(made: KubeObject): KubeObject {
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: daemonSetName, uid: 'agent-uid' };
  const ownerReferences = [{ ...owner, controller: true }];
  const labels = { app: daemonSetName };
  return { ...made, metadata: { ...made.metadata, labels, ownerReferences } };
}

const podCount = 45;
const nodes = ['z-1', 'z-2', 'z-3', 'z-4', 'z-5'];
const keys = ['k', 'k2'];
/** A taint that evicts no pod is written beside those that do. */
const idle = 'spare:NoSchedule';
const lastActSeconds = 70;

/**
 * A scenario of as many pods as the usual one. Taints are written in odd seconds and pods in even
 * ones: the order of events within one second is unknown. So no event falls into the second of a
 * restart.
 */
export function drawScenario(seed: number): Scenario {
  const draw = new Draw(seededRandom(seed));
  const pods = Array.from({ length: podCount }, (_, at) => drawPod(draw, `pod-${at}`));
  const names = pods.map(({ name }) => name);
  const some = (): readonly string[] => names.filter(() => draw.chance(0.12));
  return {
    pods,
    taintings: nodes.flatMap((node) => drawTaintings(draw, node)),
    policies: policiesFor({
      lasting: [...some(), 'nobody'],
      forced: [...pods.flatMap(({ kind, name }) => (kind === 'budget' ? [name] : [])), 'nobody'],
      kept: [...some(), 'nobody'],
      given: [...some(), 'nobody'],
      asEver: [...some(), 'nobody'],
    }),
  };
}

class Draw {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  /** A whole number, both ends among them. */
  between(least: number, most: number): number {
    return least + Math.floor(this.#random() * (most - least + 1));
  }

  /** An even number, both ends among them. */
  even(least: number, most: number): number {
    return 2 * this.between(least / 2, most / 2);
  }

  odd(least: number, most: number): number {
    return 1 + this.even(least - 1, most - 1);
  }

  of<T>(items: readonly T[]): T {
    const item = items[this.between(0, items.length - 1)];
    if (item === undefined) throw new Error('there is nothing to draw from');
    return item;
  }
}

/** Taints that come, go, come back, and are written again, each time something else. */
function drawTaintings(draw: Draw, node: string): readonly Tainting[] {
  const taintings: Tainting[] = [];
  let known = '';
  let at = draw.odd(7, 17);
  for (let left = draw.between(1, 4); left > 0 && at <= lastActSeconds; left--) {
    const evicting = keys.filter((_, index) => draw.chance(index === 0 ? 0.75 : 0.45));
    const taints = evicting.map((key) => `${key}:NoExecute`);
    if (draw.chance(0.2)) taints.push(idle);
    const text = taints.join(' ');
    if (text !== known) taintings.push({ at: at === restartedSeconds ? at + 2 : at, node, taints });
    known = text;
    at += draw.even(6, 26);
  }
  return taintings;
}

const kinds: readonly (readonly [kind: string, object?: CastPod['object']])[] = [
  ...Array.from({ length: 12 }, () => ['plain'] as const),
  ['budget'],
  ['static pod', asMirror],
  ['finalizers', withFinalizer],
  ['of a DaemonSet', ofDaemonSet],
];

function drawPod(draw: Draw, name: string): CastPod {
  const [kind, object] = draw.of(kinds);
  const seconds = drawSeconds(draw, keys);
  const at = draw.chance(0.7) ? 2 : draw.even(4, 50);
  const tolerations = tolerating(kind === 'static pod' ? { '': null } : seconds);
  const made = { name, node: draw.of(nodes), kind, tolerations, at, ...(object && { object }) };
  if (kind === 'static pod' || !draw.chance(0.35)) return made;
  // The API server lets times of tolerations change, and others be added.
  const longer = { ...drawSeconds(draw, keys), ...drawAll(draw, Object.keys(seconds)) };
  const order = [...new Set([...Object.keys(seconds), ...Object.keys(longer)])];
  const sorted = Object.fromEntries(order.map((key) => [key, longer[key] ?? null]));
  const edit = { at: draw.even(at + 2, lastActSeconds), tolerations: tolerating(sorted) };
  return { ...made, kind: kind === 'budget' ? kind : `${kind}, edited`, edit };
}

/** Tolerations of some keys. */
function drawSeconds(draw: Draw, from: readonly string[]): Seconds {
  return drawAll(
    draw,
    from.filter(() => draw.chance(0.7)),
  );
}

function drawAll(draw: Draw, from: readonly string[]): Seconds {
  return Object.fromEntries(
    from.map((key) => [key, draw.chance(0.15) ? null : draw.between(0, 80)]),
  );
}
