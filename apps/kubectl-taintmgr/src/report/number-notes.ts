// What an answer owes to tolerations with Lt and Gt, which count only with a feature gate.
import { formatTaint, type Taint, type Toleration, toleratesTaint } from '@taintmgr/core';
import type { Evictor } from '../cluster/evictors.ts';
import { count, listText } from '../render/count.ts';
import { printable } from '../render/printable.ts';
import type { NodeReport } from './report.ts';

const gate = 'the feature gate TaintTolerationComparisonOperators';

/** One line for each NoExecute taint that pods tolerate by Lt or Gt, where that may make a difference. */
export function numberNotes(evictor: Evictor, nodes: readonly NodeReport[]): readonly string[] {
  const names = new Map<string, string[]>();
  const whys = new Map<string, string>();
  for (const { taints, pods } of nodes) {
    for (const { taint } of taints) {
      for (const { facts } of pods ?? []) {
        const { namespace, name, tolerations } = facts.pod;
        const why = tolerations.flatMap((one) => whyOf(one, taint, evictor) ?? [])[0];
        if (why === undefined) continue;
        const text = formatTaint(taint);
        whys.set(text, why);
        names.set(text, [...(names.get(text) ?? []), `${namespace}/${name}`]);
      }
    }
  }
  return Array.from(whys, ([taint, why]) => {
    const pods = names.get(taint) ?? [];
    return printable(
      `${count(pods.length, 'pod')} (${listText(pods)}) compared with taint ${taint} by Lt or Gt: ${why}`,
    );
  });
}

/** Null: it has nothing to do with the taint, or whether it counts is plain. */
function whyOf(toleration: Toleration, taint: Taint, evictor: Evictor): string | null {
  const { operator, key, effect } = toleration;
  if (operator !== 'Lt' && operator !== 'Gt') return null;
  if ((key !== '' && key !== taint.key) || (effect !== '' && effect !== taint.effect)) return null;
  const isInteger = [-1, 1].some((sign) => isBeyond(taint, sign));
  if (!isInteger) return 'the value of the taint is no integer, so no such toleration covers it';
  return toleratesTaint(toleration, taint, { comparisonOperators: true })
    ? gateText(evictor)
    : null;
}

/** Whether the value of the taint can be compared with a number. */
function isBeyond(taint: Taint, sign: number): boolean {
  const [operator, value] = sign > 0 ? ['Gt', `${-(2n ** 63n)}`] : ['Lt', `${2n ** 63n - 1n}`];
  const { key, effect } = taint;
  const all = { key, operator, value, effect, tolerationSeconds: null };
  return toleratesTaint(all, taint, { comparisonOperators: true });
}

/** Null: such tolerations count, for sure. */
function gateText(evictor: Evictor): string | null {
  const { name, settings, comparesNumbers, assumesNumbers } = evictor;
  const off = (who: string): string => `the toleration does not count, as ${gate} of ${who} is off`;
  if (settings) {
    return settings.engine.comparisonOperators === true ? null : off('taintmgr-controller');
  }
  if (name === 'taintmgr-controller') {
    return `whether the toleration counts depends on ${gate} of taintmgr-controller, whose settings cannot be seen: it is taken to be off, which is the default`;
  }
  if (assumesNumbers) {
    return (
      `the toleration is taken to count, because an API server stores such tolerations only while ${gate} is on there; ` +
      'the flags of kube-controller-manager cannot be seen: if the gate is off there, the pods go as if they had no such toleration'
    );
  }
  return comparesNumbers === true ? null : off('kube-controller-manager');
}
