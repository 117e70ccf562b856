// The successors of pods that leave: the controllers that create new ones, and the pods without
// any.
import { jobEnd } from '../survey/job-ends.ts';
import type { Workload } from '../survey/workloads.ts';
import { count, groupBy, listText } from '../text/count.ts';
import type { PodReport } from './report.ts';

/** Who creates pods in the place of those that leave. */
export function nextLines(workload: Workload, leaving: readonly PodReport[]): readonly string[] {
  const byOwner = groupBy(
    leaving,
    ({
      facts: {
        pod: { owner },
      },
    }) => {
      return owner ? `${owner.kind} ${owner.name}` : '';
    },
  );
  const lines = [...byOwner].flatMap(([owner, pods]) => nextOf(workload, owner, pods));
  const more = lines.length - nextLinesMax;
  return more <= 0 ? lines : [...lines.slice(0, nextLinesMax), `and ${count(more, 'more line')}`];
}

/** A namespace may have many workloads. */
const nextLinesMax = 8;

function nextOf({ jobs }: Workload, owner: string, pods: readonly PodReport[]): readonly string[] {
  const [first] = pods;
  const { kind = '', name = '' } = first?.facts.pod.owner ?? {};
  const names = listText(pods.map(({ facts }) => facts.pod.name));
  switch (kind) {
    case '':
      return [
        `${names} ${pods.length === 1 ? 'is not recreated: no controller owns it' : 'are not recreated: no controller owns them'}`,
      ];
    case 'ReplicaSet':
      return [`${owner} creates ${count(pods.length, 'new pod')}`];
    case 'StatefulSet':
      return [
        `${owner} creates ${names} again, ${pods.length === 1 ? 'when the old pod' : 'each when its old pod'} has ended`,
      ];
    case 'DaemonSet':
      return daemonLines(owner, pods);
    case 'Job': {
      const job = jobs.get(name);
      const why = jobEnd(job ?? null, pods.length);
      if (why !== null) return [`${owner} fails: ${why}`];
      return [
        job
          ? `${owner} creates ${count(pods.length, 'new pod')}`
          : `${owner} decides: no permission to read it`,
      ];
    }
    default:
      return [`${owner} decides what comes in the place of ${names}`];
  }
}

/**
 * A DaemonSet deletes what does not tolerate a NoExecute taint of the node, and creates nothing there meanwhile; a
 * toleration that ends lets the next pod onto the node at once.
 */
function daemonLines(owner: string, pods: readonly PodReport[]): readonly string[] {
  const barred = pods.filter(({ explanation: { decision } }) => {
    return decision.because.some((reason) => reason.code === 'NoToleration' && !reason.device);
  }).length;
  const others = pods.length - barred;
  return [
    ...(barred > 0
      ? [
          `${owner} deletes ${count(barred, 'pod')} itself without asking budgets, and creates none there until the taint has gone`,
        ]
      : []),
    ...(others > 0
      ? [`${owner} creates ${count(others, 'new pod')} on the same node at once`]
      : []),
  ];
}
