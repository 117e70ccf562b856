// The lanes of nodes, and of the pods on them.
import type { NodeSeen } from '../simulation.ts';
import {
  evictionsText,
  hasNoExecute,
  isTouched,
  isUnready,
  type NodeOfRun,
} from './node-states.ts';
import { historiesBy, type PodHistory, podKey } from './pod-history.ts';
import { barsOf, marksOf } from './pods.ts';
import { type About, type Bar, type Fill, type Row, rowOf } from './row.ts';
import { spansWhere } from './steps.ts';
import { type Clock, span } from './words.ts';

const fills: Readonly<Record<string, Fill>> = { False: 'down', Unknown: 'unknown', Gone: 'gone' };

type Opened = ReadonlySet<string>;

/** Room for a name with its variant, and a note below it. */
const twoLines = 36;

/** A node, once for each run; the first lane opens and closes it. */
export function rowsOfNode(
  runs: readonly { readonly variant: string | null; readonly of: NodeOfRun }[],
  end: number,
  opened: Opened,
): readonly Row[] {
  const [first] = runs;
  if (!first) return [];
  const { name } = first.of.node;
  const key = `n ${name}`;
  const hasPods = runs.some(({ of }) => Object.values(of.history).some((list) => list.length > 0));
  const isOpen = hasPods ? opened.has(key) : null;
  const lanes = runs.map(({ variant, of }, index) => {
    const { node, history } = of;
    return rowOf({
      key: index === 0 ? key : `n${index} ${name}`,
      depth: 1,
      label: name,
      variant,
      ...(variant !== null && { height: twoLines }),
      note: evictionsText([of], index === 0 ? null : [first.of]),
      isOpen: index === 0 ? isOpen : null,
      isAgain: index > 0,
      isCalm: !runs.some((one) => isTouched(one.of)),
      bars: [...statesOf(node, end), ...barsOf(history, end)],
      marks: marksOf(history),
    });
  });
  if (!isOpen) return lanes;
  const pods = runs.flatMap(({ variant, of }, index) => {
    return podRows(`${index === 0 ? key : `n${index} ${name}`}`, variant, of.history, end);
  });
  return [...lanes, ...pods];
}

function podRows(
  key: string,
  variant: string | null,
  history: PodHistory,
  end: number,
): readonly Row[] {
  return Array.from(historiesBy(history, podKey), ([pod, one]) =>
    rowOf({
      key: `${key} ${pod}`,
      depth: 2,
      label: pod,
      variant,
      bars: barsOf(one, end),
      marks: marksOf(one),
    }),
  );
}

/** Above: how the node is; a strip at the top: that it has NoExecute taints. */
function statesOf(node: NodeSeen, end: number): readonly Bar[] {
  const unwell = spansWhere(node.states, end, isUnready);
  const tainted = spansWhere(node.states, end, hasNoExecute);
  const aboutOf =
    (from: number, until: number, state: NodeSeen['states'][number]) =>
    (clock: Clock): About => ({
      at: from,
      title: `${node.name}: ${state.ready === 'Gone' ? 'gone' : `Ready=${state.ready}`}`,
      facts: [
        ['taints', state.taints.join(', ') || 'none'],
        ...(state.cordoned ? [['cordoned', 'yes'] as const] : []),
        ['from', span(clock, from, until)],
      ],
    });
  return [
    ...unwell.map(({ from, until, state }): Bar => {
      const fill = fills[state.ready] ?? 'unknown';
      return { from, until, fill, top: 0, bottom: 1, about: aboutOf(from, until, state) };
    }),
    ...tainted.map(({ from, until, state }): Bar => {
      const about = aboutOf(from, until, state);
      return { from, until, fill: 'tainted', top: 0, bottom: 0.22, about };
    }),
  ];
}
