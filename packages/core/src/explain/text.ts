import type { Reason } from '../reason.ts';
import { formatTaint } from '../taint-spec.ts';
import { formatDuration } from '../time.ts';

/** One reason in words, as Events, tables and logs print it. */
export function describeReason(reason: Reason): string {
  switch (reason.code) {
    case 'NotBound':
      return 'not bound to a node';
    case 'NodeUnknown':
      return `node ${reason.nodeName} is not known`;
    case 'NoTaint':
      return 'its node has no NoExecute taint';
    case 'StaticPod':
      return 'static pod: deleting it through the API does not stop it';
    case 'Terminating':
      return 'already terminating';
    case 'NoToleration':
      return `no toleration for ${formatTaint(reason.taint)}`;
    case 'TolerationExpires':
      return `tolerates ${formatTaint(reason.taint)} for ${describeSeconds(reason)}`;
    case 'ToleratedForever':
      return `tolerates ${formatTaint(reason.taint)} without limit`;
    case 'TimerKept':
      return 'a timer set for earlier taints still runs';
    case 'GivenUp':
      return 'given up, until its tolerations or the taints of its node change';
  }
}

function describeSeconds({ toleration }: Extract<Reason, { code: 'TolerationExpires' }>): string {
  return formatDuration(Math.max(0, Number(toleration.tolerationSeconds)) * 1000);
}
