import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readPlainYaml } from '../../src/kubeconfig/file.ts';
import { readGoYaml } from '../../src/manifests/go-yaml.ts';
import { fc } from '../world/fast-check.ts';

/** Parts of lines: of what is read, of what is left to the library, and of what is no YAML. */
const keys = ['a:', 'name:', 'client-key-data:', 'true:', 'x', '"q":', '<<:', '__proto__:', 'k:'];
const values = [
  ...['', 'v1', '"https://1.2.3.4:6443"', 'https://host:6443/a', 'LS0tLS1CRUdJTi==', '--region'],
  ...['-it', '/etc/ca.crt', 'true', 'null', 'False', '{}', '[]', '~', '12', '1e3', '0x1f'],
  ...['2026-01-01', 'a b', 'a # b', '#', '"a\\n"', '"', "'x'", '|', '&x y', '*x', 'a:', '- b'],
  ...['a: b', 'yes', '.5', '-1', '-', '--', '---', '!!str 1', '"a" b', '? x', '[1]', 'é', ' c'],
];
const line = fc
  .tuple(
    fc.constantFrom('', '  ', '    ', ' ', '\t', '   ', '\t ', ' \t'),
    fc.constantFrom('', '', '- ', '- - ', '-  ', '# '),
    fc.constantFrom('', ...keys),
    fc.constantFrom(...values),
    fc.constantFrom('', '', '', ' ', '\r'),
  )
  .map(([indent, dash, key, value, end]) => {
    return `${indent}${dash}${[key, value].filter((part) => part !== '').join(' ')}${end}`;
  });
/** Lines that fit more often. */
const plainLine = fc
  .tuple(
    fc.constantFrom('', '', '  ', '    '),
    fc.constantFrom('', '', '- '),
    fc.constantFrom('a:', 'b:', 'c:', 'd:', 'e:', ''),
    fc.constantFrom('', '', ...values.slice(0, 14)),
  )
  .map(([indent, dash, key, value]) => {
    return `${indent}${dash}${[key, value].filter((part) => part !== '').join(' ')}`;
  });

function libraryReads(text: string): unknown {
  try {
    return readGoYaml(text);
  } catch {
    return 'an error';
  }
}

describe('plain YAML', () => {
  it('is read as the library reads it, or not at all', () => {
    let read = 0;
    const property = (lines: readonly string[]): void => {
      const text = lines.join('\n');
      const value = readPlainYaml(text);
      if (value === null) return;
      read += 1;
      assert.deepEqual(value, libraryReads(text), JSON.stringify(text));
    };
    fc.assert(fc.property(fc.array(line, { maxLength: 6 }), property), { numRuns: 5000 });
    fc.assert(fc.property(fc.array(plainLine, { maxLength: 7 }), property), { numRuns: 20_000 });
    assert.ok(read > 500, `${read} of them are plain`);
  });

  it('is what kubectl writes', () => {
    const text = `apiVersion: v1
# of two clusters
clusters:
- cluster:
    certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t/+==
    server: https://127.0.0.1:6443
  name: kind-kind
contexts:
  - context:
      cluster: kind-kind
      namespace: shop
      user: kind-kind
    name: kind-kind
current-context: kind-kind
kind: Config
preferences: {}
users:
- name: kind-kind
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      args:
      - --region
      - eu-central-1
      - get-token
      command: aws
      env: null
      provideClusterInfo: false
`;
    const read = readPlainYaml(text);
    assert.notEqual(read, null);
    assert.deepEqual(read, readGoYaml(text));
  });

  for (const [what, text] of [
    ['nothing', ''],
    ['an alias', 'a: &x b\nc: *x'],
    ['a value in several lines', 'a: b\n  c'],
    ['a key twice', 'a: b\na: c'],
    ['a number', 'a: 12'],
    ['two documents', 'a: b\n---\nc: d'],
    ['a list', '- a'],
    ['a key without a value', 'a:\nb: c'],
    ['a tab', 'a:\n\tb: c'],
  ] as const) {
    it(`leaves ${what} to the library`, () => assert.equal(readPlainYaml(text), null));
  }
});
