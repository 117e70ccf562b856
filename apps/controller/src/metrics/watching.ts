import type { Notice } from '@taintmgr/k8s-adapter';
import type { Meter } from './meter.ts';

/** Metrics of watches and of Kubernetes Events. */
export function watchingMetrics(meter: Meter): (notice: Notice) => void {
  const lists = meter.counter('taintmgr_lists_total', 'Lists read completely.', 'resource');
  const reconnects = meter.counter(
    'taintmgr_reconnects_total',
    'Reads that failed, by what is done next.',
    'resource',
    'next',
  );
  const events = meter.counter(
    'taintmgr_events_total',
    'Kubernetes Events recorded or lost.',
    'result',
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
      case 'eventsDropped':
        events.inc({ result: 'lost' }, notice.count);
        break;
      default: // not counted here
    }
  };
}
