// The numbers under the chart: workloads by variant, limits, and what was assumed.

import { clock, duration } from '../../model/words.ts';
import { byHarm, shortName, workloadKey } from '../../model/workloads.ts';
import type { PageInput } from '../../simulation.ts';

export function Numbers({ input }: { readonly input: PageInput }) {
  return (
    <section class="numbers">
      <h2>Numbers</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard. */}
      <section class="wide" tabIndex={0} aria-label="Workloads in numbers">
        <Workloads input={input} />
      </section>
      <Unknown input={input} />
      {input.limits.map(({ limit, exceeded, unknown }) => (
        <p key={limit} class={exceeded ? 'crossed' : ''}>
          {unknown !== undefined ? '? not known' : exceeded ? '✕ crossed' : '✓ kept'}:{' '}
          <code>{limit}</code>
        </p>
      ))}
      <Assumed input={input} />
      {input.managerFlags !== undefined && (
        <p>Assumed of kube-controller-manager: {input.managerFlags}.</p>
      )}
      {input.notes.map((note) => (
        <p key={note}>Note: {note}</p>
      ))}
    </section>
  );
}

const heads = [
  'Most down',
  'At',
  'Down for',
  'Longest gap',
  'Noticed for',
  'Pod-minutes',
  'Over at',
];

function Workloads({ input }: { readonly input: PageInput }) {
  const isMany = input.runs.length > 1;
  const rows = byHarm(input).flatMap((one) =>
    input.runs.flatMap((run, index) => {
      const key = workloadKey(one);
      const own = run.summary.workloads.find((other) => workloadKey(other) === key);
      return own ? [{ index, run, own, key: `${index} ${key}` }] : [];
    }),
  );
  const never = (value: number | null, text: (value: number) => string): string =>
    value === null || value === 0 ? '–' : text(value);
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Workload</th>
          {isMany && (
            <th scope="col" class="variant-name">
              Variant
            </th>
          )}
          {[...heads, 'Evictions'].map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ index, run, own, key }) => (
          <tr key={key}>
            <th scope="row">
              <span class={index === 0 ? '' : 'same'}>
                {shortName(own)}
                {own.unknown ? ' ?' : ''}
              </span>
            </th>
            {isMany && <td class="variant-name">{run.name}</td>}
            <td>{own.downMax === 0 ? '–' : `${own.downMax} of ${own.downWorstWanted}`}</td>
            <td>{own.downWorstAt === null ? '–' : clock(Math.floor(own.downWorstAt))}</td>
            <td>{never(own.downSeconds, duration)}</td>
            <td>{never(own.longestGap?.seconds ?? null, duration)}</td>
            <td>{never(own.unavailableSeconds, duration)}</td>
            <td>{never(own.podMinutesLost, (value) => value.toFixed(1))}</td>
            <td>
              {own.downMax === 0
                ? '–'
                : own.overAt === null
                  ? 'not over'
                  : clock(Math.floor(own.overAt))}
            </td>
            <td>{own.evictions === 0 ? '–' : own.evictions}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What decides about workloads and is not simulated. */
function Unknown({ input }: { readonly input: PageInput }) {
  const texts = input.runs.flatMap(({ summary }) =>
    summary.workloads.flatMap((own) =>
      (own.unknown ?? []).map((what) => `${shortName(own)}: ${what}, which is not simulated`),
    ),
  );
  return (
    <>
      {[...new Set(texts)].map((text) => (
        <p key={text}>? {text}.</p>
      ))}
    </>
  );
}

type Time = PageInput['assumptions'][number]['start'];

function range({ leastSeconds, mostSeconds, from }: Time): string {
  const times = leastSeconds === mostSeconds ? `${leastSeconds}` : `${leastSeconds}–${mostSeconds}`;
  return `${times} s (${from})`;
}

/** Workloads of which the same is assumed are named together. */
function Assumed({ input }: { readonly input: PageInput }) {
  const groups = new Map<string, string[]>();
  for (const { workload, start, stop } of input.assumptions) {
    const text = `start in ${range(start)}, stop in ${range(stop)}`;
    groups.set(text, [...(groups.get(text) ?? []), workload]);
  }
  return (
    <>
      {Array.from(groups, ([text, workloads]) => (
        <p key={text}>
          Assumed of pods of {workloads.join(', ')}: {text}.
        </p>
      ))}
    </>
  );
}
