// How long pods were taken to start and to stop, in sentences: those that are alike in one.
import { count } from '../../../render/count.ts';
import type { AssumedTime, Assumption } from '../times/pod-times.ts';
import { rangeText } from '../times/ranges.ts';

/** More workloads than these are counted. */
const namedMax = 3;

const fromTexts: Readonly<Record<AssumedTime['from'], string>> = {
  script: 'by the script',
  annotation: 'as they say',
  observed: 'as seen in the cluster',
  probes: 'by their probes',
  grace: 'by hooks and grace periods',
  usual: 'with images at hand',
};

/** `assumed of Deployment shop/web: starts in 1m to 1m30s (by the script), stops in ...` */
export function assumedLines(assumptions: readonly Assumption[]): readonly string[] {
  const groups = new Map<string, string[]>();
  for (const { workload, start, stop } of assumptions) {
    const text = `start ${timeText(start)}, stop ${timeText(stop)}`;
    const group = groups.get(text) ?? [];
    group.push(workload);
    groups.set(text, group);
  }
  return Array.from(groups, ([text, workloads]) => {
    const isFew = workloads.length <= namedMax;
    const whose = isFew ? workloads.join(', ') : count(workloads.length, 'workload');
    return `assumed of pods of ${whose}: ${text}`;
  });
}

/** `in 1m to 1m30s (by their probes)` */
function timeText({ leastSeconds, mostSeconds, from }: AssumedTime): string {
  return `in ${rangeText([leastSeconds * 1000, mostSeconds * 1000])} (${fromTexts[from]})`;
}
