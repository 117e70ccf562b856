// The collections that feed the node pressure agent: nodes, pods, and the usage of each node.

import {
  type PressureEvent,
  type PressureNode,
  type PressurePod,
  readSummary,
} from '@taintmgr/core/pressure';
import { earliest, type Instant } from '@taintmgr/core/time';
import { isSourceEffect, type Source, type SourceEffect, sourceOf } from '../pod-watch/source.ts';
import {
  type KubeletAddress,
  kubeletAddressFromJson,
  pressureKinds,
  pressureNodeFromJson,
  pressurePodFromJson,
} from '../pressure/convert.ts';
import { type PollEffect, type PollOptions, SummaryPoller } from '../pressure/summary-poller.ts';
import type { Random } from '../proto/backoff.ts';
import type { ItemChange } from '../proto/inventory.ts';
import { Reflector, type ReflectorInput } from '../proto/reflector.ts';
import { nodesPath, podsPath } from '../proto/requests.ts';

export interface PressureSourceOptions extends PollOptions {
  /** Randomness for waits and timeouts, e.g. Math.random. */
  readonly random: Random;
  /** True for the nodes that are asked how they are: those that settings hold for. */
  readonly watches: (node: PressureNode) => boolean;
  /** Ask for lists as the beginning of watches, where the server can; true when left out. */
  readonly streamLists?: boolean;
  /** Ask for streams in protobuf, where the server has it; false when left out. */
  readonly protobuf?: boolean;
}

/**
 * A node as the machine sees it, and the address of its kubelet, which does not concern the
 * machine.
 */
interface ReachableNode extends PressureNode {
  readonly kubelet: KubeletAddress | null;
}

type Kubelets = Map<string, KubeletAddress | null>;

/** The collections that are read, and by node where its kubelet listens. */
export function pressureSources(options: PressureSourceOptions): {
  readonly sources: readonly Source<PressureEvent>[];
  readonly kubelets: Kubelets;
} {
  const { random, streamLists = true, protobuf = false } = options;
  const shared = {
    random,
    streamLists,
    protobuf,
    kinds: pressureKinds,
    watch: true,
    selectors: {},
  };
  const kubelets: Kubelets = new Map();
  const nodes = new Reflector<ReachableNode>({
    ...shared,
    resource: 'nodes',
    path: nodesPath,
    project: (value) => ({
      ...pressureNodeFromJson(value),
      kubelet: kubeletAddressFromJson(value),
    }),
  });
  const pods = new Reflector<PressurePod>({
    ...shared,
    resource: 'pods',
    path: podsPath,
    project: pressurePodFromJson,
  });
  const nodeSource = sourceOf(nodes, (change) => nodeEvent(change, kubelets));
  return { sources: [polled(nodeSource, options), sourceOf(pods, podEvent)], kubelets };
}

/** Nodes, and their usage, as one collection: the nodes to ask depend on the nodes. */
function polled(
  nodes: Source<PressureEvent>,
  options: PressureSourceOptions,
): Source<PressureEvent> {
  const poller = new SummaryPoller(options);
  return {
    ...nodes,
    handle(now, input) {
      const effects = nodes.handle(now, input);
      for (const effect of effects) if (!isSourceEffect(effect)) follow(now, effect);
      return [...effects, ...poll(poller, now, input).map(eventOf)];
    },
    nextWake: () => earliest([nodes.nextWake(), poller.nextWake()]),
  };

  /** Starts or ends the polling of a node, as its labels may change. */
  function follow(now: Instant, event: PressureEvent): void {
    if (event.kind === 'pressureNodeGone') poller.delete(event.name);
    if (event.kind !== 'pressureNode') return;
    if (options.watches(event.node)) poller.add(now, event.node.name);
    else poller.delete(event.node.name);
  }
}

function poll(poller: SummaryPoller, now: Instant, input: ReflectorInput): readonly PollEffect[] {
  switch (input.kind) {
    case 'start':
    case 'returned':
      return [];
    case 'stop':
      return poller.stop();
    case 'tick':
      return poller.tick(now);
    default:
      return poller.receive(now, input);
  }
}

function eventOf(effect: PollEffect): PressureEvent | SourceEffect {
  switch (effect.kind) {
    case 'answered': {
      const { nodeName, summary } = effect;
      return { kind: 'observed', nodeName, observation: readSummary(summary) };
    }
    case 'unanswered': {
      const { nodeName, message } = effect;
      return { kind: 'observationFailed', nodeName, message };
    }
    default:
      return effect;
  }
}

function nodeEvent(change: ItemChange<ReachableNode>, kubelets: Kubelets): PressureEvent {
  if (change.kind === 'delete') {
    kubelets.delete(change.name);
    return { kind: 'pressureNodeGone', name: change.name };
  }
  const { kubelet, ...node } = change.item;
  kubelets.set(node.name, kubelet);
  return { kind: 'pressureNode', node };
}

function podEvent(change: ItemChange<PressurePod>): PressureEvent {
  return change.kind === 'upsert'
    ? { kind: 'pressurePod', pod: change.item }
    : { kind: 'pressurePodGone', uid: change.uid };
}
