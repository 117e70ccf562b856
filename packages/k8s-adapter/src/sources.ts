import type { DaemonSet, Event, Instant, Lease, Node, Pod } from '@taintmgr/core';
import type { Random } from './proto/backoff.ts';
import {
  daemonSetFromJson,
  labelledPodFromJson,
  leaseFromJson,
  nodeFromJson,
  podFromJson,
} from './proto/convert.ts';
import type { Change, Project } from './proto/inventory.ts';
import { Reflector, type ReflectorEffect, type ReflectorInput } from './proto/reflector.ts';
import {
  daemonSetsPath,
  nodeLeasesPath,
  nodesPath,
  podsPath,
  type Selectors,
} from './proto/request.ts';

/** Which collections are read, and what of them. */
export interface SourceOptions {
  /** Randomness for waits and timeouts, e.g. Math.random. */
  readonly random: Random;
  /** What of each collection is read at all, judged by the server. */
  readonly nodes?: Selectors;
  readonly pods?: Selectors;
  /** What of that the machine is told of, judged by us. */
  readonly acceptsNode?: (node: Node) => boolean;
  readonly acceptsPod?: (pod: Pod) => boolean;
  /** Read the leases of nodes too, for the node lifecycle; false when left out. */
  readonly leases?: boolean;
  /** Read DaemonSets and the labels of pods too, for its legacy mode; false when left out. */
  readonly daemonSets?: boolean;
  /** List once, watch nothing, change nothing. */
  readonly readOnly?: boolean;
  /** Ask for lists as the beginning of watches, where the server can; true when left out. */
  readonly streamLists?: boolean;
  /** Ask for streams in protobuf, where the server has it; false when left out. */
  readonly protobuf?: boolean;
}

/** A collection that is read, whatever is in it. */
export interface Source {
  readonly reflector: Pick<Reflector<unknown>, 'resource' | 'state' | 'heardAt' | 'nextWake'>;
  /** What an input gives: news for the machine, or requests. */
  readonly handle: (now: Instant, input: ReflectorInput) => readonly (Event | SourceEffect)[];
}

/** What a source gives besides news. */
export type SourceEffect = Exclude<ReflectorEffect<never>, Change<never>>;

/** The collections that are read, nodes and pods first. */
export function sourcesOf(options: SourceOptions): readonly Source[] {
  const { random, leases = false, daemonSets = false, readOnly = false } = options;
  const { streamLists = true, protobuf = false } = options;
  const shared = { random, watch: !readOnly, streamLists, protobuf };
  const nodes = new Reflector<Node>({
    ...shared,
    resource: 'nodes',
    path: nodesPath,
    selectors: options.nodes ?? {},
    project: accepted(nodeFromJson, options.acceptsNode),
  });
  const pods = new Reflector<Pod>({
    ...shared,
    resource: 'pods',
    path: podsPath,
    selectors: options.pods ?? {},
    project: accepted(daemonSets ? labelledPodFromJson : podFromJson, options.acceptsPod),
  });
  const sources = [source(nodes, nodeEvent), source(pods, podEvent)];
  if (leases) {
    const [resource, path, project] = ['leases', nodeLeasesPath, leaseFromJson] as const;
    const reflector = new Reflector<Lease>({ ...shared, resource, path, selectors: {}, project });
    sources.push(source(reflector, leaseEvent));
  }
  if (daemonSets) {
    const [resource, path, project] = ['daemonsets', daemonSetsPath, daemonSetFromJson] as const;
    const reflector = new Reflector<DaemonSet>({
      ...shared,
      resource,
      path,
      selectors: {},
      project,
    });
    sources.push(source(reflector, daemonSetEvent));
  }
  return sources;
}

/** A reflector, with its differences turned into what they are to the machine. */
function source<T>(reflector: Reflector<T>, event: (change: Change<T>) => Event): Source {
  return {
    reflector,
    handle: (now, input) =>
      reflector.handle(now, input).map((effect) => (isChange(effect) ? event(effect) : effect)),
  };
}

function nodeEvent(change: Change<Node>): Event {
  return change.kind === 'upsert'
    ? { kind: 'nodeUpsert', node: change.item }
    : { kind: 'nodeDelete', name: change.name };
}

function podEvent(change: Change<Pod>): Event {
  return change.kind === 'upsert'
    ? { kind: 'podUpsert', pod: change.item }
    : { kind: 'podDelete', uid: change.uid };
}

function leaseEvent(change: Change<Lease>): Event {
  return change.kind === 'upsert'
    ? { kind: 'leaseUpsert', lease: change.item }
    : { kind: 'leaseDelete', nodeName: change.name };
}

function daemonSetEvent(change: Change<DaemonSet>): Event {
  return change.kind === 'upsert'
    ? { kind: 'daemonSetUpsert', daemonSet: change.item }
    : { kind: 'daemonSetDelete', uid: change.uid };
}

function isChange<T>(effect: ReflectorEffect<T>): effect is Change<T> {
  return effect.kind === 'upsert' || effect.kind === 'delete';
}

/** Reads an object, and lets through what the filter accepts. */
function accepted<T>(read: (object: unknown) => T, accepts?: (item: T) => boolean): Project<T> {
  if (!accepts) return read;
  return (object) => {
    const item = read(object);
    return accepts(item) ? item : null;
  };
}

/** Whether it is for the outside, and not for the machine. */
export function isEffect(effect: Event | SourceEffect): effect is SourceEffect {
  return effect.kind === 'send' || effect.kind === 'abort' || effect.kind === 'notice';
}
