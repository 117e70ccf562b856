// The numbers under the chart: workloads by variant, limits, and assumptions.

import { useMemo } from 'preact/hooks';
import { actsOf } from '../../model/acts.ts';
import { appliedTexts } from '../../model/applied.ts';
import { harmedBy } from '../../model/harm.ts';
import { shownOf } from '../../model/row.ts';
import { clock, duration } from '../../model/words.ts';
import {
  allWorkloads,
  byHarm,
  indexOf,
  isHarmed,
  shortName,
  workloadKey,
} from '../../model/workloads.ts';
import type { PageInput, PlaceTotals } from '../../simulation.ts';
import { type ChartState, toggle } from '../state.ts';

interface NumbersProps {
  readonly input: PageInput;
  readonly state: Pick<ChartState, 'opened' | 'filter'>;
}

export function Numbers({ input, state }: NumbersProps) {
  return (
    <section class="numbers">
      <h2>Numbers</h2>
      <Workloads input={input} state={state} />
      <Sums input={input} state={state} field="namespaces" />
      <Sums input={input} state={state} field="zones" />
      <Some texts={unknownTexts(input)} name="unknown" state={state} />
      <Script input={input} state={state} />
      {appliedTexts(input).map((text) => (
        <p key={text}>{text}</p>
      ))}
      {input.limits.map(({ limit, exceeded, unknown }) => (
        <p key={limit} class={exceeded ? 'crossed' : ''}>
          {unknown !== undefined ? '? not known' : exceeded ? '✕ crossed' : '✓ kept'}:{' '}
          <code>{limit}</code>
        </p>
      ))}
      <Some texts={assumedTexts(input)} name="assumed" state={state} />
      {input.managerFlags !== undefined && (
        <p>Assumed of kube-controller-manager: {input.managerFlags}.</p>
      )}
      <Some texts={input.notes.map((note) => `Note: ${note}`)} name="notes" state={state} />
    </section>
  );
}

/** The acts of the script, one after the other. */
function Script({ input, state }: NumbersProps) {
  const texts = actsOf(input.runs[0]?.events ?? []).map(({ text }) => text);
  if (texts.length === 0) return null;
  return (
    <>
      <h2>Script</h2>
      <Some texts={texts} name="acts of the script" state={state} />
    </>
  );
}

interface ShowAllProps {
  readonly state: NumbersProps['state'];
  /** Under which it is opened; in the address. */
  readonly name: string;
  readonly text: string;
}

/** Shows all of a table or list, or only the first again. */
function ShowAll({ state: { opened }, name, text }: ShowAllProps) {
  const isOpen = opened.value.has(name);
  return (
    <p>
      <button type="button" aria-expanded={isOpen} onClick={() => toggle(opened, name)}>
        {isOpen ? 'Show the first ten' : text}
      </button>
    </p>
  );
}

interface SomeProps {
  readonly texts: readonly string[];
  readonly name: string;
  readonly state: NumbersProps['state'];
}

/** Paragraphs: all of a few, the first of many. */
function Some({ texts, name, state }: SomeProps) {
  const key = `all-${name}`;
  const most = shownOf(texts.length, state.opened.value.has(key));
  return (
    <>
      {texts.slice(0, most).map((text) => (
        <p key={text}>{text}</p>
      ))}
      {shownOf(texts.length, false) < texts.length && (
        <ShowAll state={state} name={key} text={`Show all ${texts.length}: ${name}`} />
      )}
    </>
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

function Workloads({ input, state }: NumbersProps) {
  const { opened } = state;
  const all = useMemo(() => byHarm(input), [input]);
  const harmed = useMemo(
    () => all.filter((one) => isHarmed(input, workloadKey(one))).length,
    [input],
  );
  // Of many those that are harmed come first, and are what the worst are chosen from.
  const isCut = shownOf(harmed, false) < harmed;
  const shown = isCut ? all.slice(0, shownOf(harmed, opened.value.has(allWorkloads))) : all;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard. */}
      <section class="wide" tabIndex={0} aria-label="Workloads in numbers">
        <WorkloadTable input={input} shown={shown} />
      </section>
      {isCut && (
        <ShowAll state={state} name={allWorkloads} text={`Show all ${harmed} that are affected`} />
      )}
    </>
  );
}

interface WorkloadTableProps {
  readonly input: PageInput;
  readonly shown: ReturnType<typeof byHarm>;
}

