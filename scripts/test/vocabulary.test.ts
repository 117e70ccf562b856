// One word for one thing: the values of every option, on each surface on which people type or read them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { createEngine } from '@taintmgr/core';
import {
  modeWords,
  pressureRulesWords,
  rulesWords,
  spelled,
} from '@taintmgr/k8s-adapter/command-line';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import configSchema from '../../apps/controller/config.schema.json' with { type: 'json' };
import { settings } from '../../apps/controller/src/flags/settings.ts';
import chartSchema from '../../deploy/helm/taintmgr/values.schema.json' with { type: 'json' };

/** The enums in a schema or a definition, by their paths. */
function enumsIn(value: unknown, path = ''): readonly (readonly [string, readonly string[]])[] {
  if (!(value instanceof Object)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const isEnum = name === 'enum' && Array.isArray(inner);
    return isEnum ? [[path, inner.map(String)] as const] : enumsIn(inner, `${path}.${name}`);
  });
}

/** Lower case with hyphens, a version, a list: how people type a value. */
const typed = /^[a-z]+(-[a-z]+)*(-\d+(\.\d+)*)?(,[a-z]+(-[a-z]+)*)*$/;
/** How Kubernetes writes the values of an API. */
const ofApi = /^([A-Z][a-z]*|API)+$/;

/** Words that Kubernetes and the web write themselves. */
const foreign: readonly string[] = [
  ...['taintmgr.dev/v1alpha1', 'ControllerConfiguration', 'VersionTLS12', 'VersionTLS13'],
  ...['application/json', 'application/vnd.kubernetes.protobuf'],
  ...['In', 'NotIn', 'Exists', 'DoesNotExist', 'Equal', 'Lt', 'Gt'],
  ...['NoExecute', 'NoSchedule', 'PreferNoSchedule', 'True', 'False', 'Unknown'],
  ...['IfNotPresent', 'Always', 'Never', 'ClusterIP', 'NodePort', 'LoadBalancer'],
  ...['cluster-autoscaler.kubernetes.io/safe-to-evict', 'karpenter.sh/do-not-disrupt'],
];

function strays(enums: ReturnType<typeof enumsIn>, form: RegExp): readonly string[] {
  return enums.flatMap(([path, words]) => {
    const stray = words.filter((word) => !form.test(word) && !foreign.includes(word));
    return stray.map((word) => `${path}: ${word}`);
  });
}

describe('the values of options', () => {
  it('are lower case with hyphens in flags and variables', () => {
    const choices = Object.values(settings).flatMap(({ flag, kind: { placeholder } }) => {
      const [, words = ''] = /^[<[]([a-z][^<>]*\|[^<>]*)[>\]]$/.exec(placeholder) ?? [];
      return words === '' ? [] : [[`--${flag}`, words.split('|')] as const];
    });
    assert.ok(choices.length > 5);
    assert.deepEqual(strays(choices, typed), []);
  });

  it('are the same in the configuration file and in the chart', () => {
    assert.deepEqual(strays(enumsIn(configSchema), typed), []);
    assert.deepEqual(strays(enumsIn(chartSchema), typed), []);
  });

  it('are PascalCase in CRDs', () => {
    const definitions = customResourceDefinitions();
    const enums = definitions.flatMap((one) => enumsIn(one.spec.versions, one.metadata.name));
    assert.ok(enums.length > 30);
    assert.deepEqual(strays(enums, ofApi), []);
  });

  const ofLibrary: readonly (readonly [field: string, options: object])[] = [
    ['mode', { mode: '' }],
    ['per', { limits: [{ per: '' }] }],
    ['enforcement', { lifecycle: { enforcement: '' } }],
    ['fullDisruption', { lifecycle: { fullDisruption: '' } }],
    ['podReadiness', { lifecycle: { podReadiness: '' } }],
  ];
  for (const [field, options] of ofLibrary) {
    it(`are lower case with hyphens in the library: ${field}`, () => {
      assert.throws(
        () => createEngine(options),
        ({ message }: Error) => {
          const [, want = ''] = /want (.*)$/.exec(message) ?? [];
          assert.deepEqual(strays([[message, want.split(' or ')]], typed), []);
          return true;
        },
      );
    });
  }
});

describe('modes', () => {
  it('are the words of the vocabulary everywhere', () => {
    const found = new Map([...enumsIn(configSchema, 'file'), ...enumsIn(chartSchema, 'chart')]);
    const ofChart = found.get('chart.properties.mode') ?? [];
    assert.deepEqual(
      ofChart.filter((word) => word !== 'observe'),
      modeWords,
    );
    assert.deepEqual(found.get('file.definitions.mode'), modeWords);
    const actions = enumsIn(customResourceDefinitions()).find(([path]) => /\.action$/.test(path));
    const ofPolicies = (actions?.[1] ?? []).flatMap((word) => spelled(word, modeWords)?.word ?? []);
    assert.deepEqual(ofPolicies, modeWords);
  });
});

describe('whose rules apply', () => {
  it('is said in the words of the vocabulary', () => {
    const found = enumsIn(configSchema).filter(([path]) => path.endsWith('.semantics'));
    assert.deepEqual(
      found.map(([, words]) => words).sort(),
      [rulesWords, pressureRulesWords].sort(),
    );
  });
});

/** Pages that explain earlier spellings, or the library's option `semantics`. */
const explaining: readonly string[] = [
  ...['ARCHITECTURE.md', 'CHANGELOG.md', 'docs/glossary.md', 'docs/library.md'],
];

it('no page has an earlier spelling', () => {
  const files = execFileSync('git', ['ls-files', '*.md', 'deploy', 'examples'], {
    encoding: 'utf8',
  });
  const pages = files
    .trimEnd()
    .split('\n')
    .filter((file) => !explaining.includes(file) && !file.startsWith('docs/reference/api/'));
  const earlier = /\bevictThenDelete\b|\bupstream-1\.36\b|\bkcm-1\.36\b|--semantics=precise/;
  assert.deepEqual(
    pages.filter((file) => earlier.test(readFileSync(file, 'utf8'))),
    [],
  );
});
