// Which rights a drain needs, and which of them the user lacks.
import type { DrainPlan } from '@taintmgr/core/drain';
import { describeRight, isAllowed, type Right, rightOf } from '../../cluster/rights.ts';
import { missingOn } from './cordon-and-taint.ts';
import type { Drain } from './drain.ts';

/** A right that is needed everywhere, or at least in these places. */
interface Need {
  readonly right: Right;
  readonly places: readonly Pick<Right, 'namespace' | 'name'>[];
}

/**
 * The rights that are missing to carry a drain out, in one line; null: none is, as far as the API
 * server says. Checked before anything is changed.
 */
export async function rightsFault(drain: Drain, plan: DrainPlan): Promise<string | null> {
  const lists = await Promise.all(needsOf(drain, plan).map((need) => missingOf(drain, need)));
  const rights = lists.flat().map(describeRight);
  if (rights.length === 0) return null;
  return `no permission to ${rights.join(', ')}; nothing was changed`;
}

function needsOf({ settings, survey, wanted }: Drain, { pods }: DrainPlan): readonly Need[] {
  const { kind } = settings.budgets;
  const [first, ...others] = survey.nodes.map(({ node }) => ({ name: node.name }));
  const changed = survey.nodes.filter((facts) => {
    const { tainted, cordoned } = missingOn(facts, wanted);
    return tainted || cordoned;
  });
  const going = pods.filter(({ fate }) => fate.kind === 'evict');
  const namespaces = [...new Set(going.map(({ pod }) => pod.namespace))].sort();
  const inNamespaces = namespaces.map((namespace) => ({ namespace }));
  const changedNames = changed.map(({ node }) => ({ name: node.name }));
  return [
    // Of one node alone its name is enough.
    { right: rightOf('watch nodes'), places: first && others.length === 0 ? [first] : [{}] },
    { right: rightOf('watch pods'), places: [{}] },
    { right: rightOf('patch nodes'), places: changedNames },
    { right: rightOf('create pods/eviction'), places: kind === 'ignore' ? [] : inNamespaces },
    { right: rightOf('delete pods'), places: kind === 'respect' ? [] : inNamespaces },
  ];
}

/** Where a right is missing. Who has it everywhere is asked only once. */
async function missingOf(
  { connection: { client } }: Drain,
  { right, places }: Need,
): Promise<readonly Right[]> {
  if (places.length === 0 || (await isAllowed(client, right)) !== false) return [];
  const lacking: Right[] = [];
  for (const place of places) {
    const here = { ...right, ...place };
    if ((await isAllowed(client, here)) === false) lacking.push(here);
  }
  return lacking;
}
