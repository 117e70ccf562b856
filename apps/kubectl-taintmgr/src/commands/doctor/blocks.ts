// The findings of doctor for a person: a block for each, a line for each check that finds nothing, and their counts.
import { count } from '@taintmgr/k8s-adapter/command-line';
import { brokenText, type TableOptions } from '../../render/table.ts';
import { type Finding, type Level, levelTones } from './finding.ts';

/** In a pipe too: blocks are for people, and `-o json` is for scripts. */
const pipeWidth = 100;
const indent = ' '.repeat(6);

type Options = Pick<TableOptions, 'width' | 'paint'>;

/** The findings in their order, where each is found: `budgets`, `shop.yaml:26`. */
export function renderBlocks<F extends Finding>(
  findings: readonly F[],
  whereOf: (finding: F) => string,
  options: Options,
): string {
  const blocks: string[] = [];
  let headBefore = '';
  for (const finding of findings) {
    const head = headOf(finding, whereOf(finding), options);
    const texts = [finding.message, ...(finding.fix === '' ? [] : [`fix: ${finding.fix}`])];
    const lines = texts.flatMap((text) => setIn(text, options.width));
    if (head === headBefore) blocks.push(`${blocks.pop()}\n${lines.join('\n')}`);
    else blocks.push([head, ...lines].join('\n'));
    headBefore = head;
  }
  return blocks.join('\n\n');
}

/** A line for each statement of a check without problems. */
function renderContent(findings: readonly Finding[], options: Options): string {
  const widest = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ level, check, message }) => {
    const start = `${levelText(level, options)}  ${check.padEnd(widest)}  `;
    const room = (options.width ?? pipeWidth) - indent.length - widest - 2;
    const [first, ...more] = brokenText(message, room);
    return [`${start}${first}`, ...more.map((line) => `${indent}${' '.repeat(widest + 2)}${line}`)];
  });
  return lines.join('\n');
}

const severity: readonly Level[] = ['FAIL', 'WARN', 'INFO'];
const nouns = { FAIL: 'failure', WARN: 'warning', INFO: 'note' } as const;

/** The worst first; checks that found nothing, and the counts, come last. */
export function renderReport(
  shown: readonly Finding[],
  all: readonly Finding[],
  { headers, ...options }: Options & Pick<TableOptions, 'headers'>,
): string {
  const found = severity.flatMap((level) => shown.filter((finding) => finding.level === level));
  const content = shown.filter(({ level }) => level === 'OK');
  const parts = [
    ...(found.length === 0 ? [] : [renderBlocks(found, ({ check }) => check, options)]),
    ...(content.length === 0 ? [] : [renderContent(content, options)]),
    ...(headers ? [countsOf(all)] : []),
  ];
  return parts.join('\n\n');
}

/** `1 failure, 2 warnings, 9 checks ok` */
function countsOf(findings: readonly Finding[]): string {
  const of = (wanted: Level): number => findings.filter(({ level }) => level === wanted).length;
  const counts = (['FAIL', 'WARN', 'INFO'] as const).flatMap((level) => {
    return of(level) === 0 ? [] : [count(of(level), nouns[level])];
  });
  return [...counts, `${count(of('OK'), 'check')} ok`].join(', ');
}

/** `WARN  budgets  pdb/web -n shop` */
function headOf({ level, about }: Finding, where: string, options: Options): string {
  const [first = '', ...more] = brokenText(
    about === '' ? where : `${where}  ${about}`,
    (options.width ?? pipeWidth) - indent.length,
  );
  return [`${levelText(level, options)}  ${first}`, ...more.map((line) => `${indent}${line}`)].join(
    '\n',
  );
}

function levelText(level: Level, { paint }: Options): string {
  const tone = levelTones[level];
  const padding = ' '.repeat(4 - level.length);
  return `${tone === null ? level : paint(tone, level)}${padding}`;
}

function setIn(text: string, width: number | null): readonly string[] {
  const lines = brokenText(text, (width ?? pipeWidth) - indent.length - 2);
  return lines.map((line, index) => `${indent}${index > 0 ? '  ' : ''}${line}`);
}
