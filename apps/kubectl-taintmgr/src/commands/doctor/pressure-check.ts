// The check of what node-pressure-controller has left on nodes since it was switched off.
import { type PressureConditionType, pressureConditionTypes } from '@taintmgr/core/pressure';
import { ownConditionType, ownTaintKey } from '@taintmgr/k8s-adapter';
import type { Connection } from '../../cli/connection.ts';
import type { NodeFacts } from '../../cluster/facts.ts';
import { ClusterReader } from '../../cluster/reader.ts';
import type { Survey } from '../../cluster/survey.ts';
import { evictsUnderPressure } from '../../cluster/taint-managers.ts';
import { shellWord } from '../../render/shell-word.ts';
import { type Finding, findingsOf } from './finding.ts';

/** So many nodes are named; more are counted. */
const namesMax = 3;

/** Conditions and taints that nobody takes back any more; nothing where there are none. */
export async function checkPressure(
  { nodes, at }: Survey,
  { client }: Connection,
): Promise<readonly Finding[]> {
  const left = pressureConditionTypes.flatMap((type) => leftBy(type, nodes ?? []));
  if (left.length === 0) return [];
  const managers = await new ClusterReader(client).taintManagers();
  return managers.some((manager) => evictsUnderPressure(manager, at)) ? [] : left;
}

function leftBy(type: PressureConditionType, nodes: readonly NodeFacts[]): readonly Finding[] {
  const [condition, key] = [ownConditionType(type), ownTaintKey(type)];
  const pressed = nodes.filter(({ node }) => {
    return node.conditions?.some((one) => one.type === condition && one.status === 'True');
  });
  const tainted = nodes.filter(({ node }) => node.taints.some((taint) => taint.key === key));
  const patch = { status: { conditions: [{ type: condition, $patch: 'delete' }] } };
  return [
    ...finding(`the condition ${condition}=True`, pressed, (names) => {
      return `kubectl patch nodes ${names} --subresource=status -p '${JSON.stringify(patch)}'`;
    }),
    ...finding(`the taint ${key}`, tainted, (names) => `kubectl taint nodes ${names} ${key}-`),
  ];
}

function finding(
  what: string,
  nodes: readonly NodeFacts[],
  fix: (names: string) => string,
): readonly Finding[] {
  if (nodes.length === 0) return [];
  const names = nodes.slice(0, namesMax).map(({ node }) => node.name);
  const more = nodes.length > namesMax ? ` and ${nodes.length - namesMax} more` : '';
  const message = `${what} stays on ${names.join(', ')}${more}: nobody runs node-pressure-controller, as far as TaintManagers show`;
  const chosen = more === '' ? names.map(shellWord).join(' ') : 'NAMES';
  return [findingsOf('pressure')('WARN', message, { fix: fix(chosen) })];
}
