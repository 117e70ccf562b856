// Compares the claims of a page with the rows of docs/proof.md that they link to.
import { numberOf, type ProofRecord, rowFaults } from './page.ts';
import type { Figure, Row } from './rows.ts';

/** A figure differs from its row by this share at most; or it is a bound of the row. */
const toleranceMax = 0.1;
const link = /\]\((?:[\w./]*\/)?proof\.md#([\w-]+)\)/g;
const units = 'ms|s|min|h|pods|nodes|evictions|seeds|tests|cases|packages|percent|%|kB|MB|GB|times';
const figure = new RegExp(`(?<![\\w.,])(\\d[\\d,]*(?:\\.\\d+)?)\\s?(${units})(?!\\w)`, 'g');
/** Words that promise something of every case, compare, or count. */
const promises = [
  'always|never|every|everything|nothing|none|cannot|guaranteed?|refuses|until they succeed',
  'faster|slower|smaller|less|\\w+ times|(?:thousand|million|billion)s?',
  '\\d+[kMx]|\\d+ (?:milliseconds?|seconds?|minutes?|hours?)',
];
const promise = new RegExp(`\\b(?:${promises.join('|')})\\b`, 'i');
/** A heading, badges, or one bold sentence. */
const headline = /^(#.*|\[!\[.*|\*\*[^*]*\*\*)$/s;
const boardHead = /^ +KUBE-CONTROLLER-MANAGER +TAINTMGR$/;

/** Faults of the claims of README.md: one without a row, a failed row, another figure. */
export function claimFaults(
  readme: string,
  rows: readonly Row[],
  record: ProofRecord,
): readonly string[] {
  const [front = ''] = readme.split('\n## ');
  const claimed = new Set(blocksOf(front).filter((block) => !headline.test(block)));
  const linked = blocksOf(readme).flatMap((block) => {
    const ids = Array.from(block.matchAll(link), ([, id = '']) => id);
    const words = plain(block);
    if (ids.length === 0) {
      const needs = claimed.has(block) || words.match(figure) !== null || promise.test(words);
      return needs ? [`"${words}" has no row in docs/proof.md`] : [];
    }
    return ids
      .flatMap((id) => linkFaults(id, rows, record))
      .concat(
        figureFaults(
          words,
          rows.filter(({ id }) => ids.includes(id)),
          record,
        ),
      );
  });
  return [...new Set([...linked, ...boardFaults(readme, record)])];
}

/** Paragraphs and items of lists, without code. */
function blocksOf(text: string): readonly string[] {
  return text
    .replace(/^```[\s\S]*?^```$/gm, '')
    .replace(/^ {4}.*$/gm, '')
    .split(/\n{2,}|\n(?=[-*+|] |\d+\. )/)
    .map((block) => block.trim())
    .filter((block) => block !== '' && !block.startsWith('!['));
}

/** The words that a reader sees. */
function plain(block: string): string {
  return block
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*_]{1,2}/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

function linkFaults(id: string, rows: readonly Row[], { results }: ProofRecord): readonly string[] {
  const row = rows.find((each) => each.id === id);
  if (!row) return [`docs/proof.md has no row ${id}`];
  return rowFaults(row, results[id]).map((fault) => `row ${id} failed: ${fault}`);
}

/** A figure in the words is one of the linked rows, with the same unit. */
function figureFaults(
  words: string,
  rows: readonly Row[],
  { results }: ProofRecord,
): readonly string[] {
  return Array.from(words.matchAll(figure)).flatMap(([text, number = '', unit = '']) => {
    const known = rows.flatMap((row) =>
      row.figures.filter((each) => each.unit === unit).map((each) => ({ row, each })),
    );
    const isKnown = known.some(({ row, each }) => {
      return agrees(numberOf(number), each, results[row.id]?.figures[each.name] ?? '');
    });
    const ids = rows.map(({ id }) => id).join(', ');
    return isKnown ? [] : [`"${text}" is no figure of row ${ids}`];
  });
}

function agrees(stated: number, { min, max }: Figure, value: string): boolean {
  if (stated === min || stated === max) return true;
  const measured = numberOf(value);
  return Math.abs(stated - measured) <= toleranceMax * measured;
}

/** The scoreboard is the one that the demo printed, whole. */
function boardFaults(readme: string, { results }: ProofRecord): readonly string[] {
  const lines = readme.split('\n');
  const begin = lines.findIndex((line) => boardHead.test(line));
  if (begin < 0) return ['the scoreboard has no line KUBE-CONTROLLER-MANAGER TAINTMGR'];
  const shown = lines.slice(begin + 1, lines.indexOf('```', begin));
  const printed = Object.entries(results.demo?.figures ?? {});
  const isPrinted = (line: string): boolean => {
    const [name = '', left, right, verdict] = line.split(/ {2,}/);
    return verdict === 'ok' && results.demo?.figures[name] === `${left} → ${right}`;
  };
  return [
    ...shown
      .filter((line) => !isPrinted(line))
      .map((line) => `"${line}" is not what row demo printed`),
    ...printed
      .filter(([name]) => !shown.some((line) => line.startsWith(`${name}  `)))
      .map(([name]) => `the scoreboard leaves out "${name}", which row demo printed`),
  ];
}
