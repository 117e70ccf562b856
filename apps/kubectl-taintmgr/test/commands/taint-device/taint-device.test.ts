import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { job } from '@taintmgr/sim-cluster';
import { addHolder, startDeviceCluster, writeProgress } from '../../world/device-cluster.ts';
import { type Result, run, start } from '../../world/run.ts';
import { comeAs, type TestCluster, until } from '../../world/test-cluster.ts';

// taint-device from its first write to the last, against an API server over HTTPS.

const verbs = ['get', 'list'];
const reading = [
  { verbs, apiGroups: [''], resources: ['pods'] },
  { verbs, apiGroups: ['policy'], resources: ['poddisruptionbudgets'] },
];
const devices = { verbs, apiGroups: ['resource.k8s.io'], resources: ['*'] };

let cluster: TestCluster;
before(async () => {
  cluster = await startDeviceCluster({ viewer: reading, onlooker: [...reading, devices] });
  process.env.KUBECONFIG = cluster.kubeconfig;
});
after(() => cluster.stop());
afterEach(() => {
  comeAs(cluster, 'admin');
  for (const { metadata } of rules()) cluster.api.delete('devicetaintrules', '', metadata.name);
});

const rules = () => cluster.api.list('devicetaintrules');
const ruleOf = (name: string) => cluster.api.get('devicetaintrules', '', name);
const effectOf = (name: string) =>
  (ruleOf(name)?.spec as { readonly taint: { readonly effect: string } } | undefined)?.taint.effect;

/** Runs the words of a line. */
const type = (line: string): Promise<Result> => run(...line.split(' '));

const noStatus =
  'kube-controller-manager has written no status within 0s: rules seem to be ignored here (feature gate DRADeviceTaintRules off, or no device-taint-eviction-controller?)\n';
const risk =
  'Warning: kube-controller-manager deletes pods for device taints itself: it asks no PodDisruptionBudget, keeps no pace and no order and spares no namespace, and what is deleted does not come back\n';
const hint = (name: string): string =>
  `hint: to undo: kubectl taintmgr undo devicetaintrule/${name}; to follow: kubectl taintmgr explain devicetaintrule ${name}\n`;
const leave = (name: string): string =>
  `devicetaintrule/${name} stays with effect None and evicts no pods; to continue: kubectl taintmgr taint-device devicetaintrule/${name}; to undo: kubectl taintmgr undo devicetaintrule/${name}`;

