import type { Event } from '@taintmgr/core';
import { earlier } from '@taintmgr/core/time';
import type { PodSource } from './pod-source.ts';
import type { Source, SourceEffect } from './source.ts';

/** Nodes, and the pods of those that need it, as one collection. */
export function nodesAndPods(nodes: Source, pods: PodSource): Source {
  return {
    handle(now, input) {
      const effects: (Event | SourceEffect)[] = [];
      for (const effect of nodes.handle(now, input)) {
        const isSynced = effect.kind === 'synced';
        if (!isSynced) effects.push(effect);
        add(effects, isSynced ? pods.nodesSynced(now) : pods.follow(now, effect));
      }
      add(effects, pods.handle(now, input));
      return effects;
    },
    nextWake: () => earlier(nodes.nextWake(), pods.nextWake()),
    status: () => [...nodes.status(), ...pods.status()],
    isCutOff: () => nodes.isCutOff() || pods.isCutOff(),
    heardAt(nodeName) {
      const [ofNode, ofPods] = [nodes.heardAt(nodeName), pods.heardAt(nodeName)];
      return ofNode === null || ofPods === null ? null : Math.min(ofNode, ofPods);
    },
  };
}

/** One by one: there may be a million, and a call has no room for so many arguments. */
function add<T>(effects: T[], more: readonly T[]): void {
  for (const effect of more) effects.push(effect);
}
