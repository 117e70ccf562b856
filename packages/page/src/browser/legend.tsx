// The legend: only the fills that the lanes contain.
import { bandsOf, type Row } from '../model/row.ts';

const fills = [
  ['down', 'down'],
  ['unknown', 'node unreachable'],
  ['gone', 'node gone'],
  ['tainted', 'NoExecute taint'],
  ['pending', 'eviction pending'],
  ['leaving', 'terminating'],
  ['held', 'held by a limit or a pause'],
  ['noroom', 'Pending: no room'],
  ['untold', 'who left is unknown'],
] as const;
const shapes = [
  ['evicted', 'evicted'],
  ['refused', 'blocked by a budget'],
  ['event', 'event'],
] as const;

interface LegendProps {
  readonly rows: readonly Row[];
  /** Labels that differ here. */
  readonly texts?: Readonly<Record<string, string>>;
}

export function Legend({ rows, texts = {} }: LegendProps) {
  const used = new Set<string>();
  for (const { area, bars, marks } of rows.flatMap(bandsOf)) {
    if (area && area.most > 0) used.add(area.fill);
    for (const { fill } of bars) used.add(fill);
    for (const { shape } of marks) used.add(shape);
    for (const { noticed, allowed, value } of area?.steps ?? []) {
      if (noticed !== null && noticed !== value) used.add('noticed');
      if (allowed !== null) used.add('budget');
    }
  }
  const items = [
    ...fills,
    ['noticed', 'down as Kubernetes knows'] as const,
    ['budget', 'the budget allows'] as const,
    ...shapes,
  ].filter(([name]) => used.has(name));
  return (
    <ul class="legend" aria-label="Legend">
      {items.map(([name, text]) => (
        <li key={name}>
          <i class={`swatch ${name}`} /> {texts[name] ?? text}
        </li>
      ))}
    </ul>
  );
}
