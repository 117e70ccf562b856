// Loaded before one of our programs with --import: turns its sources into those of a version 0.2.0, whose kinds have
// fields and words, and whose records have members, that 0.1.0 does not know.
import { registerHooks } from 'node:module';

type Edit = readonly [text: string, by: string];

const version: Edit = ['"version": "0.1.0"', '"version": "0.2.0"'];
const ticket = (before: string): Edit => [
  before,
  `  ticket: filledText('Ticket.', 64),\n${before}`,
];

/** The edits of each source file; a text is there exactly once. */
const planted: Readonly<Record<string, readonly Edit[]>> = {
  '/apps/controller/package.json': [version],
  '/apps/kubectl-taintmgr/package.json': [version],
  // Keeps pods: a version that does not know the field must not evict them.
  '/kinds/eviction-policy.ts': [
    [
      '    minTaintAge: duration(\n',
      `    hold: { type: 'boolean', description: 'Keeps the pods.' },\n    minTaintAge: duration(\n`,
    ],
    ['action: spec.action ===', `action: spec.hold ? 'Keep' : spec.action ===`],
  ],
  '/kinds/eviction-pause.ts': [
    ticket('    until: time('),
    ['  filledList,\n  object,', '  filledList,\n  filledText,\n  object,'],
  ],
  '/kinds/node-taint-rule.ts': [ticket('    holds: {\n      ...duration(')],
  '/kinds/node-drain.ts': [ticket('  nodes: filledList(\n')],
  '/kinds/node-drain-status.ts': [
    ticket(`  wave: text('Name of the current wave`),
    ['  object,\n', '  filledText,\n  object,\n'],
    [`    'TimedOut',\n    'Undoing',`, `    'TimedOut',\n    'Undoing',\n    'Working',`],
  ],
  '/controller/drain-status.ts': [
    [
      '    phase,\n    ...(state.wave',
      `    phase: phase === 'Running' ? 'Working' : phase,\n    ticket: 'T-1',\n    ...(state.wave`,
    ],
  ],
  '/kinds/taint-manager.ts': [
    [`  version: text('Version`, `  build: text('Build.', 64),\n  version: text('Version`],
  ],
  '/process/published-status.ts': [
    ['\n      version,\n', `\n      version,\n      build: 'next',\n`],
  ],
  '/procedures/limit-record.ts': [
    ['...(of !== null && { of }),', '...(of !== null && { of }), next: [1],'],
  ],
  '/proto/taint-starts.ts': [
    ['JSON.stringify({ ...written,', 'JSON.stringify({ next: { a: 1 }, ...written,'],
  ],
  '/history/segment.ts': [['JSON.stringify(facts)', 'JSON.stringify({ ...facts, next: [1] })']],
  '/history/open-departures.ts': [
    ['return { ...departure };', 'return { ...departure, next: [1] };'],
  ],
};

registerHooks({
  load: (url, context, nextLoad) => {
    const result = nextLoad(url, context);
    const edits = Object.entries(planted).find(([end]) => url.endsWith(end))?.[1] ?? [];
    if (edits.length === 0 || !result.source) return result;
    const before = result.source.toString();
    const source = edits.reduce((text, edit) => edited(url, text, edit), before);
    return { ...result, source };
  },
});

function edited(url: string, text: string, [from, to]: Edit): string {
  if (text.split(from).length !== 2) throw new Error(`${url} has not exactly once: ${from}`);
  return text.replace(from, () => to);
}