describe('taint-device', () => {
  it('writes None first, says who would go, and then NoExecute', async () => {
    const answers = cluster.answers.length;
    const { code, out, err } = await type(
      'taint-device gpu.example.com/n1 health=bad:NoExecute --name a --yes --timeout 0s',
    );
    assert.equal(code, 0, err);
    assert.equal(
      out,
      `devicetaintrule.resource.k8s.io/a created with effect None: it evicts no pods
NAMESPACE   POD       DEVICE                     CLAIM   DECISION   IN    BUDGET             BECAUSE
shop        batch-1   gpu.example.com/n1/gpu-2   gpu-c   Evict      now   <none>             health=bad:NoExecute by DeviceTaintRule a; the claim's toleration of health names no effect; only NoExecute counts here, while the scheduler takes it for all effects
shop        train-1   gpu.example.com/n1/gpu-0   gpu-a   Evict      now   train (allows 0)   health=bad:NoExecute by DeviceTaintRule a; the claim does not tolerate it
shop        train-2   gpu.example.com/n1/gpu-0   gpu-a   Evict      now   train (allows 0)   health=bad:NoExecute by DeviceTaintRule a; the claim does not tolerate it
shop        train-3   gpu.example.com/n1/gpu-1   gpu-b   Evict      1d    train (allows 0)   health=bad:NoExecute by DeviceTaintRule a; the claim tolerates it for 1d
shop        agent-1   gpu.example.com/n1/gpu-3   gpu-d   Keep       -     <none>             claim gpu-d tolerates health=bad:NoExecute of device gpu.example.com/n1/gpu-3 without limit
shop        ext-1     gpu.example.com/n1/gpu-4   gpu-e   Keep       -     <none>             claim gpu-e was made for an extended resource: Kubernetes up to 1.37 does not evict for its devices, though device gpu.example.com/n1/gpu-4 of claim gpu-e is tainted health=bad:NoExecute by DeviceTaintRule a since <time>

6 published devices, 5 allocated; 6 pods: 4 to evict, 2 to keep
${noStatus}devicetaintrule.resource.k8s.io/a taints health=bad:NoExecute: 4 pods leave, if a controller follows rules here
`.replace('<time>', / since (\S+Z)$/m.exec(out)?.[1] ?? '?'),
    );
    assert.equal(
      err,
      `${risk}Warning: PDB shop/train allows 0 of its pods to go now, and 3 pods of it go
Warning: shop/batch-1: its toleration names no effect. The scheduler accepts that, eviction does not: replacements get the tainted devices again and are evicted again, without end
Warning: shop/ext-1 stays, unlike asked for: its device came as an extended resource (k/k#141290)
Warning: room for replacements: 0 devices of these drivers are free, and 4 pods would need one
${hint('a')}`,
    );
    const written = cluster.answers.slice(answers).filter((one) => !one.startsWith('GET'));
    assert.deepEqual(
      written.map((one) => one.replace(/\?\S+/, '')),
      [
        'POST /apis/resource.k8s.io/v1/devicetaintrules 201',
        'PATCH /apis/resource.k8s.io/v1/devicetaintrules/a 200',
      ],
    );
    assert.equal(effectOf('a'), 'NoExecute');
  });

  it('waits for what kube-controller-manager counts', async () => {
    const { result } = start(
      'taint-device gpu.example.com health:None --name a --timeout 60s'.split(' '),
    );
    await until('the rule to be there', () => Boolean(ruleOf('a')));
    writeProgress(cluster.api, 'a', 'NoEffect', '6 published devices selected.');
    const { code, out, err } = await result;
    assert.equal(code, 0);
    assert.match(out, /\nkube-controller-manager says: 6 published devices selected\.\n/);
    assert.match(out, /\/a taints health:None: a preview, 4 pods would leave\n$/);
    assert.equal(err, `hint: ${leave('a')}\n`);
  });

  it('goes on with a rule whose effect is None', async () => {
    await type('taint-device gpu.example.com/n1/gpu-0 health:None --name a --timeout 0s');
    const { code, out, err } = await type('taint-device devicetaintrule/a --yes --timeout 0s');
    assert.equal(code, 0, err);
    assert.match(
      out,
      /\/a taints health:NoExecute: 2 pods leave, if a controller follows rules here\n$/,
    );
    const again = await type('taint-device devicetaintrule/a --yes');
    assert.equal(
      again.err,
      'error: devicetaintrule/a has the effect NoExecute already; --snooze moves its deadlines, and kubectl taintmgr undo devicetaintrule/a takes it back\n',
    );
  });

  it('changes nothing in a dry run', async () => {
    const line = 'taint-device gpu.example.com/n1/gpu-0 health:NoExecute --name a --dry-run=';
    const client = await type(`${line}client`);
    assert.match(client.out, /\/a taints health:NoExecute \(dry run\): 2 pods would leave\n$/);
    const server = await type(`${line}server -o json`);
    const { rule, evict, dryRun } = JSON.parse(server.out);
    assert.deepEqual([rule.spec.taint.effect, evict, dryRun], ['NoExecute', 2, true]);
    assert.deepEqual(rules(), []);
  });

  it('says the same as JSON', async () => {
    const { out } = await type(
      'taint-device gpu.example.com/n1/gpu-1 health:NoExecute --name a --yes --timeout 0s -o json',
    );
    const { kind, evict, devices: reach, upstream, pods } = JSON.parse(out);
    assert.deepEqual([kind, evict, upstream], ['DeviceTaintReport', 1, null]);
    assert.deepEqual(reach, { published: 1, allocated: 1, free: 1 });
    const [{ name, decision, budgets, because }] = pods;
    assert.deepEqual([name, decision, budgets[0].name], ['train-3', 'Evict', 'train']);
    assert.deepEqual(because[0].source, { kind: 'rule', name: 'a' });
  });
});

describe('taint-device of a pod of a Job', () => {
  it('says that the Job fails', async () => {
    const { api } = cluster;
    api.create('jobs', job('shop', 'train', 60, { spec: { backoffLimit: 0 } }));
    const train = api.get('pods', 'shop', 'train-3') ?? assert.fail('no pod');
    const owner = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      name: 'train',
      uid: 'u',
      controller: true,
    };
    const metadata = { ...train.metadata, ownerReferences: [owner] };
    api.update('pods', { ...train, metadata });
    const { err } = await type(
      'taint-device gpu.example.com/n1/gpu-1 health:NoExecute --name a --dry-run=client',
    );
    assert.match(
      err,
      /\nWarning: Job shop\/train fails: backoffLimit 0 and no podFailurePolicy ignores DisruptionTarget\n/,
    );
  });
});

