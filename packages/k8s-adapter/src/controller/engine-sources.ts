// The collections that feed the engine, and the events that it hears of them.
import type { Config, DaemonSet, Event, Lease, Namespace, Node, Pod } from '@taintmgr/core';
import type { PolicyObject } from '../kinds/manifest.ts';
import { FollowedObjects, policyEvent, selectsNamespaces } from '../manifests/followed.ts';
import {
  defaultPodWatch,
  nodesAndPods,
  PodSource,
  type PodWatch,
} from '../pod-watch/pod-source.ts';
import type { NewReflector } from '../pod-watch/pod-streams.ts';
import { apartFromPods, type Source, sourceOf } from '../pod-watch/source.ts';
import type { Random } from '../proto/backoff.ts';
import {
  daemonSetFromJson,
  namespaceFromJson,
  nodeFromJson,
  nodeLeaseFromJson,
  podFromJson,
} from '../proto/convert.ts';
import type { ItemChange, Project } from '../proto/inventory.ts';
import { Reflector, type ReflectorOptions } from '../proto/reflector.ts';
import {
  daemonSetsPath,
  namespacesPath,
  nodeLeasesPath,
  nodesPath,
  podsPath,
  type Selectors,
} from '../proto/requests.ts';
import { AllPodsPolicies, clusterPolicies } from './cluster-policies.ts';
import { type DeviceSight, deviceSources } from './device-sources.ts';
import { GonePauses } from './gone-pauses.ts';

/** The collections that are read, and the part of each. */
export interface SourceOptions {
  /** Randomness for waits and timeouts, e.g. Math.random. */
  readonly random: Random;
  /** The part of each collection that is read at all, judged by the server. */
  readonly nodes?: Selectors;
  /** Selects the pods that are read; left out: all that the engine needs. */
  readonly pods?: Selectors;
  /** The part of that which reaches the machine, judged by us. */
  readonly acceptsNode?: (node: Node) => boolean;
  /** Selects the pods that reach the machine; left out: all that are read. */
  readonly acceptsPod?: (pod: Pod) => boolean;
  /** Read the leases of nodes too, for the node lifecycle; false when left out. */
  readonly leases?: boolean;
  /** Read DaemonSets too, for its legacy mode; false when left out. */
  readonly daemonSets?: boolean;
  /** Read devices, their taints and claims too, where they are served; left out: they are not. */
  readonly devices?: DeviceSight;
  /** Policies of files; left out: none. Namespaces are read where one selects them. */
  readonly policies?: readonly PolicyObject[];
  /** Follow those of the cluster too, and with them all namespaces; false when left out. */
  readonly clusterPolicies?: boolean;
  /** And NodeDrains; false when left out. */
  readonly nodeDrains?: boolean;
  /**
   * The TaintManager that remembers pauses for a later start when they are gone; left out: none
   * does.
   */
  readonly remembering?: string;
  /** Read only the pods that something may have to be done about; left out: all of them. */
  readonly podWatch?: Partial<PodWatch>;
  /** The pod in which this runs: all pods are read while its node needs that. Left out: unknown. */
  readonly ownPod?: Config['ownPod'];
  /** List once, watch nothing, change nothing. */
  readonly readOnly?: boolean;
  /** Ask for lists as the beginning of watches, where the server can; true when left out. */
  readonly streamLists?: boolean;
  /** Ask for streams in protobuf, where the server has it; false when left out. */
  readonly protobuf?: boolean;
}

/** The collections that are read, nodes and pods first. `followed` is kept as policies are read. */
export function engineSources(
  options: SourceOptions,
  followed: FollowedObjects = new FollowedObjects(),
): readonly Source[] {
  const { leases = false, daemonSets = false, readOnly = false, podWatch } = options;
  const { policies = [], clusterPolicies: followsCluster = false } = options;
  const shared = sharedOptions(options);
  const nodes = sourceOf(
    new Reflector<Node>({
      ...shared,
      resource: 'nodes',
      path: nodesPath,
      selectors: options.nodes ?? {},
      project: accepted(nodeFromJson, options.acceptsNode),
    }),
    nodeEvent,
  );
  const byNode = podWatch && !readOnly ? podsByNode(options, podWatch) : null;
  const allPods = byNode && new AllPodsPolicies(byNode);
  const sources =
    byNode && allPods
      ? [allPods.pods(nodesAndPods(nodes, byNode))]
      : [nodes, sourceOf(podReflector(options), podEvent)];
  if (policies.length > 0) sources.unshift(policySource(policies));
  const { nodeDrains = false, remembering } = options;
  const given = { random: shared.random, watch: shared.watch, nodeDrains };
  const ofCluster = followsCluster
    ? clusterPolicies({ ...given, files: policies, allPods, followed })
    : [];
  sources.push(...ofCluster);
  if (remembering !== undefined) {
    const { random } = shared;
    const known = { others: ofCluster, files: policies, followed };
    sources.push(new GonePauses({ random, manager: remembering, ...known }));
  }
  if (followsCluster || policies.some(selectsNamespaces)) sources.push(namespaceSource(shared));
  const { random, watch } = shared;
  // In pages, as all that is not of pods and nodes.
  if (options.devices) sources.push(...deviceSources(options.devices, { random, watch }));
  if (leases) {
    const [resource, path, project] = ['leases', nodeLeasesPath, nodeLeaseFromJson] as const;
    const reflector = new Reflector<Lease>({ ...shared, resource, path, selectors: {}, project });
    sources.push(sourceOf(reflector, leaseEvent));
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
    sources.push(sourceOf(reflector, daemonSetEvent));
  }
  return sources;
}

