// resource.k8s.io beside what kube-apiserver 1.36.2 answered to the same requests in a row.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { KubeObject } from '@taintmgr/sim-cluster';
import { fixture, start } from '../world/api-fixture.ts';

interface Step {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly type?: string;
  readonly accept?: string;
  readonly status: number;
  readonly warning?: string;
  /** Of a refusal its words, of a table its columns and cells, of a list names; times are `T+10s`. */
  readonly answer: object;
}

/** Recorded with the gates DRADeviceTaints and DRADeviceTaintRules, and v1beta2 switched on. */
const steps: readonly (Step | { readonly wait: number })[] = readFileSync(
  new URL('device-api.jsonl', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

describe('resource.k8s.io as kube-apiserver has it', () => {
  const { client, pass } = fixture();
  for (const step of steps) {
    if ('wait' in step) {
      it(`${step.wait} s later`, () => pass(step.wait * 1000));
      continue;
    }
    const { name, method, path, body, type = 'application/json', accept } = step;
    it(name, () => {
      const response = client.request(method, path, {
        ...(body ? { body } : {}),
        headers: {
          'user-agent': 'node',
          ...(body ? { 'content-type': type } : {}),
          ...(accept ? { accept } : {}),
        },
      });
      const hasOwners = JSON.stringify(step.answer).includes('managedFields');
      assert.deepEqual(seen(response.body, hasOwners), step.answer);
      assert.equal(response.status, step.status);
      assert.equal(response.headers.warning, step.warning);
    });
  }
});

interface Column {
  readonly [member: string]: string;
}

function seen(answer: KubeObject, hasOwners: boolean): unknown {
  const { kind = '', message, reason } = answer;
  if (kind === 'Status') return { message, reason };
  if (kind === 'Table') {
    const columns = answer.columnDefinitions.map((column: Column) =>
      ['name', 'type', 'format', 'description'].map((member) => column[member]),
    );
    return { columns, rows: answer.rows.map(({ cells }: { cells: unknown }) => cells) };
  }
  if (kind.endsWith('List')) {
    return { names: answer.items.map(({ metadata }: KubeObject) => metadata.name) };
  }
  return JSON.parse(JSON.stringify(answer, (key, value) => normal(key, value, hasOwners)));
}

function normal(key: string, value: unknown, hasOwners: boolean): unknown {
  if (key === 'metadata') {
    const { resourceVersion: _, uid, ...metadata } = value as Record<string, unknown>;
    return uid === undefined ? metadata : { ...metadata, uid: 'UID' };
  }
  if (key === 'managedFields') {
    if (!hasOwners) return undefined;
    return (value as readonly object[]).map((entry) => ({ ...entry, time: undefined }));
  }
  if (typeof value !== 'string' || !/^2026-01-01T00:0\d:\d\dZ$/.test(value)) return value;
  return `T+${(Date.parse(value) - start) / 1000}s`;
}