describe('taint-device refuses', () => {
  const cases: readonly (readonly [line: string, err: string])[] = [
    ['gpu.example.com/n1 health:NoExecute', 'error: this is no terminal to ask on: add --yes\n'],
    [
      'gpu.example.com/n1 health:NoExecute --yes --max-pods 3',
      'error: 4 pods would leave (shop/batch-1, shop/train-1, shop/train-2, shop/train-3), and --max-pods is 3; nothing was changed\n',
    ],
    [
      'gpu.example.com/n2 health:NoExecute --yes --name a',
      'error: no ResourceSlice has a device of driver gpu.example.com, pool n2, and no claim holds one: nothing was changed (a would taint nothing)\n',
    ],
    [
      'devicetaintrule/none --yes',
      'error: there is no DeviceTaintRule none; kubectl get devicetaintrules lists them\n',
    ],
    [
      'gpu.example.com/n1 health:NoExecute --max-pods many',
      "error: option '--max-pods <number>' argument 'many' is invalid. Want a whole number.\nSee kubectl taintmgr taint-device --help.\n",
    ],
  ];
  for (const [line, err] of cases) {
    it(line, async () => {
      assert.deepEqual(await type(`taint-device ${line}`), { code: 1, out: '', err });
      assert.deepEqual(rules(), []);
    });
  }

  it('a name that is taken', async () => {
    const line = 'taint-device gpu.example.com/n1/gpu-0 health:None --name a --timeout 0s';
    await type(line);
    const { code, err } = await type(line);
    assert.deepEqual(
      [code, err],
      [
        1,
        'Error from server (AlreadyExists): devicetaintrules.resource.k8s.io "a" already exists\n',
      ],
    );
  });

  it('a rule that keeps new pods away', async () => {
    cluster.api.create('devicetaintrules', {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'DeviceTaintRule',
      metadata: { name: 'a' },
      spec: { deviceSelector: { pool: 'n1' }, taint: { key: 'x', effect: 'NoSchedule' } },
    });
    const { err } = await type('taint-device devicetaintrule/a --yes');
    assert.equal(
      err,
      'error: devicetaintrule/a has the effect NoSchedule, which keeps new pods away: want a rule with None or NoExecute\n',
    );
  });

  it('where more pods would go by now than were shown', async () => {
    const { result } = start(
      'taint-device gpu.example.com/n1/gpu-0 health:NoExecute --name a --yes --timeout 60s'.split(
        ' ',
      ),
    );
    await until('the rule to be there', () => Boolean(ruleOf('a')));
    addHolder(cluster.api, 'train-4', 'gpu-a');
    writeProgress(cluster.api, 'a', 'NoEffect', '');
    const { code, err } = await result;
    cluster.api.delete('pods', 'shop', 'train-4', { gracePeriodSeconds: 0 });
    assert.equal(code, 1);
    assert.ok(
      err.endsWith(`error: 3 pods would leave now, and 2 were shown; ${leave('a')}\n`),
      err,
    );
    assert.equal(effectOf('a'), 'None');
  });

  it('a rule that somebody else changes meanwhile', async () => {
    const { result } = start(
      'taint-device gpu.example.com/n1/gpu-0 health:NoExecute --name a --yes --timeout 1s'.split(
        ' ',
      ),
    );
    await until('the rule to be there', () => Boolean(ruleOf('a')));
    await until('a look at its status', () =>
      cluster.answers.some(
        (one) => one.startsWith('GET') && one.endsWith('devicetaintrules/a 200'),
      ),
    );
    const rule = ruleOf('a') ?? assert.fail();
    const { spec } = rule;
    cluster.api.delete('devicetaintrules', '', 'a');
    cluster.api.create('devicetaintrules', { ...rule, metadata: { name: 'a' }, spec });
    const { code, err } = await result;
    assert.equal(code, 1);
    assert.match(
      err,
      /error: another client changed devicetaintrule\/a meanwhile; look at it again\n$/,
    );
    assert.equal(effectOf('a'), 'None');
  });

  it('to evict from every device by a rule that is there, unless a flag says so', async () => {
    const made = await type('taint-device --all-devices health:None --name a --timeout 0s');
    assert.match(made.err, /taint-device devicetaintrule\/a --all-devices; to undo/);
    const { code, err } = await type('taint-device devicetaintrule/a --yes --timeout 0s');
    assert.deepEqual(
      [code, err],
      [
        1,
        'error: devicetaintrule/a selects every device of every driver; to taint them all, add --all-devices\n',
      ],
    );
    const all = await type('taint-device devicetaintrule/a --all-devices --yes --timeout 0s');
    assert.match(
      all.out,
      /\/a taints health:NoExecute: 4 pods leave, if a controller follows rules here\n$/,
    );
  });

  it('those who may not see who would go', async () => {
    comeAs(cluster, 'viewer');
    const { code, err } = await type('taint-device gpu.example.com/n1 health:NoExecute --yes');
    assert.deepEqual(
      [code, err],
      [
        1,
        'error: the pods that would leave are unknown: you may not list resourceclaims; none is evicted\n',
      ],
    );
  });

  it('those who may not make rules', async () => {
    comeAs(cluster, 'onlooker');
    const { code, err } = await type('taint-device gpu.example.com/n1 health:NoExecute --yes');
    assert.equal(code, 1);
    assert.match(
      err,
      /^Error from server \(Forbidden\): devicetaintrules\.resource\.k8s\.io is forbidden: User "onlooker" cannot create resource "devicetaintrules" .*\nhint: kubectl auth can-i --list /,
    );
  });
});