function namespaceSource(shared: Shared): Source {
  const [resource, path, project] = ['namespaces', namespacesPath, namespaceFromJson] as const;
  const { random, watch } = shared;
  const options = { random, watch, resource, path, selectors: {}, project };
  return apartFromPods(sourceOf(new Reflector<Namespace>(options), namespaceEvent));
}

type Shared = Pick<
  ReflectorOptions<unknown>,
  'random' | 'watch' | 'streamLists' | 'protobuf' | 'reportsEarly'
>;

/**
 * First lists are reported object by object: the largest are not held twice, nor taken in all at
 * once.
 */
function sharedOptions(options: SourceOptions): Shared {
  const { random, readOnly = false, streamLists = true, protobuf = false } = options;
  return { random, watch: !readOnly, streamLists, protobuf, reportsEarly: true };
}

/** All pods; or, `ofNode`, those of one node, as far as the reflector differs by that. */
function podReflector(
  options: SourceOptions,
  ofNode: Partial<ReflectorOptions<Pod>> = {},
): Reflector<Pod> {
  const { pods = {}, acceptsPod } = options;
  return new Reflector<Pod>({
    ...sharedOptions(options),
    resource: 'pods',
    path: podsPath,
    selectors: pods,
    project: accepted(podFromJson, acceptsPod),
    ...ofNode,
  });
}

/**
 * The pods of nodes that need it. The pods of one node come as a list and then a watch: the API
 * server has an index by node for lists, and walks all pods for the beginning of a watch.
 */
function podsByNode(options: SourceOptions, podWatch: Partial<PodWatch>): PodSource {
  const newReflector: NewReflector = (nodeName, id) => {
    if (nodeName === null) return podReflector(options, { id });
    const selectors = onNode(nodeName, options.pods ?? {});
    return podReflector(options, { id, selectors, streamLists: false, reportsEarly: false });
  };
  return new PodSource({ ...defaultPodWatch, ...podWatch }, newReflector, options.ownPod);
}

function onNode(nodeName: string, { fieldSelector, ...others }: Selectors): Selectors {
  const ofNode = `spec.nodeName=${nodeName}`;
  return { ...others, fieldSelector: fieldSelector ? `${ofNode},${fieldSelector}` : ofNode };
}

function nodeEvent(change: ItemChange<Node>): Event {
  return change.kind === 'upsert'
    ? { kind: 'nodeUpsert', node: change.item, ...(change.listed && { afterGap: true }) }
    : { kind: 'nodeDelete', name: change.name };
}

function podEvent(change: ItemChange<Pod>): Event {
  return change.kind === 'upsert'
    ? { kind: 'podUpsert', pod: change.item }
    : { kind: 'podDelete', uid: change.uid };
}

function leaseEvent(change: ItemChange<Lease>): Event {
  return change.kind === 'upsert'
    ? { kind: 'leaseUpsert', lease: change.item }
    : { kind: 'leaseDelete', nodeName: change.name };
}

function daemonSetEvent(change: ItemChange<DaemonSet>): Event {
  return change.kind === 'upsert'
    ? { kind: 'daemonSetUpsert', daemonSet: change.item }
    : { kind: 'daemonSetDelete', uid: change.uid };
}

function namespaceEvent(change: ItemChange<Namespace>): Event {
  return change.kind === 'upsert'
    ? { kind: 'namespaceUpsert', namespace: change.item }
    : { kind: 'namespaceDelete', name: change.name };
}

/** Reads an object, and lets through what the filter accepts. */
function accepted<T>(read: (object: unknown) => T, accepts?: (item: T) => boolean): Project<T> {
  if (!accepts) return read;
  return (object) => {
    const item = read(object);
    return accepts(item) ? item : null;
  };
}

function policySource(objects: readonly PolicyObject[]): Source {
  let isRead = false;
  return {
    handle(_, { kind }) {
      if (kind !== 'start' || isRead) return [];
      isRead = true;
      const events = objects.map(policyEvent).filter((event): event is Event => event !== null);
      return [...events, { kind: 'synced' }];
    },
    nextWake: () => null,
    status: () => [],
    isCutOff: () => false,
    // A file does not change while we run.
    heardAt: () => Number.POSITIVE_INFINITY,
  };
}
