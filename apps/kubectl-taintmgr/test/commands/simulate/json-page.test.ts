import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { run } from '../../world/run.ts';
import { temporaryFiles, topology } from '../../world/simulate-files.ts';

// The page of the JSON names every field that the command prints, and no other.

const { write: file } = temporaryFiles();
const page = new URL('../../../../../docs/commands/simulate-json.md', import.meta.url);

/** The paths that the page names: fields below the path of their heading, `runs[].pods[].from`. */
function namedPaths(text: string): ReadonlySet<string> {
  const sections = text.split(/^## /m).slice(1);
  const paths = sections.flatMap((section) => {
    const [, prefix = ''] = /^`([^`]*)`/.exec(section) ?? [];
    const rows = section.split('\n').filter((line) => line.startsWith('| `'));
    const fields = rows.flatMap((row) => {
      const [, cell = ''] = row.split('|');
      return Array.from(cell.matchAll(/`([^`]+)`/g), ([, field = '']) => field).flatMap(spelledOut);
    });
    return fields.map((field) => (prefix === '' ? field : `${prefix}.${field}`));
  });
  return new Set(paths);
}

/** `a.{b,c}` stands for `a.b` and `a.c`. */
function spelledOut(field: string): readonly string[] {
  const [, before = '', names = '', after = ''] = /^(.*?)\{(.*?)\}(.*)$/.exec(field) ?? [];
  if (names === '') return [field];
  return names.split(',').flatMap((name) => spelledOut(`${before}${name}${after}`));
}

/** The paths of all that is neither an object nor a list. */
function pathsOf(value: unknown, path = ''): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => pathsOf(item, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([name, inner]) => {
    return pathsOf(inner, path === '' ? name : `${path}.${name}`);
  });
}

const everything = `
policies:
- apiVersion: taintmgr.dev/v1alpha1
  kind: EvictionPolicy
  metadata: {name: ask}
  spec: {action: Evict, limits: [{per: Total, podsPerSecond: 0.1, burst: 1, onLimit: Queue}]}
times: [{workload: shop/web, start: 5s, stop: 2s}]
events:
- {at: 1m, taint: {node: zone-a-1, taint: 'check=bad:NoExecute'}}
- {at: 2m, taint: {zone: zone-b, taint: 'other=bad:NoExecute'}}
- {at: 3m, taint: {nodes: all, taint: 'third=bad:NoExecute'}, lasts: 2m}
- {at: 8m, stopKubelet: {zone: zone-c}}
`;
const loops = `- {kind: Job, name: shop/report, seconds: 900, nodeSelector: {kubernetes.io/hostname: zone-a-2}}
- kind: StatefulSet
  name: shop/db
  nodeSelector: {kubernetes.io/hostname: zone-a-1}
  tolerations: [{key: check, operator: Exists, effect: NoExecute, tolerationSeconds: 10}]
`;
/** A budget that allows nothing, and a workload that comes to no end. */
const manifests = `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec: {maxUnavailable: 0}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: lone, namespace: shop}
spec: {replicas: 99}
`;
/** Too rare to be played here: a snapshot in part, requests that fail. */
const notPlayed = [
  'missing[]',
  // What is not simulated.
  'limits[].unknown',
  'runs[].summary.workloads[].unknown[]',
  'notes[]',
  'unplayed[]',
  'losses[].limits[].unknown',
  'losses[].workloads[].unknown[]',
  ...['namespace', 'pod', 'workload', 'node', 'at', 'message'].map(
    (name) => `runs[].failures[].${name}`,
  ),
];

it('the page names what is printed, and nothing else', async () => {
  const source = file('topology.yaml', topology + loops);
  const script = file('everything.yaml', everything);
  const { out, err } = await run(
    ...['simulate', '-f', source, '--script', script, '--compare', '-o', 'json'],
    ...['--fail-if', 'down(shop/web) > 0', '--seeds', '2'],
  );
  assert.match(err, /^limit crossed/);
  const named = namedPaths(readFileSync(page, 'utf8'));
  const applied = await run(
    ...['simulate', '-f', source, '--until', '1m', '-o', 'json'],
    ...['--apply', file('manifests.yaml', manifests)],
  );
  const each = await run(
    ...['simulate', '-f', source, '--each', 'zone', '--by', 'taint=a:NoExecute', '--until', '3m'],
    ...['--fail-if', 'down(shop/web) > 0', '--seeds', '2', '-o', 'json'],
  );
  const printed = new Set(
    [out, applied.out, each.out].flatMap((text) => pathsOf(JSON.parse(text))),
  );
  const isNull = (path: string): boolean => path === 'runs[].differences';
  const unnamed = [...printed].filter((path) => !named.has(path) && !isNull(path));
  assert.deepEqual(unnamed, [], 'not on the page');
  const optional = [...notPlayed, 'runs[].summary.workloads[].longestGap'];
  const absent = [...named].filter((path) => !printed.has(path) && !optional.includes(path));
  assert.deepEqual(absent, [], 'not printed');
});
