// The findings of `doctor -f` as SARIF 2.1.0, which code scanning of GitHub and others reads.
import type { Log, ReportingDescriptor, Result } from 'sarif';
import { version } from '../../../cli/version.ts';
import type { Level } from '../finding.ts';
import type { PlacedFinding } from './finding.ts';

const schema = 'https://json.schemastore.org/sarif-2.1.0.json';

const levels: Readonly<Record<Level, Result.level>> = {
  OK: 'none',
  INFO: 'note',
  WARN: 'warning',
  FAIL: 'error',
};

/** What each check is about, by the name that findings give it. */
const rules: Readonly<Record<string, string>> = {
  manifest: 'The file holds objects of Kubernetes, each of them once.',
  budgets: 'PodDisruptionBudgets allow evictions, and cover the pods that they are meant for.',
  policies: 'Policies of taintmgr.dev are accepted by the API server, and do what they seem to do.',
};

/** One run with one result for each finding; files by their paths from where the command ran. */
export function sarifOf(findings: readonly PlacedFinding[]): Log {
  const driver = {
    name: 'kubectl-taintmgr',
    semanticVersion: version,
    rules: Object.entries(rules).map(
      ([id, text]): ReportingDescriptor => ({ id, shortDescription: { text } }),
    ),
  };
  return {
    $schema: schema,
    version: '2.1.0',
    runs: [{ tool: { driver }, columnKind: 'utf16CodeUnits', results: findings.map(resultOf) }],
  };
}

function resultOf({ check, level, file, line, about, message, fix }: PlacedFinding): Result {
  const what = about === '' ? message : `${about}: ${message}`;
  return {
    ruleId: check,
    ruleIndex: Object.keys(rules).indexOf(check),
    level: levels[level],
    message: { text: fix === '' ? what : `${what}. To mend it: ${fix}` },
    locations: [
      { physicalLocation: { artifactLocation: placeOf(file), region: { startLine: line } } },
    ],
    // The same finding is known again after lines have moved.
    partialFingerprints: { 'finding/v1': [check, file, what].join('|') },
  };
}

/** A path is a reference to a URI: what means something else in one is escaped. */
function placeOf(file: string): { uri: string; uriBaseId?: string } {
  if (file === '-') return { uri: 'stdin' };
  const path = file.replaceAll('\\', '/').replace(/^(\.\/)+/, '');
  const uri = path.split('/').map(encodeURIComponent).join('/');
  return path.startsWith('/') ? { uri: `file://${uri}` } : { uri, uriBaseId: '%SRCROOT%' };
}
