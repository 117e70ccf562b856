import type { Node } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import { formatTaint } from '../model/taint.ts';
import { decidingToleration, type MatchOptions } from '../model/toleration.ts';
import type { WorkingDrain } from '../model/working-drain.ts';
import type { Reason } from './reason.ts';

/** Options of a second look at pod and node. */
interface ConfirmOptions extends MatchOptions {
  /** WorkingDrains at work on the node are no reason to leave its pods; left out: they are. */
  readonly ignoresDrains?: boolean;
}

/**
 * Compares the decision about a pod with pod and node as they are read again; null when it still holds,
 * else what has changed. For whoever carries out an eviction on a view that is not fresh.
 */
export function confirmEviction(
  because: readonly Reason[],
  pod: Pod,
  node: Node | null,
  options: ConfirmOptions,
): string | null {
  const [decisive] = because;
  if (decisive?.code !== 'NoToleration' && decisive?.code !== 'TolerationExpires') return null;
  if (!node) return `node ${pod.nodeName} is gone`;
  const name = formatTaint(decisive.taint);
  const taint = node.taints.find((one) => formatTaint(one) === name);
  if (!taint) return `node ${node.name} has no taint ${name} any more`;
  if (!Object.is(taint.timeAdded, decisive.taint.timeAdded)) {
    return `the taint ${name} of node ${node.name} was added at another time`;
  }
  const drain = node.drains?.find((one) => one.taint === name);
  if (drain && !options.ignoresDrains && !isStale(drain, decisive)) {
    return `drain ${drain.id} evicts for ${name} on node ${node.name}`;
  }
  const asDecided = decisive.asExecuted ? { ...taint, effect: 'NoExecute' } : taint;
  const toleration = decidingToleration(pod.tolerations, asDecided, options);
  // The pod does not have the time that a policy gives it.
  const isOwn = decisive.code === 'TolerationExpires' && !decisive.given;
  const expected = isOwn ? decisive.toleration : null;
  const same = toleration?.tolerationSeconds === expected?.tolerationSeconds;
  return same ? null : `the pod tolerates ${name} differently now`;
}

/** True when the drain was known, and has given no sign of life since. */
function isStale(
  { id, heartbeat }: WorkingDrain,
  { staleDrain }: { readonly staleDrain?: WorkingDrain },
): boolean {
  return id === staleDrain?.id && heartbeat === staleDrain.heartbeat;
}
