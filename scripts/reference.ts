// Writes docs/reference from the source: npm run reference. A test says when it is to be run.
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { configurationPage } from './reference/configuration.ts';
import { conditionsPage, eventsPage } from './reference/events.ts';
import { flagsPage } from './reference/flags.ts';
import { logsPage } from './reference/logs.ts';
import { metricsPage } from './reference/metrics.ts';
import { page, table } from './reference/page.ts';

const folder = 'docs/reference';

/** The pages by their names. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  const index = page(
    'Reference',
    'Everything by its name, made from the source.',
    table(
      ['page', 'what is there'],
      [
        [
          '[configuration](configuration.md)',
          'the configuration file, and the kinds of taintmgr.dev, field by field',
        ],
        ['[flags](flags.md)', 'flags and environment variables of both programs'],
        ['[metrics](metrics.md)', 'metrics with their labels and buckets'],
        ['[events](events.md)', 'Events by their reasons'],
        ['[conditions](conditions.md)', 'conditions with their reasons'],
        ['[logs](logs.md)', 'keys of log lines'],
      ],
    ),
  );
  return new Map([
    ['README.md', index],
    ['configuration.md', configurationPage()],
    ['flags.md', flagsPage()],
    ['metrics.md', await metricsPage()],
    ['events.md', eventsPage()],
    ['conditions.md', conditionsPage()],
    ['logs.md', logsPage()],
  ]);
}

if (import.meta.main) {
  process.chdir(fileURLToPath(new URL('..', import.meta.url)));
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of await referencePages()) writeFileSync(`${folder}/${name}`, text);
}
