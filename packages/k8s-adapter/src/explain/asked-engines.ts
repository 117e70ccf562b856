// The engines that are asked about a cluster: they take the readings, and never act.
import { type Config, createEngine, type Engine } from '@taintmgr/core';
import type { DeviceEvent } from '@taintmgr/core/devices';
import { zoneHold } from '@taintmgr/core/lifecycle';
import type { EvictionPause } from '@taintmgr/core/policy';
import type { Instant } from '@taintmgr/core/time';
import { comparesNumbers, type Evictor } from '../survey/evictors.ts';
import type { NodeFacts, PodFacts } from '../survey/facts.ts';
import { type ClusterPolicies, policyEvents } from '../survey/policies.ts';
import type { ForecastSurvey } from '../survey/survey.ts';
import type { HeldZone } from '../survey/taint-managers.ts';
import { Drained, leavesToDrains } from './left-to-drains.ts';
import { hypotheticalNode, isWhatIf, type Question } from './question.ts';

/** The part of the readings that the engines take. */
type Reading = Pick<ForecastSurvey, 'at' | 'nodes' | 'pods' | 'evictor' | 'policies' | 'replicas'> &
  Pick<ForecastSurvey, 'devices'>;

/**
 * An engine with the hypothetical taints, and one without them where there are any. Both live on
 * from one reading to the next: they remember the start of a taint that does not name it.
 */
export class AskedEngines {
  readonly #question: Question;
  /** The settings of the engines. */
  #config: Partial<Config> = { leader: false };
  #asked: Engine = startedEngine(this.#config);
  #present: Engine | null = null;
  #drained = new Map<string, Drained>();
  #pods = new Set<string>();
  /** Nodes of replicas of ours that are not asked about. */
  #besides = new Set<string>();
  #policies: ClusterPolicies | undefined;
  /** The pauses that the holds of zones are. */
  #holds: readonly EvictionPause[] = [];
  /** The device events of the last reading. */
  #devices: readonly DeviceEvent[] = [];

  constructor(question: Question) {
    this.#question = question;
    if (isWhatIf(question)) this.#present = startedEngine(this.#config);
  }

  /** With the hypothetical taints. */
  get asked(): Engine {
    return this.#asked;
  }

  /** Without them; null: there are none. */
  get present(): Engine | null {
    return this.#present;
  }

  get config(): Partial<Config> {
    return this.#config;
  }

  /** The effect of drains on the node. */
  drained(nodeName: string): Drained | undefined {
    return this.#drained.get(nodeName);
  }

  /** Takes the present state of everything; missing objects are gone. */
  take(now: Instant, { at, nodes, pods, evictor, policies, replicas, devices }: Reading): void {
    const deviceTaints = devices?.byOurs === true;
    const config = engineConfig(evictor, replicas !== undefined);
    this.#setUp({ ...config, ...(deviceTaints && { deviceTaints }) });
    const beside = besides(replicas, nodes, pods);
    this.#forget(now, nodes, [...pods, ...beside.pods]);
    this.#takeBesides(now, beside.nodes);
    this.#follow(now, policies);
    this.#hold(now, evictor.heldZones ?? []);
    const isHeeded = leavesToDrains(evictor);
    this.#drained = new Map(
      nodes.map((facts) => [facts.node.name, new Drained(facts, at, isHeeded)] as const),
    );
    for (const { node } of nodes) {
      this.#present?.handle(now, { kind: 'nodeUpsert', node: this.#asDrained(node) });
      const assumed = this.#asDrained(hypotheticalNode(node, this.#question, now));
      this.#asked.handle(now, { kind: 'nodeUpsert', node: assumed });
    }
    for (const { pod } of [...pods, ...beside.pods]) {
      for (const engine of this.#engines()) engine.handle(now, { kind: 'podUpsert', pod });
    }
    this.#followDevices(now, (deviceTaints && devices?.events) || []);
  }

  #followDevices(now: Instant, events: readonly DeviceEvent[]): void {
    const gone = goneBetween(this.#devices, events);
    this.#devices = events;
    for (const engine of this.#engines()) {
      for (const event of [...gone, ...events]) engine.handle(now, event);
    }
  }

