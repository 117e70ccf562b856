// docs/reference/logs.md: the keys of log lines.
import { logKeys } from '../../apps/controller/src/log/keys.ts';
import { page, table } from './page.ts';

/** What of it is not a table. */
const intro = `The controller writes a line for each thing that happens, to stderr: as text, or with \`--logging-format=json\` as one JSON
object. Scripts should read JSON, and go by keys: a key means the same in every line, and one that is not in this table does
not compile. Messages (\`msg\`) are for people and may change.

    {"level":"info","time":"2026-01-02T03:04:05.678Z","pod":"shop/web-0","node":"a-1","took":"12ms","msg":"evicted"}

Beside these keys each line has \`level\` (\`debug\`, \`info\`, \`warn\`, \`error\`, \`fatal\`), \`time\` and \`msg\`. Lines of level
\`debug\` are written from \`-v=2\` on.`;

/** The page. */
export function logsPage(): string {
  const rows = Object.entries(logKeys).sort(([a], [b]) => (a < b ? -1 : 1));
  return page(
    'Log lines',
    intro,
    table(
      ['key', 'what stands under it'],
      rows.map(([key, about]) => [`\`${key}\``, about]),
    ),
  );
}
