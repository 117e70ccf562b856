// NodeTaintRule: which condition of a node becomes which taint.

import type { TaintName } from '@taintmgr/core';
import { isLifecycleTaint, lifecycleKeys } from '@taintmgr/core/lifecycle';
import type { NodeTaintRule } from '@taintmgr/core/policy';
import { durationOf, type Metadata } from './engine-value.ts';
import {
  characters,
  conditions,
  count,
  duration,
  filledText,
  list,
  object,
  observedGeneration,
  selector,
  taintKey,
  taintValue,
  truth,
  wholeOrPercent,
  word,
} from './fields.ts';
import { age, column, inForce, type Kind, type TypeOf } from './schema.ts';

/** As CEL says `isLifecycleTaint` of the rule's taint. */
const lifecycleTaint = Object.entries(lifecycleKeys)
  .map(([effect, keys]) => {
    const list = keys.map((key) => `'${key}'`).join(', ');
    return `(self.taint.effect == '${effect}' && self.taint.key in [${list}])`;
  })
  .join(' || ');
const noLifecycleTaint: string = `!(${lifecycleTaint})`;

export const nodeTaintRuleSpec = object(
  'Which condition of a node becomes which taint.',
  {
    condition: object(
      'The condition of a node.',
      {
        type: filledText('Its type, such as KernelDeadlock.', 316),
        status: word('The status that brings the taint.', ['False', 'True', 'Unknown'], 'True'),
      },
      { required: ['type'] },
    ),
    holds: { ...duration('How long the condition must hold.'), default: '0s' },
    clear: { ...duration('How long it must be over before the taint is removed.'), default: '0s' },
    taint: object(
      'The taint that nodes get.',
      {
        key: taintKey,
        value: { ...taintValue, default: '' },
        effect: word('The effect of the taint.', ['NoExecute', 'NoSchedule', 'PreferNoSchedule']),
      },
      { required: ['key', 'effect'] },
    ),
    nodeSelector: { ...selector('The nodes that the rule is for; left out: all.'), default: {} },
    maxNodes: wholeOrPercent(
      'At most so many of these nodes carry the taint by this rule, as a number or, such as 10%, a part; left out: no limit.',
      [0, 1000000],
      '[0-9]{1,2}',
    ),
    onlyUnreachable: truth(
      'The condition counts only while the node is unreachable (its condition Ready is Unknown), and only if it came since: the taint goes when the node is back.',
      false,
    ),
    dryRun: truth('Tell what the rule would do, and change nothing.', false),
  },
  {
    required: ['condition', 'taint'],
    rules: [
      {
        cel: "self.taint.key != 'node.kubernetes.io/out-of-service' || self.onlyUnreachable",
        message:
          'want onlyUnreachable with the taint node.kubernetes.io/out-of-service, which kills pods without asking their kubelet',
        holds: (self: {
          readonly taint: { readonly key: string };
          readonly onlyUnreachable: boolean;
        }): boolean =>
          self.taint.key !== 'node.kubernetes.io/out-of-service' || self.onlyUnreachable,
      },
      {
        cel: noLifecycleTaint,
        message: 'want a taint of your own: the node-lifecycle-controller removes this one',
        holds: ({ taint }: { readonly taint: TaintName }): boolean => !isLifecycleTaint(taint),
      },
    ],
  },
);

/** The spec of a NodeTaintRule, with its defaults. */
export type NodeTaintRuleSpec = TypeOf<typeof nodeTaintRuleSpec>;

export const nodeTaintRuleStatus = object('What the leader says.', {
  observedGeneration,
  nodesSelected: count('Nodes that it is for.'),
  nodesTainted: count('Nodes that it has tainted.'),
  nodes: list('Their names, the first of them.', 100, characters(253)),
  conditions,
});

/** The rule for the engine. */
export function nodeTaintRuleOf(
  { name, uid, generation }: Metadata,
  spec: NodeTaintRuleSpec,
): NodeTaintRule {
  const { condition, taint, nodeSelector, maxNodes, dryRun } = spec;
  return {
    name,
    uid,
    generation,
    condition: condition.type,
    status: condition.status,
    holdsMs: durationOf(spec.holds) ?? 0,
    clearMs: durationOf(spec.clear) ?? 0,
    taint,
    nodes: nodeSelector,
    nodesMax: nodesMaxOf(maxNodes),
    ...(spec.onlyUnreachable && { onlyUnreachable: true }),
    dryRun,
  };
}

function nodesMaxOf(maxNodes: number | string | undefined): NodeTaintRule['nodesMax'] {
  if (typeof maxNodes !== 'string') return maxNodes ?? null;
  return `${Number(maxNodes.slice(0, -1))}%`;
}

export const nodeTaintRuleKind: Kind = {
  description: 'Says which condition of a node becomes which taint.',
  plural: 'nodetaintrules',
  shortName: 'ntr',
  spec: nodeTaintRuleSpec,
  status: nodeTaintRuleStatus,
  columns: [
    column('Condition', 'string', '.spec.condition.type', 'The condition of a node'),
    column('Status', 'string', '.spec.condition.status', 'Its status', 1),
    column('Taint', 'string', '.spec.taint.key', 'The key of the taint'),
    column('Effect', 'string', '.spec.taint.effect', 'The effect of the taint'),
    column('Max', 'string', '.spec.maxNodes', 'At most so many nodes'),
    column('Tainted', 'integer', '.status.nodesTainted', 'Nodes that it has tainted'),
    column('Nodes', 'integer', '.status.nodesSelected', 'Nodes that it is for', 1),
    column('Dry Run', 'boolean', '.spec.dryRun', 'It only tells', 1),
    inForce,
    age,
  ],
};
