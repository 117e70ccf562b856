import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startDeviceCluster, writeProgress } from '../../world/device-cluster.ts';
import { run } from '../../world/run.ts';
import { comeAs, type TestCluster } from '../../world/test-cluster.ts';

// explain device and explain devicetaintrule, as somebody on call reads them.

const list = ['get', 'list'];
const pods = { verbs: list, apiGroups: [''], resources: ['pods'] };
/** What the role view has, and no more. */
const claims = { verbs: list, apiGroups: ['resource.k8s.io'], resources: ['resourceclaims'] };

let cluster: TestCluster;
before(async () => {
  cluster = await startDeviceCluster({ viewer: [pods, claims], blind: [] });
  comeAs(cluster, 'admin');
  const rule = (name: string, deviceSelector: object, effect: string) => {
    cluster.api.create('devicetaintrules', {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'DeviceTaintRule',
      metadata: { name },
      spec: { deviceSelector, taint: { key: 'health', value: 'bad', effect } },
    });
  };
  rule('gpus', { driver: 'gpu.example.com' }, 'NoExecute');
  rule('preview', { pool: 'n1', device: 'gpu-5' }, 'None');
  writeProgress(
    cluster.api,
    'gpus',
    'PodsPendingEviction',
    '4 pods need to be evicted in 1 namespace.',
  );
});
after(() => cluster.stop());

/** What no two runs have in common: times, how long ago they are, and the widths that hang on them. */
function steady(text: string): string {
  return text
    .replace(/\d{4}-\d\d-\d\dT[\d:]+Z/g, '<time>')
    .replace(/\b\d+s ago/g, '<n>s ago')
    .replace(/overdue by \d+s/g, 'now')
    .replace(/ {2,}/g, '  ');
}

/** What is printed. */
async function answer(line: string): Promise<string> {
  const { code, out, err } = await run('explain', ...line.split(' '));
  assert.equal(code, 0, err);
  return steady(`${out}${err}`);
}

const upstream = 'kube-controller-manager (device-taint-eviction-controller)';
const forbidden = (user: string, resource: string, group = 'resource.k8s.io'): string =>
  `Warning: not everything could be read: ${resource}${group && `.${group}`} is forbidden: User "${user}" cannot list resource "${resource}" in API group "${group}" at the cluster scope\n`;