function WorkloadTable({ input, shown }: WorkloadTableProps) {
  const isMany = input.runs.length > 1;
  const rows = shown.flatMap((one) =>
    input.runs.flatMap((run, index) => {
      const key = workloadKey(one);
      const own = indexOf(run).summaries.get(key);
      return own ? [{ index, run, own, key: `${index} ${key}`, why: harmedBy(run, key) }] : [];
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
          <th scope="col" class="cause">
            Affected by
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ index, run, own, key, why }) => (
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
            <td class="cause">{why === '' ? '–' : why}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface SumsProps extends NumbersProps {
  readonly field: 'namespaces' | 'zones';
}

const sums = {
  namespaces: { head: 'Namespace', where: 'namespace' },
  zones: { head: 'Zone', where: 'zone' },
} as const;

/** Sums of each namespace or zone where workloads are many; a click filters by it. */
function Sums({ input, state, field }: SumsProps) {
  const { head, where } = sums[field];
  const all = useMemo(() => placesByHarm(input, field), [input, field]);
  const harmed = Math.max(0, ...input.runs.map(({ summary }) => summary.totals.workloads));
  if (all.length < 2 || shownOf(harmed, false) === harmed) return null;
  const key = `all-${field}`;
  const names = all.slice(0, shownOf(all.length, state.opened.value.has(key)));
  const choose = (name: string): void => {
    state.filter.value = { ...state.filter.value, [where]: name };
  };
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard. */}
      <section class="wide" tabIndex={0} aria-label={`${head}s in numbers`}>
        <SumTable runs={input.runs} {...{ field, head, names, choose }} />
      </section>
      {shownOf(all.length, false) < all.length && (
        <ShowAll state={state} name={key} text={`Show all ${all.length} ${field}`} />
      )}
    </>
  );
}

interface SumTableProps extends Pick<SumsProps, 'field'> {
  readonly runs: PageInput['runs'];
  readonly head: string;
  readonly names: readonly string[];
  readonly choose: (name: string) => void;
}

function SumTable({ runs, field, head, names, choose }: SumTableProps) {
  const isMany = runs.length > 1;
  const rows = names.flatMap((name) =>
    runs.flatMap((run, index) => {
      const own = run.summary[field].find((one) => one.name === name);
      return own ? [{ index, name, variant: run.name, own }] : [];
    }),
  );
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{head}</th>
          {isMany && (
            <th scope="col" class="variant-name">
              Variant
            </th>
          )}
          {['Affected', 'Most down', 'Pod-minutes', 'Evictions', 'No room'].map((text) => (
            <th key={text} scope="col">
              {text}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ index, name, variant, own }) => (
          <tr key={`${index} ${name}`}>
            <th scope="row">
              {index > 0 || name === '' ? (
                <span class={index > 0 ? 'same' : ''}>{name === '' ? 'no zone' : name}</span>
              ) : (
                <button type="button" class="place" onClick={() => choose(name)}>
                  {name}
                </button>
              )}
            </th>
            {isMany && <td class="variant-name">{variant}</td>}
            <td>{own.workloads || '–'}</td>
            <td>{own.downMax || '–'}</td>
            <td>{own.podMinutesLost > 0 ? own.podMinutesLost.toFixed(1) : '–'}</td>
            <td>{own.evictions || '–'}</td>
            <td>{own.unplaced || '–'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The names of those in which something was lost in any run, the worst first. */
function placesByHarm({ runs }: PageInput, field: 'namespaces' | 'zones'): readonly string[] {
  const harm = new Map<string, number>();
  const harmOf = ({ podMinutesLost, evictions, unplaced }: PlaceTotals): number =>
    podMinutesLost + (evictions + unplaced) / 1000;
  for (const one of runs.flatMap(({ summary }) => summary[field])) {
    harm.set(one.name, Math.max(harm.get(one.name) ?? 0, harmOf(one)));
  }
  const sorted = [...harm].sort(([, one], [, other]) => other - one);
  return sorted.flatMap(([name, value]) => (value > 0 ? [name] : []));
}

/** The unsimulated parts that decide about workloads. */
function unknownTexts(input: PageInput): readonly string[] {
  const texts = input.runs.flatMap(({ summary }) =>
    summary.workloads.flatMap((own) =>
      (own.unknown ?? []).map((what) => `? ${shortName(own)}: ${what}, which is not simulated.`),
    ),
  );
  return [...new Set(texts)];
}

type Time = PageInput['assumptions'][number]['start'];

function range({ leastSeconds, mostSeconds, from }: Time): string {
  const times = leastSeconds === mostSeconds ? `${leastSeconds}` : `${leastSeconds}–${mostSeconds}`;
  return `${times} s (${from})`;
}

/** More workloads of which the same is assumed are counted. */
const namesMax = 10;

/** Workloads of which the same is assumed are named together. */
function assumedTexts({ assumptions }: PageInput): readonly string[] {
  const groups = new Map<string, string[]>();
  for (const { workload, start, stop } of assumptions) {
    const text = `start in ${range(start)}, stop in ${range(stop)}`;
    const group = groups.get(text) ?? [];
    group.push(workload);
    groups.set(text, group);
  }
  return Array.from(groups, ([text, workloads]) => {
    const more = workloads.length - namesMax;
    const names = workloads.slice(0, namesMax).join(', ');
    return `Assumed of pods of ${names}${more > 0 ? ` and ${more} more` : ''}: ${text}.`;
  });
}
