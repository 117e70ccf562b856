import type { LoadReport, Unloaded } from '@taintmgr/sim-cluster';

/** The others are counted. */
const linesMax = 20;

/** What could not be taken from a snapshot, one line each, then the counts. */
export function reportLines(
  file: string,
  report: LoadReport,
  faults: readonly string[],
): readonly string[] {
  const { loaded, unloaded, createdNamespaces } = report;
  const missing = unloaded.length + faults.length;
  const all = [...faults, ...unloaded.map((entry) => `${nameOf(entry)}: ${entry.reason}`)];
  const more = all.length - linesMax;
  return [
    ...all.slice(0, linesMax).map((fault) => `not taken: ${fault}`),
    ...(more > 0 ? [`not taken: and ${more} more`] : []),
    ...(createdNamespaces.length > 0
      ? [`namespaces made up for its objects: ${createdNamespaces.join(', ')}`]
      : []),
    `snapshot ${file}: ${loaded} objects taken, ${missing} not taken${kinds(unloaded)}`,
  ];
}

/** `Pod shop/web-1`, as far as it is known. */
function nameOf({ kind, namespace, name }: Unloaded): string {
  const full = namespace === '' ? name : `${namespace}/${name}`;
  return `${kind || 'something without a kind'} ${full || '(without a name)'}`;
}

/** ` (Service 3, Gadget 1)` */
function kinds(unloaded: readonly Unloaded[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of unloaded) counts.set(kind || '?', (counts.get(kind || '?') ?? 0) + 1);
  const texts = [...counts].map(([kind, count]) => `${kind} ${count}`);
  return texts.length > 0 ? ` (${texts.join(', ')})` : '';
}