describe('explain devicetaintrule', () => {
  it('says who goes against which budgets, and what kube-controller-manager says', async () => {
    assert.equal(
      await answer('devicetaintrule gpus'),
      steady(`Name:         gpus
Pods:         4 of 6 to evict, 2 to keep
Selects:      driver gpu.example.com: 6 published devices, 5 allocated
Taint:        health=bad:NoExecute   added <n>s ago (<time>), by unknown
Evicted by:   ${upstream}
Progress:     PodsPendingEviction: 4 pods need to be evicted in 1 namespace.

NAMESPACE   POD       DEVICE                     CLAIM   DECISION   IN       BUDGET             BECAUSE
shop        batch-1   gpu.example.com/n1/gpu-2   gpu-c   Evict      now      <none>             health=bad:NoExecute by DeviceTaintRule gpus; the claim's toleration of health names no effect; only NoExecute counts here, while the scheduler takes it for all effects
shop        train-1   gpu.example.com/n1/gpu-0   gpu-a   Evict      now      train (allows 0)   health=bad:NoExecute by DeviceTaintRule gpus; the claim does not tolerate it
shop        train-2   gpu.example.com/n1/gpu-0   gpu-a   Evict      now      train (allows 0)   health=bad:NoExecute by DeviceTaintRule gpus; the claim does not tolerate it
shop        train-3   gpu.example.com/n1/gpu-1   gpu-b   Evict      1d       train (allows 0)   health=bad:NoExecute by DeviceTaintRule gpus; the claim tolerates it for 1d
shop        agent-1   gpu.example.com/n1/gpu-3   gpu-d   Keep       -        <none>             claim gpu-d tolerates health=bad:NoExecute of device gpu.example.com/n1/gpu-3 without limit
shop        ext-1     gpu.example.com/n1/gpu-4   gpu-e   Keep       -        <none>             claim gpu-e was made for an extended resource: Kubernetes up to 1.37 does not evict for its devices, though device gpu.example.com/n1/gpu-4 of claim gpu-e is tainted health=bad:NoExecute by DeviceTaintRule gpus since <time>
Warning: PDB shop/train allows 0 of its pods to go now, and 3 pods of it go
Note: tolerations of a claim cannot be changed once it is allocated; to keep the pods, take DeviceTaintRule gpus away (kubectl delete devicetaintrule gpus; one of taint-device: kubectl taintmgr undo devicetaintrule/gpus) or give them time (kubectl taintmgr taint-device devicetaintrule/gpus --snooze 30m)
`),
    );
  });

  it('says that a status is of an earlier spec, or that there is none', async () => {
    const rule = cluster.api.get('devicetaintrules', '', 'preview') ?? assert.fail();
    assert.match(
      await answer('devicetaintrule/preview'),
      /^Name: +preview\nPods: +<none>\n[\s\S]*\nProgress: +no status: kube-controller-manager has not looked at this rule\n$/,
    );
    writeProgress(cluster.api, 'preview', 'NoEffect', '1 published device selected.');
    const written = cluster.api.get('devicetaintrules', '', 'preview') ?? rule;
    const taint = { key: 'health', value: 'worse', effect: 'None' };
    cluster.api.update('devicetaintrules', { ...written, spec: { deviceSelector: {}, taint } });
    assert.match(
      await answer('devicetaintrule preview'),
      /\nSelects: +every device of every driver: 6 published devices, 5 allocated\n[\s\S]*\nProgress: +NoEffect: 1 published device selected\. \(of an earlier spec: generation 1 of 2\)\n/,
    );
    assert.match(
      await answer('device gpu.example.com/n1/gpu-5'),
      /\nhealth=worse:None +DeviceTaintRule preview +/,
    );
  });

  it('does not know who goes where nobody was seen to heed rules', async () => {
    const deleted = ['gpus', 'preview'].map((name) => {
      const rule = cluster.api.get('devicetaintrules', '', name) ?? assert.fail(name);
      cluster.api.delete('devicetaintrules', '', name);
      return rule;
    });
    cluster.api.create('devicetaintrules', {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'DeviceTaintRule',
      metadata: { name: 'unheeded' },
      spec: { deviceSelector: { device: 'gpu-1' }, taint: { key: 'health', effect: 'NoExecute' } },
    });
    const text = await answer('devicetaintrule unheeded');
    assert.match(
      text,
      /\nEvicted by: .*; it has written no status of any rule, and then rules evict no pods \(feature gate DRADeviceTaintRules off\?\)\n/,
    );
    assert.match(
      text,
      /\nshop +train-3 .* Unknown +- .* if a controller follows it: health:NoExecute by DeviceTaintRule unheeded; the claim tolerates it for 1d\n$/,
    );
    cluster.api.delete('devicetaintrules', '', 'unheeded');
    cluster.api.load(deleted);
  });

  it('has it all as JSON', async () => {
    const { out } = await run('explain', 'devicetaintrule', 'gpus', '-o', 'json');
    const { kind, selector, devices, progress: said, pods: all } = JSON.parse(out);
    assert.deepEqual(
      [kind, selector],
      ['DeviceTaintRuleExplanation', { driver: 'gpu.example.com' }],
    );
    assert.deepEqual(devices, { published: 6, allocated: 5 });
    assert.deepEqual([said.current, said.reason], [true, 'PodsPendingEviction']);
    const [{ name, decision, because }] = all;
    assert.deepEqual([name, decision, because[0].code], ['batch-1', 'Evict', 'Tainted']);
    const names = await run('explain', 'devicetaintrule', 'gpus', '-o', 'name');
    assert.equal(
      names.out,
      'devicetaintrule.resource.k8s.io/gpus\npod/batch-1\npod/train-1\npod/train-2\npod/train-3\n',
    );
  });
});