  /** A controller with other settings than before is another one, and its memory is unknown. */
  #setUp(config: Partial<Config>): void {
    if (JSON.stringify(config) === JSON.stringify(this.#config)) return;
    this.#config = config;
    this.#asked = startedEngine(config);
    this.#present = this.#present && startedEngine(config);
    this.#pods = new Set();
    this.#drained = new Map();
    this.#besides = new Set();
    this.#policies = undefined;
    this.#holds = [];
    this.#devices = [];
  }

  #forget(now: Instant, nodes: readonly NodeFacts[], pods: readonly PodFacts[]): void {
    const names = new Set(nodes.map(({ node }) => node.name));
    const uids = new Set(pods.map(({ pod }) => pod.uid));
    for (const engine of this.#engines()) {
      for (const uid of this.#pods) {
        if (!uids.has(uid)) engine.handle(now, { kind: 'podDelete', uid });
      }
      for (const name of this.#drained.keys()) {
        if (!names.has(name)) engine.handle(now, { kind: 'nodeDelete', name });
      }
    }
    this.#pods = uids;
  }

  #takeBesides(now: Instant, nodes: readonly NodeFacts[]): void {
    const names = new Set(nodes.map(({ node }) => node.name));
    for (const engine of this.#engines()) {
      for (const name of this.#besides) {
        if (!names.has(name)) engine.handle(now, { kind: 'nodeDelete', name });
      }
      for (const { node } of nodes) engine.handle(now, { kind: 'nodeUpsert', node });
    }
    this.#besides = names;
  }

  #follow(now: Instant, policies: ClusterPolicies): void {
    const events = policyEvents(policies, this.#policies);
    this.#policies = policies;
    for (const engine of this.#engines()) for (const event of events) engine.handle(now, event);
  }

  /** Zones that are down as a whole, where the controller holds such. */
  #hold(now: Instant, zones: readonly HeldZone[]): void {
    const pauses = zones.map(({ name, since }) => zoneHold(name, since));
    const gone = this.#holds.filter(({ zone }) => !pauses.some((pause) => pause.zone === zone));
    this.#holds = pauses;
    for (const engine of this.#engines()) {
      for (const { name } of gone) engine.handle(now, { kind: 'pauseDelete', name });
      for (const pause of pauses) engine.handle(now, { kind: 'pauseUpsert', pause });
    }
  }

  #engines(): readonly Engine[] {
    return this.#present ? [this.#asked, this.#present] : [this.#asked];
  }

  #asDrained(node: NodeFacts['node']): NodeFacts['node'] {
    return this.#drained.get(node.name)?.node(node) ?? node;
  }
}

/** Events for objects of the earlier events that are gone in the later ones. */
function goneBetween(
  earlier: readonly DeviceEvent[],
  later: readonly DeviceEvent[],
): readonly DeviceEvent[] {
  const kept = new Set(later.map((event) => JSON.stringify(deletionOf(event))));
  return earlier
    .flatMap((event) => deletionOf(event) ?? [])
    .filter((deletion) => !kept.has(JSON.stringify(deletion)));
}

function deletionOf(event: DeviceEvent): DeviceEvent | null {
  switch (event.kind) {
    case 'resourceSliceUpsert':
      return { kind: 'resourceSliceDelete', name: event.slice.name };
    case 'deviceTaintRuleUpsert':
      return { kind: 'deviceTaintRuleDelete', name: event.rule.name };
    case 'resourceClaimUpsert': {
      const { namespace, name } = event.claim;
      return { kind: 'resourceClaimDelete', namespace, name };
    }
    default:
      return null;
  }
}

/** An engine that has read everything there is, and never acts. */
function startedEngine(config: Partial<Config>): Engine {
  const engine = createEngine(config);
  engine.handle(0, { kind: 'synced' });
  return engine;
}

/** Replicas of ours beside the nodes and pods in question, as far as they are known. */
export function besides(
  replicas: Reading['replicas'],
  nodes: readonly NodeFacts[],
  pods: readonly PodFacts[],
): NonNullable<Reading['replicas']> {
  const names = new Set(nodes.map(({ node }) => node.name));
  const uids = new Set(pods.map(({ pod }) => pod.uid));
  return {
    nodes: replicas?.nodes.filter(({ node }) => !names.has(node.name)) ?? [],
    pods: replicas?.pods.filter(({ pod }) => !uids.has(pod.uid)) ?? [],
  };
}

/**
 * As taintmgr-controller runs; what cannot be seen asks budgets. The controller keeps the last of
 * its replicas where these were read.
 */
function engineConfig(evictor: Evictor, knowsReplicas: boolean): Partial<Config> {
  const { settings, asksBudgets } = evictor;
  const mode = settings?.mode ?? (asksBudgets === false ? 'delete' : 'evict');
  const comparisonOperators = comparesNumbers(evictor);
  const { ownPod = null } = knowsReplicas ? evictor : {};
  const given = { comparisonOperators, mode, ownPod };
  return { ...settings?.engine, ...given, semantics: 'precise', leader: false };
}
