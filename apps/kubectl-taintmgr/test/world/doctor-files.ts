// Files for `doctor -f`, in a folder of their own.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { run } from './run.ts';

/** One of the document's findings, as far as tests read it. */
export interface Finding {
  readonly level: string;
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** Tests run in a folder of their own, beside no cluster. */
export function inEmptyFolder(): void {
  const directory = mkdtempSync(join(tmpdir(), 'doctor-files-'));
  const folder = process.cwd();
  before(() => {
    process.chdir(directory);
    process.env.KUBECONFIG = join(directory, 'nowhere');
  });
  after(() => {
    process.chdir(folder);
    rmSync(directory, { recursive: true });
  });
}

const template = (labels: string): string =>
  `template: {metadata: {labels: {${labels}}}, spec: {containers: [{name: c, image: i}]}}`;

export const workload = (
  kind: string,
  name: string,
  spec: string,
  labels = `app: ${name}`,
): string =>
  `apiVersion: apps/v1
kind: ${kind}
metadata: {name: ${name}}
spec: {${spec}${spec ? ', ' : ''}${template(labels)}}
`;
export const web = (replicas: string): string => workload('Deployment', 'web', replicas);
/** Its spec begins on the fourth line. */
export const pdb = (
  spec: string,
  name = 'web',
  more = ', unhealthyPodEvictionPolicy: AlwaysAllow',
): string =>
  `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: ${name}}
spec: {${spec}${more}}
`;
export const ofWeb = 'selector: {matchLabels: {app: web}}';

/** `LEVEL LINE: message` of each finding in a file. */
export async function fileFindings(content: string): Promise<readonly string[]> {
  writeFileSync('file.yaml', content);
  const { out } = await run('doctor', '-f', 'file.yaml', '-o', 'json');
  const report: { readonly findings: readonly Finding[] } = JSON.parse(out);
  return report.findings.map(({ level, line, message }) => `${level} ${line}: ${message}`);
}
