import type { Notice } from '@taintmgr/k8s-adapter';
import { Counter, type Registry } from 'prom-client';
import { describing } from './metric.ts';

/** Metrics of watches and of Kubernetes Events. */
export function watchingMetrics(registry: Registry): (notice: Notice) => void {
  const describe = describing(registry);
  const lists = new Counter(describe('taintmgr_lists_total', 'Lists read completely.', 'resource'));
  const reconnects = new Counter(
    describe(
      'taintmgr_reconnects_total',
      'Reads that failed, by what is done next.',
      'resource',
      'next',
    ),
  );
  const events = new Counter(
    describe('taintmgr_events_total', 'Kubernetes Events recorded or lost.', 'result'),
  );
  return (notice) => {
    switch (notice.kind) {
      case 'listed':
        lists.inc({ resource: notice.resource });
        break;
      case 'reconnecting':
        reconnects.inc({ resource: notice.resource, next: notice.next });
        break;
      case 'eventRecorded':
        events.inc({ result: 'recorded' });
        break;
      case 'eventLost':
        events.inc({ result: 'lost' });
        break;
      default: // not counted here
    }
  };
}
