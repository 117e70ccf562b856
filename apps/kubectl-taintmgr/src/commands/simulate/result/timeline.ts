// What happened in a run, line by line, for -o wide.
import { type Column, renderColumns, type TableOptions } from '../../../render/table.ts';
import { none } from '../../../report/words.ts';
import type { RunResult } from './documents.ts';
import { seconds } from './lines.ts';

/** Events, zones and nodes as they went, one line each. */
export function timeline({ playedEvents, recording }: RunResult, options: TableOptions): string {
  const rows = [
    ...playedEvents.map(({ at, text }) => ({ at, what: 'script', text })),
    ...recording.zones.flatMap(({ name, states }) =>
      states.map(({ at, state, ready, notReady, held }) => {
        const why = held === null ? '' : `, ${held}`;
        return {
          at,
          what: `zone ${name || none}`,
          text: `${state}, ${ready} ready, ${notReady} not${why}`,
        };
      }),
    ),
    ...recording.nodes.flatMap(({ name, states }) =>
      states.slice(1).map(({ at, ready, cordoned, taints }) => {
        const shown = [`Ready=${ready}`, ...(cordoned ? ['cordoned'] : []), ...taints];
        return { at, what: `node ${name}`, text: shown.join(', ') };
      }),
    ),
    ...recording.evictions.map(({ at, namespace, pod, node, how, because }) => {
      return {
        at,
        what: `pod ${namespace}/${pod}`,
        text: `${how} from ${node}: ${because[0] ?? ''}`,
      };
    }),
  ];
  // Of one instant: what was done first, then what came of it.
  rows.sort((one, other) => one.at - other.at);
  const columns: readonly Column<(typeof rows)[number]>[] = [
    ['AT', ({ at }) => seconds(at)],
    ['WHAT', ({ what }) => what],
    ['HAPPENED', ({ text }) => text],
  ];
  return renderColumns(columns, rows, options);
}
