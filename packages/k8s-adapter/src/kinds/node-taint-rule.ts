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
  'Specification of the rule: the condition, the taint, and the nodes.',
  {
    condition: object(
      'Node condition that the rule watches.',
      {
        type: filledText('Type of the condition, such as KernelDeadlock.', 316),
        status: word(
          'Status of the condition that adds the taint.',
          ['False', 'True', 'Unknown'],
          'True',
        ),
      },
      { required: ['type'] },
    ),
    holds: {
      ...duration('How long the condition must have the status before the taint is added.'),
      default: '0s',
    },
    clear: {
      ...duration('How long the condition must have another status before the taint is removed.'),
      default: '0s',
    },
    taint: object(
      'Taint that the rule adds to nodes.',
      {
        key: taintKey,
        value: { ...taintValue, default: '' },
        effect: word('Effect of the taint.', ['NoExecute', 'NoSchedule', 'PreferNoSchedule']),
      },
      { required: ['key', 'effect'] },
    ),
    nodeSelector: {
      ...selector('Selects the nodes of the rule. Defaults to all nodes.'),
      default: {},
    },
    maxNodes: wholeOrPercent(
      'Maximum number or percentage (such as 10%) of the selected nodes that the rule taints. Defaults to no limit.',
      [0, 1000000],
      '[0-9]{1,2}',
    ),
    onlyUnreachable: truth(
      'Applies the rule only while the node is unreachable (its condition Ready is Unknown), and only to conditions that were set after the node became unreachable. The taint is removed when the node is reachable again.',
      false,
    ),
    dryRun: truth('Reports what the rule would do without changing nodes.', false),
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

export const nodeTaintRuleStatus = object('Status of the rule, as the leader last observed it.', {
  observedGeneration,
  nodesSelected: count('Number of nodes that the rule selects.'),
  nodesTainted: count('Number of nodes that the rule has tainted.'),
  nodes: list('Names of the tainted nodes. At most 100 are listed.', 100, characters(253)),
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
  description: 'NodeTaintRule turns a node condition into a taint.',
  plural: 'nodetaintrules',
  shortName: 'ntr',
  spec: nodeTaintRuleSpec,
  status: nodeTaintRuleStatus,
  columns: [
    column('Condition', 'string', '.spec.condition.type', 'Type of the node condition'),
    column('Status', 'string', '.spec.condition.status', 'Status of the node condition', 1),
    column('Taint', 'string', '.spec.taint.key', 'Key of the taint'),
    column('Effect', 'string', '.spec.taint.effect', 'Effect of the taint'),
    column('Max', 'string', '.spec.maxNodes', 'Maximum number of tainted nodes'),
    column('Tainted', 'integer', '.status.nodesTainted', 'Nodes that it has tainted'),
    column('Nodes', 'integer', '.status.nodesSelected', 'Nodes that it selects', 1),
    column('Dry Run', 'boolean', '.spec.dryRun', 'True if it changes no node', 1),
    inForce,
    age,
  ],
};
