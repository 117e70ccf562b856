// Tables of workloads and budgets: what fits a terminal, or with -o wide everything in lines of its own.
import { type Column, renderColumns, type TableOptions, wrapped } from '../../../render/table.ts';
import { comparedText, type RowColumn, type RowTable } from './columns.ts';
import { paired } from './differences.ts';
import type { RunResult } from './documents.ts';

interface Counted {
  readonly kind?: string;
  readonly namespace: string;
  readonly name: string;
}

/** A line of a table: something in a run, and the same in the first one; or the head of such lines. */
interface Line<Item> {
  readonly name: string;
  readonly variant: string;
  readonly item: Item | null;
  readonly first: Item | null;
}

/** So many things to which nothing happened are named. */
const calmMax = 12;

/** '' where there is nothing to count. */
export function rowTable<Item extends Counted>(
  table: RowTable<Item>,
  runs: readonly RunResult[],
  itemsOf: (summary: RunResult['summary']) => readonly Item[],
  options: TableOptions,
): string {
  const [first] = runs;
  const items = first ? itemsOf(first.summary) : [];
  if (items.length === 0) return '';
  const pairs = runs.map(({ name, summary }) => {
    return { variant: name, byFirst: new Map(paired(items, itemsOf(summary))) };
  });
  const linesOf = (item: Item): readonly Line<Item>[] =>
    pairs.flatMap(({ variant, byFirst }, index): readonly Line<Item>[] => {
      const same = byFirst.get(item);
      const name = nameOf(table, item, items, options);
      return same ? [{ name, variant, item: same, first: index === 0 ? null : item }] : [];
    });
  if (options.wide) return flat(table, items.flatMap(linesOf), runs.length > 1, options);
  const isCalm = (item: Item): boolean =>
    linesOf(item).every((line) => line.item !== null && table.isCalm(line.item));
  const counted = items.filter((item) => !isCalm(item)).map(linesOf);
  const calm = items.filter(isCalm).map((item) => nameOf(table, item, items, options));
  const parts = [
    ...(counted.length === 0 ? [] : [folded(table, counted, runs.length > 1, options)]),
    ...(calm.length === 0 ? [] : [calmLine(table.calmText, calm)]),
  ];
  return parts.join('\n');
}

/** Kinds are said where names are not enough. */
function nameOf<Item extends Counted>(
  { kindOf }: RowTable<Item>,
  item: Item,
  items: readonly Item[],
  { wide }: TableOptions,
): string {
  const name = `${item.namespace}/${item.name}`;
  const kind = kindOf(item);
  if (kind === null) return name;
  if (wide) return `${kind} ${name}`;
  const others = items.filter((one) => one.name === item.name && one.namespace === item.namespace);
  return others.length > 1 ? `${name} (${kind})` : name;
}

/** Each line says all: what it is about, and the variant. */
function flat<Item>(
  { head, columns }: RowTable<Item>,
  lines: readonly Line<Item>[],
  isMany: boolean,
  options: TableOptions,
): string {
  const shown = columns.filter(({ when }) => when !== 'not wide' && (!isMany || when !== 'single'));
  const variant: Column<Line<Item>> = ['VARIANT', (line) => line.variant];
  const names: readonly Column<Line<Item>>[] = [
    [head, ({ name }) => name],
    ...(isMany ? [variant] : []),
  ];
  return renderColumns([...names, ...shown.map(columnOf)], lines, options);
}

/** Of several runs the variants stand below what they are about. */
function folded<Item>(
  { head, columns }: RowTable<Item>,
  groups: readonly (readonly Line<Item>[])[],
  isMany: boolean,
  options: TableOptions,
): string {
  const shown = columns.filter(({ when = '' }) => {
    return when !== 'wide' && (!isMany || !when.startsWith('single'));
  });
  const lines = groups.flatMap((group): readonly Line<Item>[] => {
    const [{ name = '' } = {}] = group;
    if (!isMany) return group;
    const below = group.map((line) => ({ ...line, name: `  ${line.variant}` }));
    return [{ name, variant: '', item: null, first: null }, ...below];
  });
  return renderColumns([[head, ({ name }) => name], ...shown.map(columnOf)], lines, options);
}

function columnOf<Item>(column: RowColumn<Item>): Column<Line<Item>> {
  return [
    column.head,
    ({ item, first }) => (item === null ? '' : comparedText(column, item, first)),
  ];
}

function calmLine(text: string, names: readonly string[]): string {
  const more = names.length - calmMax;
  const shown = names.slice(0, calmMax).join(', ');
  return wrapped(`${text}: ${shown}${more > 0 ? ` and ${more} more` : ''}`, '  ');
}
