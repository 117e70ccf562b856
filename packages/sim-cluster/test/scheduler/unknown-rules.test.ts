import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import { unknownRulesOf } from '../../src/scheduler/unknown-rules.ts';

const namespace = 'shop';
const cel = { expression: 'device.driver == "gpu.example.com"' };

function deviceClass(name: string, spec: object): KubeObject {
  return { kind: 'DeviceClass', metadata: { name }, spec };
}

function claim(name: string, exactly: object, more: object = {}): KubeObject {
  const devices = { requests: [{ name: 'gpu', exactly }], ...more };
  return { kind: 'ResourceClaim', metadata: { name, namespace }, spec: { devices } };
}

function slice(name: string, driver: string, device: object): KubeObject {
  const pool = { name, generation: 1, resourceSliceCount: 1 };
  const spec = { driver, pool, nodeName: 'n1', devices: [{ name: 'd', ...device }] };
  return { kind: 'ResourceSlice', metadata: { name }, spec };
}

const byDriver = (driver: string): object => ({
  selectors: [{ cel: { expression: `device.driver == "${driver}"` } }],
});
const model = { cel: { expression: 'device.attributes["gpu.example.com"].model == "a"' } };

const stored: Readonly<Record<string, readonly KubeObject[]>> = {
  deviceclasses: [
    deviceClass('gpu', { selectors: [{ cel }], extendedResourceName: 'example.com/gpu' }),
    deviceClass('none', byDriver('none.example.com')),
    ...['shared', 'several', 'binding'].map((name) => deviceClass(name, byDriver(name))),
  ],
  resourceslices: [
    slice('n1', 'gpu.example.com', {}),
    slice('n2', 'shared', { consumesCounters: [{}] }),
    slice('n3', 'several', { allowMultipleAllocations: true }),
    slice('n4', 'binding', { bindingConditions: ['ready'] }),
  ],
  resourceclaims: [
    claim('plain', { deviceClassName: 'gpu' }),
    claim('alike', { deviceClassName: 'gpu' }, { constraints: [{ matchAttribute: 'a/b' }] }),
    claim('distinct', { deviceClassName: 'gpu' }, { constraints: [{ distinctAttribute: 'a/b' }] }),
    claim('nobody', { deviceClassName: 'nobody' }),
    claim('none', { deviceClassName: 'none' }),
    claim('model', { deviceClassName: 'gpu', selectors: [model] }),
    claim('capacity', { deviceClassName: 'gpu', capacity: {} }),
    ...['shared', 'several', 'binding'].map((name) => claim(name, { deviceClassName: name })),
  ],
  resourceclaimtemplates: [
    { metadata: { name: 'made', namespace }, spec: claim('', { deviceClassName: 'gpu' }) },
  ],
};

const objects = {
  list: (resource: string) => stored[resource] ?? [],
  get: (resource: string, _namespace: string, name: string) =>
    stored[resource]?.find(({ metadata }) => metadata.name === name) ?? null,
};

const claims = (resourceClaimName: string): object => ({
  resourceClaims: [{ name: 'c', resourceClaimName }],
});
const template = (resourceClaimTemplateName: string): object => ({
  resourceClaims: [{ name: 'c', resourceClaimTemplateName }],
});
const limits = (name: string): object => ({
  containers: [{ name: 'c', resources: { limits: { [name]: '1' } } }],
});

describe('rules that the scheduler does not know', () => {
  const cases: readonly (readonly [string, object, readonly string[]])[] = [
    ['none of a plain pod', {}, []],
    ['none of its own pods', { schedulerName: 'default-scheduler', resourceClaims: [] }, []],
    ['those of another scheduler', { schedulerName: 'volcano' }, ['volcano']],
    ['none of a claim of which all is there', claims('plain'), []],
    ['none of a claim with devices alike', claims('alike'), []],
    ['none of a template of which all is there', template('made'), []],
    ['a claim that is not there', claims('gone'), ['ResourceClaim gone is not there']],
    ['a template that is not there', template('gone'), ['ResourceClaimTemplate gone is not there']],
    ['a class that is not there', claims('nobody'), ['DeviceClass nobody is not there']],
    ['a class without devices', claims('none'), ['no ResourceSlice has a device of class none']],
    [
      'an expression that nobody reads',
      claims('model'),
      [`an expression cannot be read: ${model.cel.expression}`],
    ],
    ['shares of capacities', claims('capacity'), ['shares of capacities are not played']],
    ['devices unlike each other', claims('distinct'), ['distinctAttribute is not played']],
    ['counters', claims('shared'), ['devices of class shared share counters']],
    [
      'devices for several',
      claims('several'),
      ['devices of class several can be allocated several times'],
    ],
    ['conditions', claims('binding'), ['devices of class binding have binding conditions']],
    [
      'an extended resource',
      limits('example.com/gpu'),
      ['example.com/gpu is a device in a cluster with DRAExtendedResource'],
    ],
    ['none of another extended resource', limits('example.com/fpga'), []],
  ];
  for (const [name, spec, expected] of cases) {
    it(name, () => {
      const pod = { metadata: { name: 'p', namespace }, spec };
      const found = unknownRulesOf(pod, objects).map((unknown) =>
        unknown.rule === 'devices' ? unknown.why : unknown.schedulerName,
      );
      assert.deepEqual(found, expected);
    });
  }
});
