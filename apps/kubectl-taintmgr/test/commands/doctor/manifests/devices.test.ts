import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { run } from '../../../world/run.ts';
import { temporaryFiles } from '../../../world/simulate-files.ts';

// What `doctor -f` says of rules that taint devices, and of claims that tolerate such taints.

const { write } = temporaryFiles();

/** The name is on the third line, the spec on the fourth. */
const object = (kind: string, spec: string, version = 'v1'): string =>
  `apiVersion: resource.k8s.io/${version}\nkind: ${kind}\nmetadata: {name: a}\nspec: {${spec}}\n`;
const taint = 'taint: {key: health, effect: NoExecute}';
const rule = (selector: string, more = taint): string =>
  object('DeviceTaintRule', `${selector}${selector === '' ? '' : ', '}${more}`);
const claim = (toleration: string): string =>
  object(
    'ResourceClaim',
    `devices: {requests: [{name: r, exactly: {tolerations: [${toleration}]}}]}`,
  );
const slice = object(
  'ResourceSlice',
  'driver: gpu.example.com, pool: {name: n1}, devices: [{name: gpu-0}]',
);

interface Finding {
  readonly level: string;
  readonly line: number;
  readonly about: string;
  readonly message: string;
  readonly fix: string;
}

/** `LEVEL LINE ABOUT: message; fix` of each finding. */
async function findings(objects: readonly string[]): Promise<readonly string[]> {
  const file = write('file.yaml', objects.join('---\n'));
  const { out } = await run('doctor', '-f', file, '-o', 'json');
  const report: { readonly findings: readonly Finding[] } = JSON.parse(out);
  return report.findings.map(
    ({ level, line, about, message, fix }) => `${level} ${line} ${about}: ${message}; ${fix}`,
  );
}

const fix = 'name driver, pool or device';
const loop =
  'without naming an effect: kube-scheduler accepts that and eviction does not, so pods on a device with such a NoExecute taint are evicted, and their replacements too, without end; write effect: NoExecute';
const overflow =
  "more than 9223372036: kube-controller-manager's number overflows, and it mostly evicts at once; leave tolerationSeconds out: then there is no limit";
const gate =
  'Kubernetes 1.36 ignores rules unless the feature gate DRADeviceTaintRules is on, and with it kube-scheduler 1.36.0 to 1.36.2 panics or overlooks rules; ';
const ofDriver = 'deviceSelector: {driver: gpu.example.com}';

const time = 'an RFC 3339 time such as 2026-11-29T03:31:04Z';
const podClaim = 'an object with a name and resourceClaimName or resourceClaimTemplateName';