describe('taint-device and Ctrl-C', () => {
  it('before anything is written leaves nothing', async () => {
    const running = start(
      'taint-device gpu.example.com health:NoExecute --name a --yes'.split(' '),
    );
    running.interrupt();
    assert.deepEqual(await running.result, {
      code: 130,
      out: '',
      err: 'interrupted; nothing was changed\n',
    });
    assert.deepEqual(rules(), []);
  });

  it('once the rule is there leaves it with None, and says so', async () => {
    const running = start(
      'taint-device gpu.example.com/n1 health:NoExecute --name a --yes --timeout 60s'.split(' '),
    );
    await until('the rule to be there', () => Boolean(ruleOf('a')));
    running.interrupt();
    const { code, err } = await running.result;
    assert.equal(code, 130);
    assert.ok(err.endsWith(`interrupted; ${leave('a')}\n`), err);
    assert.equal(effectOf('a'), 'None');
  });
});

describe('taint-device --snooze', () => {
  const addedAt = (): number => {
    const { spec } = ruleOf('a') ?? assert.fail('no rule');
    const { taint } = spec as { readonly taint: { readonly timeAdded: string } };
    return Date.parse(taint.timeAdded);
  };

  it('evicts for a new taint so much later', async () => {
    const { out } = await type(
      'taint-device gpu.example.com/n1/gpu-0 health:NoExecute --name a --yes --timeout 0s --snooze 30m',
    );
    assert.match(out, / train-1 .* Evict +(29m59s|30m) /);
    assert.match(
      out,
      /\/a taints health:NoExecute: 2 pods leave, if a controller follows rules here, counted from \S+Z\n$/,
    );
    assert.ok(Math.abs(addedAt() - Date.now() - 1_800_000) < 60_000);
  });

  it('moves the deadlines of a rule', async () => {
    await type(
      'taint-device gpu.example.com/n1/gpu-0 health:NoExecute --name a --yes --timeout 0s',
    );
    const before = addedAt();
    const dry = await type('taint-device devicetaintrule/a --snooze 2h --dry-run=server');
    assert.match(dry.out, /\(server dry run\)/);
    assert.equal(addedAt(), before);
    const { code, out, err } = await type('taint-device devicetaintrule/a --snooze 2h');
    assert.equal(code, 0, err);
    assert.match(out, / train-1 .* Evict +1h59m /);
    assert.equal(addedAt(), before + 7_200_000);
    assert.equal(effectOf('a'), 'NoExecute');
  });
});

// Last: a policy is in force for a while after it has gone.
describe('taint-device where an admission policy refuses NoExecute', () => {
  it('leaves the rule with None, and says what was said', async () => {
    const { api } = cluster;
    const group = 'admissionregistration.k8s.io/v1';
    const metadata = { name: 'no-execute' };
    const rule = {
      apiGroups: ['resource.k8s.io'],
      apiVersions: ['*'],
      operations: ['CREATE', 'UPDATE'],
      resources: ['devicetaintrules'],
    };
    api.create('validatingadmissionpolicies', {
      apiVersion: group,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {
        matchConstraints: { resourceRules: [rule] },
        validations: [{ expression: 'object.spec.taint.effect != "NoExecute"', message: 'ask us' }],
      },
    });
    api.create('validatingadmissionpolicybindings', {
      apiVersion: group,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: { policyName: 'no-execute', validationActions: ['Deny'] },
    });
    const line = 'taint-device gpu.example.com/n1/gpu-0 health:NoExecute --name a';
    let dry = await type(`${line} --dry-run=server`);
    // API servers take a while to hear of policies.
    for (const last = Date.now() + 60_000; dry.code === 0 && Date.now() < last; ) {
      dry = await type(`${line} --dry-run=server`);
    }
    assert.match(
      dry.err,
      /^The devicetaintrules "a" is invalid: .*ask us|^Error from server .*ask us/m,
    );
    const { code, err } = await type(`${line} --yes --timeout 0s`);
    assert.equal(code, 1);
    assert.match(
      err,
      /error: it was not written: .*ask us; devicetaintrule\/a stays with effect None /,
    );
    assert.equal(effectOf('a'), 'None');
  });
});
