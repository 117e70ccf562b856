// Policies of files, as a source of the loop: all there is of them is known at the start.
import type { Event } from '@taintmgr/core';
import type { PolicyObject } from '../kinds/manifest.ts';
import { policyEvent } from '../manifests/events.ts';
import type { Source } from '../pod-watch/source.ts';

export function policySource(objects: readonly PolicyObject[]): Source {
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
    // Nobody changes it while we run.
    heardAt: () => Number.POSITIVE_INFINITY,
  };
}