const cases: readonly (readonly [
  name: string,
  objects: readonly string[],
  found: readonly string[],
])[] = [
  ['a rule for devices of a slice that is there', [slice, rule(ofDriver)], []],
  ['a rule where no slices are given', [rule('deviceSelector: {driver: typo}')], []],
  [
    'an empty selector',
    [rule('deviceSelector: {}')],
    [
      `WARN 4 devicetaintrule/a: deviceSelector is empty: it selects every device of every driver; every pod that has one and does not tolerate the taint is evicted, in all namespaces; ${fix}`,
    ],
  ],
  [
    'an empty selector of a preview',
    [rule('deviceSelector: {driver: null}', 'taint: {key: health, effect: None}')],
    [
      `WARN 4 devicetaintrule/a: deviceSelector is empty: it selects every device of every driver; with the effect NoExecute it would evict from all of them; ${fix}`,
    ],
  ],
  [
    'no selector',
    [rule('')],
    [
      `WARN 4 devicetaintrule/a: has no deviceSelector: it evicts no pods, and kube-scheduler up to 1.37 takes it for every device, so that no new pod gets one; ${fix}`,
    ],
  ],
  [
    'a selector of Kubernetes 1.34',
    [rule('deviceSelector: {deviceClassName: gpu}')],
    [
      `FAIL 4 devicetaintrule/a: deviceSelector has no field deviceClassName since Kubernetes 1.35: a rule without the fields that are left may select every device; ${fix}`,
    ],
  ],
  [
    'a device that no slice has',
    [slice, rule('deviceSelector: {driver: gpu.example.com, pool: n1, device: gpu-1}')],
    [
      'WARN 9 devicetaintrule/a: no ResourceSlice here has driver gpu.example.com, pool n1, device gpu-1; fix the selector',
    ],
  ],
  [
    'an effect that there is not',
    [rule(ofDriver, 'taint: {key: health, effect: PreferNoSchedule}')],
    [
      'FAIL 4 devicetaintrule/a: taint.effect: got "PreferNoSchedule", want NoExecute, NoSchedule, None; ',
    ],
  ],
  [
    'a rule of Kubernetes 1.36',
    [object('DeviceTaintRule', `${ofDriver}, ${taint}`, 'v1beta2')],
    [`INFO 1 devicetaintrule/a: ${gate}`],
  ],
  [
    'tolerations with their effects',
    [claim('{operator: Exists, effect: NoExecute}, {key: x, effect: NoSchedule}')],
    [],
  ],
  [
    'tolerations without an effect',
    [claim('{operator: Exists}, {key: health, operator: Exists, effect: ""}')],
    [
      `WARN 4 resourceclaim/a -n default: tolerates all taints ${loop}`,
      `WARN 4 resourceclaim/a -n default: tolerates health ${loop}`,
    ],
  ],
  [
    'of a template, with alternatives',
    [
      object(
        'ResourceClaimTemplate',
        'spec: {devices: {requests: [{name: r, firstAvailable: [{name: s, tolerations: [{key: x}]}]}]}}',
      ),
    ],
    [`WARN 4 resourceclaimtemplate/a -n default: tolerates x ${loop}`],
  ],
  [
    'seconds that overflow',
    [
      claim(
        '{key: x, effect: NoExecute, tolerationSeconds: 9223372037}, {key: y, effect: NoExecute, tolerationSeconds: 9223372036}',
      ),
    ],
    [`WARN 4 resourceclaim/a -n default: tolerates x for 9223372037 s, ${overflow}`],
  ],
  [
    'an extended resource',
    [object('DeviceClass', 'extendedResourceName: example.com/gpu')],
    [
      'INFO 4 deviceclass/a: pods that get its devices as the extended resource example.com/gpu are not evicted for device taints up to Kubernetes 1.37 (k/k#141290); use a ResourceClaim if they must leave',
    ],
  ],
  [
    'a driver that is no text',
    [rule('deviceSelector: {driver: 5}')],
    ['FAIL 4 devicetaintrule/a: deviceSelector.driver: got 5, want a string; '],
  ],
  [
    'a selector that is no object',
    [rule('deviceSelector: gpu')],
    [
      'FAIL 4 devicetaintrule/a: deviceSelector: got "gpu", want an object with driver, pool or device; ',
    ],
  ],
  [
    'a time that is none',
    [rule(ofDriver, 'taint: {key: health, effect: NoExecute, timeAdded: garbage}')],
    [`FAIL 4 devicetaintrule/a: taint.timeAdded: got "garbage", want ${time}; `],
  ],
  [
    'a slice with such a time, and without a device',
    [
      object(
        'ResourceSlice',
        `driver: 5, devices: [null, {name: a, taints: [{key: x, effect: None}, {key: y, effect: Some, timeAdded: garbage}]}, {name: b, basic: {taints: [{key: z, effect: NoExecute, timeAdded: 7}]}}]`,
      ),
    ],
    [
      'FAIL 4 resourceslice/a: driver: got 5, want a string; ',
      'FAIL 4 resourceslice/a: devices[0]: got null, want an object with a name; ',
      'FAIL 4 resourceslice/a: devices[1].taints[1].effect: got "Some", want NoExecute, NoSchedule, None; ',
      `FAIL 4 resourceslice/a: devices[1].taints[1].timeAdded: got "garbage", want ${time}; `,
      `FAIL 4 resourceslice/a: devices[2].basic.taints[0].timeAdded: got 7, want ${time}; `,
    ],
  ],
  [
    'claims of pods that are none',
    [
      'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  resourceClaims:\n  - null\n',
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: b}\nspec: {template: {spec: {resourceClaims: [{name: ok, resourceClaimName: a}, gpu]}}}\n',
    ],
    [
      `FAIL 6 pod/a -n default: resourceClaims[0]: got null, want ${podClaim}; `,
      `FAIL 11 deployment/b -n default: resourceClaims[1]: got "gpu", want ${podClaim}; `,
    ],
  ],
  ['another group', [rule('deviceSelector: {}').replace('resource.k8s.io', 'example.com')], []],
];

describe('doctor -f and device taints', () => {
  for (const [name, objects, found] of cases) {
    it(name, async () => assert.deepEqual(await findings(objects), found));
  }

  it('a timeAdded in the past', async () => {
    const at = (seconds: number): string =>
      rule(
        ofDriver,
        `taint: {key: health, effect: NoExecute, timeAdded: "${new Date(Date.now() + seconds * 1000).toISOString()}"}`,
      );
    const [found = '', ...others] = await findings([at(-7230)]);
    assert.match(
      found,
      /^WARN 4 devicetaintrule\/a: timeAdded is 2h ago: deadlines count from then, and who does not tolerate the taint for longer is evicted at once; leave it out: /,
    );
    assert.deepEqual([others, await findings([at(7200)])], [[], []]);
  });
});
