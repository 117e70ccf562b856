import {
  type Command,
  describeReason,
  type Engine,
  type NodeExplanation,
  type PodExplanation,
  type Subject,
} from '@taintmgr/core';
import { describeHold, describeLifecycleReason } from '@taintmgr/core/lifecycle';
import { formatTimeMillis } from '@taintmgr/core/time';
import type { Difference } from './difference.ts';
import { targetOf } from './target.ts';

/** What the engine of this build says of the pods and nodes that differ. */
export function explanationsOf(engine: Engine, difference: Difference): readonly string[] {
  const { at, recorded, replayed } = difference;
  const subjects = new Map<string, Subject>();
  for (const command of [recorded, replayed]) {
    const subject = subjectOf(command);
    if (subject) subjects.set(JSON.stringify(subject), subject);
  }
  return Array.from(subjects.values(), (subject) => {
    const answer = engine.explain(at, subject);
    const name = subject.kind === 'pod' ? `${subject.namespace}/${subject.name}` : subject.name;
    if (answer === null) return `${subject.kind} ${name} is not known`;
    return answer.kind === 'pod' ? podText(name, answer) : nodeText(name, answer);
  });
}

function subjectOf(command: Command | string | null): Subject | null {
  if (command === null || typeof command === 'string') return null;
  const { pod, node } = targetOf(command);
  if (pod) return { kind: 'pod', namespace: pod.namespace, name: pod.name };
  return node === null ? null : { kind: 'node', name: node };
}

function podText(name: string, { decision, attempt, pod }: PodExplanation): string {
  const reasons = decision.because.map(describeReason).join('; ');
  const due = decision.kind === 'evict' ? ` at ${formatTimeMillis(decision.deadline)}` : '';
  const stage = attempt === null ? '' : `, ${attempt.kind}`;
  return `pod ${name} on ${pod.nodeName || 'no node'}: ${decision.kind}${due}${stage}: ${reasons}`;
}

function nodeText(name: string, { health, zone }: NodeExplanation): string {
  const reasons = health?.because.map(describeLifecycleReason).join('; ') || 'nothing to say';
  const hold = zone?.hold ? `, ${describeHold(zone.hold)}` : '';
  const place = zone ? ` (zone ${zone.name || '<none>'}: ${zone.state ?? 'Unknown'}${hold})` : '';
  return `node ${name}: ${reasons}${place}`;
}
