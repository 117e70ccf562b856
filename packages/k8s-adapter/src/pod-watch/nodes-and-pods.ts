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
        if (effect.kind === 'synced') effects.push(...pods.nodesSynced(now));
        else effects.push(effect, ...pods.follow(now, effect));
      }
      // One by one: there may be a million.
      for (const effect of pods.handle(now, input)) effects.push(effect);
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
