// The status that kube-controller-manager 1.36.2 gives a DeviceTaintRule, in its words.
import type { DeviceTaintRule, EvictionProgress } from './device.ts';

/** The counts for the condition. */
export interface RuleCounts {
  /** Of the slices that count, and for each claim that holds one; for effect None alone. */
  readonly published: number;
  readonly allocated: number;
  /** Pods that have a deadline for the rule, or would have one, and their namespaces. */
  readonly pods: number;
  readonly namespaces: number;
  /** Pods that have left for the rule since kube-controller-manager was started. */
  readonly evicted: number;
}

type Condition = Omit<EvictionProgress, 'transitionAt'>;

/** The condition EvictionInProgress of a rule. */
export function conditionOf({ generation, taint }: DeviceTaintRule, counts: RuleCounts): Condition {
  const said = saidOf(taint.effect, counts);
  const past = `${plural(counts.evicted, 'pod')} evicted since starting the controller.`;
  const messages = [said.message, counts.evicted > 0 ? past : ''].filter((text) => text !== '');
  return { ...said, message: messages.join(' '), observedGeneration: generation };
}

export function isSameCondition(one: Condition | null, other: Condition): boolean {
  return (
    one?.status === other.status &&
    one.reason === other.reason &&
    one.message === other.message &&
    one.observedGeneration === other.observedGeneration
  );
}

function saidOf(effect: string, counts: RuleCounts): Omit<Condition, 'observedGeneration'> {
  const { published, allocated, pods, namespaces, evicted } = counts;
  const where = namespaces === 1 ? '1 namespace' : `${namespaces} different namespaces`;
  switch (effect) {
    case 'NoExecute': {
      const need = pods === 1 ? 'needs' : 'need';
      const message = `${plural(pods, 'pod')} ${need} to be evicted in ${where}.`;
      if (pods > 0) return { status: 'True', reason: 'PodsPendingEviction', message };
      return { status: 'False', reason: evicted > 0 ? 'Completed' : 'NotStarted', message: '' };
    }
    case 'None': {
      const devices = `${plural(published, 'published device')} selected. ${plural(allocated, 'allocated device')} selected.`;
      const message = `${devices} ${plural(pods, 'pod')} would be evicted in ${where} if the effect was NoExecute. This information will not be updated again. Recreate the DeviceTaintRule to trigger an update.`;
      return { status: 'False', reason: 'NoEffect', message };
    }
    default: {
      const message = 'Eviction only happens for the NoExecute effect.';
      return { status: 'False', reason: 'OtherEffect', message };
    }
  }
}

function plural(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}