describe('explain device', () => {
  it('says which taints it has, by whom and since when, and who holds it', async () => {
    assert.equal(
      await answer('device gpu.example.com/n1/gpu-4'),
      steady(`Device:       gpu.example.com/n1/gpu-4
Pods:         0 of 1 to evict, 1 to keep
Published:    ResourceSlice n1-gpu (node n1)
Claims:       shop/gpu-e
Evicted by:   ${upstream}

TAINT                  SET BY                    ADDED    WRITTEN BY
health=bad:NoExecute   DeviceTaintRule gpus      <n>s ago   unknown
health=worse:None      DeviceTaintRule preview   <n>s ago   unknown

NAMESPACE   POD     DEVICE                     CLAIM   DECISION   IN    BUDGET   BECAUSE
shop        ext-1   gpu.example.com/n1/gpu-4   gpu-e   Keep       -     <none>   claim gpu-e was made for an extended resource: Kubernetes up to 1.37 does not evict for its devices, though device gpu.example.com/n1/gpu-4 of claim gpu-e is tainted health=bad:NoExecute by DeviceTaintRule gpus since <time>
`),
    );
  });

  const wrong: readonly (readonly [line: string, err: string])[] = [
    ['device gpu-0', 'error: invalid device "gpu-0": want driver/pool/device\n'],
    [
      'device gpu.example.com/n1/gpu-9',
      'error: no ResourceSlice publishes device gpu.example.com/n1/gpu-9, and no claim holds it; devices of pool n1: gpu-0, gpu-1, gpu-2, gpu-3, gpu-4, gpu-5\n',
    ],
    [
      'device gpu.example.com/n2/gpu-0',
      'error: no ResourceSlice publishes device gpu.example.com/n2/gpu-0, and no claim holds it; pools of driver gpu.example.com: n1\n',
    ],
    [
      'device fpga.example.com/n1/f-0',
      'error: no ResourceSlice publishes device fpga.example.com/n1/f-0, and no claim holds it; drivers: gpu.example.com\n',
    ],
    ['devicetaintrule none', 'error: there is no DeviceTaintRule "none"; rules: gpus, preview\n'],
  ];
  for (const [line, err] of wrong) {
    it(line, async () => {
      assert.deepEqual(await run('explain', ...line.split(' ')), { code: 1, out: '', err });
    });
  }
});

describe('without rights, explain', () => {
  it('does not say Keep where slices and rules may not be read', async () => {
    comeAs(cluster, 'viewer');
    assert.equal(
      await answer('device gpu.example.com/n1/gpu-0'),
      steady(`Device:       gpu.example.com/n1/gpu-0
Pods:         0 of 2 to evict, 2 unknown
Published:    not known: you may not list resourceslices
Claims:       shop/gpu-a
Evicted by:   unknown: assume ${upstream}
Taints:       not known: you may not list resourceslices and devicetaintrules

NAMESPACE   POD       DEVICE                     CLAIM   DECISION   IN    BUDGET   BECAUSE
shop        train-1   gpu.example.com/n1/gpu-0   gpu-a   Unknown    -     ?        unknown: no permission to read resourceslices and devicetaintrules
shop        train-2   gpu.example.com/n1/gpu-0   gpu-a   Unknown    -     ?        unknown: no permission to read resourceslices and devicetaintrules
${forbidden('viewer', 'resourceslices')}${forbidden('viewer', 'devicetaintrules')}${forbidden('viewer', 'poddisruptionbudgets', 'policy')}`),
    );
    const { code, err } = await run('explain', 'devicetaintrule', 'gpus');
    assert.deepEqual(
      [code, err],
      [1, 'error: the rule is not known: you may not list devicetaintrules\n'],
    );
  });

  it('names what it lacks to find pods', async () => {
    comeAs(cluster, 'blind');
    assert.match(
      await answer('device gpu.example.com/n1/gpu-0'),
      /\nPods: +not known: you may not list resourceclaims and pods\n[\s\S]*\nClaims: +not known: you may not list resourceclaims\n/,
    );
  });
});
