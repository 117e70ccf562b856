// Who evicts the pods of nodes, as answers name him: a drain at work on a node acts there in the place of others.
import { drainText, nodeDrainer } from '@taintmgr/core/drain';
import type { Evictor } from '../cluster/evictors.ts';
import { count } from '../render/count.ts';
import { evictorDocument, nodeEvictorDocument } from './documents.ts';
import type { NodeReport } from './report.ts';
import { evictorText } from './words.ts';

/** Up to so many nodes are named. */
const namedMax = 3;

/** Of one node. */
export function nodeEvictedBy({ drains }: NodeReport, evictor: Evictor): string {
  return drains.length > 0 ? drainsText(drains) : evictorText(evictor);
}

/** Of several nodes: where drains differ by node, on which ones each acts. */
export function nodesEvictedBy(nodes: readonly NodeReport[], evictor: Evictor): string {
  const byText = new Map<string, NodeReport[]>();
  for (const node of nodes.filter(isConcerned)) {
    const text = nodeEvictedBy(node, evictor);
    byText.set(text, [...(byText.get(text) ?? []), node]);
  }
  const elsewhere = evictorText(evictor);
  const [only, ...more] = byText.keys();
  if (more.length === 0) return only ?? elsewhere;
  const drained = [...byText].filter(([text]) => text !== elsewhere);
  const parts = drained.map(([text, there]) => `${text}, on ${nodesText(there)}`);
  const others = byText.has(elsewhere) ? [`${elsewhere} on the others`] : [];
  return [...parts, ...others].join('; ');
}

/** The same in documents: one for all, where that is so. */
export function nodesEvictorDocument(nodes: readonly NodeReport[], evictor: Evictor): object {
  const documents = nodes.filter(isConcerned).map((node) => nodeEvictorDocument(node, evictor));
  const [first, ...others] = documents;
  const isOne = others.every((other) => JSON.stringify(other) === JSON.stringify(first));
  return first && isOne ? first : evictorDocument(evictor);
}

/** Where nothing is tainted or drained nobody evicts anything. */
function isConcerned({ drains, taints }: NodeReport): boolean {
  return drains.length > 0 || taints.length > 0;
}

function nodesText(nodes: readonly NodeReport[]): string {
  const names = nodes.map(({ facts }) => facts.node.name);
  return names.length <= namedMax ? names.join(', ') : count(names.length, 'node');
}

/** Whether a drain still runs its marks do not say. */
function drainsText(drains: NodeReport['drains']): string {
  const [objects, others] = [true, false].map((isObject) =>
    drains.filter(({ by }) => (by === nodeDrainer) === isObject),
  );
  const names = (objects ?? []).map(drainText);
  const ids = (others ?? []).map(({ id }) => id).join(', ');
  return [...names, ...(ids === '' ? [] : [`drain-by-taint (${ids}), as long as it runs`])].join(
    ', ',
  );
}
