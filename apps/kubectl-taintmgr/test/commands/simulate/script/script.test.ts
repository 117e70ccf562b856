import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { run } from '../../../world/run.ts';
import { temporaryFiles, topology } from '../../../world/simulate-files.ts';

const { path, write: file } = temporaryFiles();

describe('mistakes', () => {
  const cases: readonly (readonly [name: string, script: string, faults: readonly string[]])[] = [
    ['nothing but words', '# later\n---\n', ['1:1: the file is empty, want a script with events']],
    ['no list', 'events: 5', ['1:9: events: want a list, got 5']],
    [
      'each with its place',
      'events:\n- at: soon\n  cordon: {node: zone-a-1}\n- at: 1m\n  cordon: {zones: a}\n',
      [
        '2:7: events[0].at: want a duration such as 90s, 5m or 1h30m, got "soon"',
        '5:12: events[1].cordon.zones: unknown field, did you mean zone? want node, nodes, zone, selector',
      ],
    ],
    [
      'after the end',
      'events:\n- {at: 2h, cordon: {node: zone-a-1}}\n',
      [
        '2:8: events[0].at: got 2h, want less than 30m, the end of the simulation; --until sets the end',
      ],
    ],
    [
      'nobody',
      'events:\n- {at: 1m, cordon: {node: nobody}}\n- {at: 1m, cordon: {zone: nowhere}}\n',
      [
        '2:3: events[0]: there is no node nobody; there are zone-a-1, zone-a-2, zone-b-1, zone-b-2, zone-c-1, zone-c-2',
        '3:3: events[1]: no node is meant by zone nowhere; there are zone-a, zone-b, zone-c',
      ],
    ],
    [
      'what is not there, and what is',
      'times:\n- {workload: shop/wbe, start: 60s}\nevents:\n- {at: 1m, scale: {workload: shop/lon, replicas: 2}}\n' +
        '- {at: 1m, scale: {workload: infra/agent, replicas: 2}}\n- {at: 1m, setBudget: {budget: shop/wbe, maxUnavailable: 1}}\n' +
        '- {at: 1m, cordon: {zone: zone-d}}\n',
      [
        '2:3: times[0]: there is no workload shop/wbe, did you mean shop/web? there are shop/lone, shop/web, infra/agent',
      ],
    ],
    [
      'what events are about',
      'events:\n- {at: 1m, scale: {workload: shop/lon, replicas: 2}}\n' +
        '- {at: 1m, scale: {workload: infra/agent, replicas: 2}}\n- {at: 1m, setBudget: {budget: shop/wbe, maxUnavailable: 1}}\n' +
        '- {at: 1m, cordon: {zone: zone-d}}\n- {at: 1m, cordon: {node: zone-a-3}}\n',
      [
        '2:30: events[0].scale.workload: there is no workload that scales shop/lon, did you mean shop/lone? there are shop/lone, shop/web',
        '3:30: events[1].scale.workload: there is no workload that scales infra/agent; there are shop/lone, shop/web',
        '4:32: events[2].setBudget.budget: there is no budget shop/wbe, did you mean shop/web? there are shop/lone, shop/web',
        '5:3: events[3]: no node is meant by zone zone-d, did you mean zone-a? there are zone-a, zone-b, zone-c',
        '6:3: events[4]: there is no node zone-a-3, did you mean zone-a-1? there are zone-a-1, zone-a-2, zone-b-1, zone-b-2, zone-c-1, zone-c-2',
      ],
    ],
    [
      'refused while it runs',
      'events:\n- {at: 1m, resume: {pause: work}}\n',
      ['2:3: events[0]: at 1m: there is no pause work at this time'],
    ],
    [
      'what the controller goes through',
      'events:\n- {at: 1m, stepClock: {by: soon}}\n- {at: 1m, slowApi: {delay: 0}}\n- {at: 1m, resume: {}}\n' +
        '- {at: 1m, restartControler: {}}\n- {at: 1m, pause: {deadlines: never}}\n- {at: 1m, failover: {}, lasts: soon}\n',
      [
        '2:28: events[0].stepClock.by: want a time such as 10m, or -10m to set it back',
        '3:29: events[1].slowApi.delay: want a time such as 2s',
        '4:20: events[2].resume: want one of pause, limits',
        '5:12: events[3].restartControler: unknown field, did you mean restartController? want at, lasts, stagger, every, times, ' +
          'taint, untaint, stopKubelet, resumeKubelet, loseNetwork, restoreNetwork, setCondition, cordon, uncordon, drain, addNode, ' +
          'removeNode, apiOutage, scale, leakMemory, setBudget, restartController, failover, pause, resume, stepClock, slowApi',
        '6:31: events[4].pause.deadlines: Invalid value: "string": events[4].pause.deadlines in body must be of type boolean: "string"',
        '7:33: events[5].lasts: want a duration such as 90s, 5m or 1h30m, got "soon"',
      ],
    ],
    [
      'a list without a name',
      '- {at: 1m, cordon: {node: zone-a-1}}\n',
      ['1:1: want the list under events:'],
    ],
    [
      'a taint without an effect',
      'events:\n- {at: 1m, taint: {node: zone-a-1, taint: a=b}}\n',
      [
        '2:43: events[0].taint.taint: want key=value:Effect, with NoSchedule, PreferNoSchedule or NoExecute, got "a=b"',
      ],
    ],
    [
      'a bracket that is missing, in one line',
      'events:\n- {at: 1m, cordon: {node: zone-a-1}\n- {at: 2m, cordon: {node: zone-a-1}}\n',
      ['3:1: Flow map in block collection must be sufficiently indented and end with a }'],
    ],
    [
      'a time that is none',
      'times:\n- {workload: shop/web, start: 90s-60s}\n- {workload: shop/web}\nevents: []\n',
      [
        '2:31: times[0].start: want a time such as 60s, or a least and a most such as 60s-90s, got "90s-60s"',
        '3:3: times[1]: want start, stop or both',
      ],
    ],
    [
      'a write while nobody can write',
      'events:\n- {at: 1m, apiOutage: {}, lasts: 1m}\n- {at: 90s, cordon: {node: zone-a-1}}\n',
      ['3:3: events[1]: at 1m30s: the API server is out of reach at this time'],
    ],
    [
      'a leak that nobody acts on',
      'events:\n- {at: 1m, leakMemory: {workload: shop/web, perSecond: 1Mi}}\n',
      [
        '2:3: events[0]: no controller acts on it: add pressure, with thresholds such as settings.evictionHard',
      ],
    ],
    [
      'a threshold',
      'pressure: {settings: {evictionHard: {memory.available: much}}}\nevents: []\n',
      [
        '1:22: pressure.settings: quantities must match the regular expression ' +
          "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
      ],
    ],
    [
      'the engine',
      'engine: {mode: gently}\nevents: []\n',
      ['1:16: engine.mode: got "gently", want delete or evict or evict-then-delete'],
    ],
    [
      'rules',
      'engine: {semantics: theirs}\nevents: []\n',
      [
        '1:21: engine.semantics: got "theirs", want taintmgr or kube-controller-manager or kube-controller-manager-1.36',
      ],
    ],
    [
      'rules beside takeover',
      'engine: {semantics: kube-controller-manager, takeover: true}\nevents: []\n',
      ['1:21: engine.semantics: got "kube-controller-manager", want taintmgr'],
    ],
    [
      'a field by its former name',
      'engine: {settleMs: 5000}\nevents: []\n',
      ['1:10: engine.settleMs: unknown field; want minTaintAgeMs'],
    ],
    [
      'a field that the engine has not, deep in it',
      'engine: {lifecycle: {massUnreachable: {part: 1}}}\nevents: []\n',
      [
        '1:40: engine.lifecycle.massUnreachable.part: unknown field; want share, nodesMin, withinMs, holdMs',
      ],
    ],
    [
      'limits in the grammar of earlier versions',
      'engine: {limits: [{per: zone, podsPerSecond: 1}]}\nevents: []\n',
      [
        '1:10: engine.limits: unknown field; want an EvictionPolicy under policies of the script, or in a file of --policy: ' +
          'they are its spec.limits, with per Zone for zone, window for windowMs, onLimit Queue or Trip, and nodeSelector for nodes',
      ],
    ],
    [
      'taint rules in the grammar of earlier versions',
      'engine: {lifecycle: {conditionRules: []}}\nevents: []\n',
      [
        '1:22: engine.lifecycle.conditionRules: unknown field; want a NodeTaintRule under policies of the script, or in a ' +
          'file of --policy: condition is spec.condition.type, status spec.condition.status, holdsMs and clearMs ' +
          'spec.holds and spec.clear, nodes spec.nodeSelector, nodesMax spec.maxNodes',
      ],
    ],
    [
      'policies in the grammar of earlier versions',
      'engine: {policies: [{key: spot, mode: evict}]}\nevents: []\n',
      [
        '1:10: engine.policies: unknown field; want an EvictionPolicy under policies of the script, or in a file of --policy: ' +
          'key, value and effect are in spec.match.taints, mode is spec.action (Delete, Evict, EvictThenDelete), the others are in spec',
      ],
    ],
    [
      'manifests, in the words of the API server',
      'policies:\n- apiVersion: taintmgr.dev/v1alpha1\n  kind: EvictionPolicy\n  metadata: {name: a}\n  spec: {action: Drop}\n' +
        '- {apiVersion: taintmgr.dev/v1alpha1, kind: NodeDrain, metadata: {name: b}, spec: {nodes: [n1], taint: {key: k}}}\nevents: []\n',
      [
        '5:18: spec.action: Unsupported value: "Drop": supported values: "Delete", "Evict", "EvictThenDelete", "Keep", "KubeControllerManager", "Request", "Upstream"',
        '6:45: a NodeDrain is no policy, want EvictionPolicy, NodeTaintRule, EvictionPause',
      ],
    ],
    [
      'another kind of value',
      'engine: {compare: maybe}\nevents: []\n',
      ['1:19: engine.compare: want true or false, got "maybe"'],
    ],
    [
      'a threshold that is no text',
      'pressure: {settings: {evictionHard: {memory.available: 5}}}\nevents: []\n',
      [
        "1:56: pressure.settings.evictionHard.memory.available: want a text, got 5 (5 is a number in YAML 1.1; to have a text write '5' in quotes)",
      ],
    ],
    [
      'a node that cannot be',
      'events:\n- {at: 1m, addNode: {name: Node_1}}\n- {at: 1m, addNode: {name: n1, capacity: {cpu: lots}}}\n' +
        "- {at: 1m, addNode: {name: n1, labels: {a: 'b c'}}}\n",
      [
        `2:28: events[0].addNode.name: want a name of lower-case letters, digits, '-' and '.', got "Node_1"`,
        "3:48: events[1].addNode.capacity.cpu: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        `4:44: events[2].addNode.labels.a: want at most 63 letters, digits, '-', '_' and '.', as in a label, got "b c"`,
      ],
    ],
    [
      'no node at all',
      'events:\n- {at: 1m, cordon: {nodes: []}}\n',
      ['2:28: events[0].cordon.nodes: want the name of a node at least'],
    ],
  ];
  for (const [name, script, faults] of cases) {
    it(name, async () => {
      const [source, events] = [file('topology.yaml', topology), file('wrong.yaml', script)];
      const { code, out, err } = await run('simulate', '-f', source, '--script', events);
      const wanted = faults.map((fault) => `error: ${events}:${fault}\n`).join('');
      assert.deepEqual({ code, out, err }, { code: 1, out: '', err: wanted });
    });
  }

  for (const [what, deep] of [
    ['maps', `${'{"a":'.repeat(9_500)}1${'}'.repeat(9_500)}`],
    ['lists', `${'['.repeat(9_500)}${']'.repeat(9_500)}`],
  ] as const) {
    for (const [where, text] of [
      ['a pod', `{"items": [{"kind": "Pod", "apiVersion": "v1", "spec": {"x": ${deep}}}]}`],
      [
        'a kind that plays no part',
        `{"items": [{"kind": "Box", "apiVersion": "a/v1", "x": ${deep}}]}`,
      ],
      ['all of it', deep],
      ['a document of YAML', `---\nkind: Pod\nx: ${deep}\n`],
    ] as const) {
      it(`${what} in ${what}, deep in ${where}`, async () => {
        const source = file('deep.yaml', text);
        const { err, code } = await run('simulate', '-f', source);
        assert.equal(code, 1);
        assert.match(err, /^error: .*deep\.yaml:\d:\d+: it is nested more than 300 deep\n/);
      });
    }
  }

  const most = 2_147_483_647;
  const ofPods = { template: { spec: { containers: [{ name: 'c', image: 'i' }] } } };
  for (const [kind, apiVersion, spec, field, got] of [
    ['Deployment', 'apps/v1', { replicas: most }, 'replicas', most],
    ['Job', 'batch/v1', { parallelism: most }, 'parallelism', most],
    ['Job', 'batch/v1', { parallelism: most, completions: 200_000 }, 'completions', 200_000],
  ] as const) {
    it(`in the only node beside a ${kind} of ${got} ${field}`, async () => {
      const status = {};
      const node = { kind: 'Node', apiVersion: 'v1', metadata: { name: 'n' }, spec: {}, status };
      const metadata = { name: 'w', namespace: 'shop' };
      const workload = { kind, apiVersion, metadata, spec: { ...ofPods, ...spec }, status };
      const source = file('crowd.json', JSON.stringify({ items: [node, workload] }));
      const { err, code } = await run('simulate', '-f', source);
      assert.equal(code, 1);
      const text = `${kind} shop/w: want at most 150000 pods of all workloads, got ${got}`;
      assert.match(
        err,
        new RegExp(`^error: .*crowd\\.json:1:\\d+: items\\[1\\]\\.spec\\.${field}: ${text}\\n$`),
      );
    });
  }

  it('in the only node of a snapshot', async () => {
    const source = file(
      'no-node.json',
      '{"kind": "List", "apiVersion": "v1", "items": [\n{"kind": "Node", "apiVersion": "v1",\n' +
        '"metadata": {"name": "a"},\n"spec": {"taints": "x"}}]}',
    );
    const { code, err } = await run('simulate', '-f', source);
    assert.equal(code, 1);
    assert.equal(
      err,
      `error: ${source}:4:20: items[0].spec.taints: Node a: json: cannot unmarshal string into Go struct field NodeSpec.spec.taints of type []v1.Taint\n` +
        `error: ${source}: there is no node in it that could be taken; want a whole cluster, as kubectl taintmgr snapshot prints it\n`,
    );
  });

  it('in json that is none', async () => {
    const source = file('none.json', '{"items": [\n  {"kind": }\n]}');
    const { code, err } = await run('simulate', '-f', source);
    assert.equal(code, 1);
    assert.equal(err, `error: ${source}:2:12: Unexpected token '}'\n`);
  });
});

describe('--fail-if', () => {
  const script = 'events:\n- at: 1m\n  stopKubelet: {zone: zone-b}\n';
  const cases: readonly (readonly [limit: string, code: number, err: RegExp])[] = [
    ['unavailable(shop/web) > 30%', 2, /^limit crossed: .*: shop\/web had 33\.3%$/m],
    ['unavailable(shop/web) > 40%', 0, /^$/],
    ['unavailable(*/*) >= 2', 2, /had 2$/m],
    ['below(shop/web) > 1m', 2, /shop\/web had 4m5\ds/],
    ['evictions(shop/*) > 100', 0, /^$/],
    [
      'unavailable(shop/wbe) > 1',
      1,
      /no workload shop\/wbe, did you mean shop\/web\? there are .*shop\/web/,
    ],
    ['evictions(shop/web) > 3%', 1, /column 23: want a number to compare with/],
    ['sorrow(shop/web) > 3', 1, /column 1: no metric sorrow; want down, downtime, /],
  ];
  for (const [limit, code, err] of cases) {
    it(limit, async () => {
      const files = ['-f', file('topology.yaml', topology), '--script', file('zone.yaml', script)];
      const result = await run('simulate', ...files, '--until', '15m', '--fail-if', limit);
      assert.equal(result.code, code, result.err);
      assert.match(result.err, err);
    });
  }
});

it('takes earlier spellings, and says how they are spelled', async () => {
  const script =
    'engine: {mode: evictThenDelete, semantics: precise}\n' +
    'pressure: {semantics: precise}\nevents: []\n';
  const files = ['-f', file('topology.yaml', topology), '--script', file('old.yaml', script)];
  const limit = 'evictions(shop/web, upstream-1.36) > 999';
  const { code, err } = await run('simulate', ...files, '--compare', '--fail-if', limit);
  assert.equal(code, 0, err);
  const warnings = err.split('\n').filter((line) => line.startsWith('Warning:'));
  assert.deepEqual(
    warnings.map((line) => line.replace(path('old.yaml'), 'FILE')),
    [
      'Warning: FILE:1:16: engine.mode: write evict-then-delete instead of evictThenDelete',
      'Warning: FILE:1:44: engine.semantics: write taintmgr instead of precise',
      'Warning: FILE:2:23: pressure.semantics: write taintmgr instead of precise',
      `Warning: --fail-if "${limit}": write kube-controller-manager instead of upstream-1.36`,
    ],
  );
});

it('reads conditions before the cluster, and looks for what they are about before it plays anything', async () => {
  const wrong = await run('simulate', '-f', 'nowhere.yaml', '--fail-if', 'donwtime(shop/web) > 3s');
  assert.deepEqual([wrong.code, wrong.out], [1, '']);
  assert.match(wrong.err, /column 1: no metric donwtime, did you mean downtime\? want down, /);
  // The event could not be played at its time.
  const files = [
    '-f',
    file('topology.yaml', topology),
    '--event',
    '{at: 1m, resume: {pause: none}}',
  ];
  const { err } = await run('simulate', ...files, '--fail-if', 'down(shop/wbe) > 1');
  assert.match(err, /^error: --fail-if .*no workload shop\/wbe, did you mean shop\/web\?/);
  assert.match((await run('simulate', ...files)).err, /there is no pause none at this time/);
});

it('names the place in an event of the command line', async () => {
  const events = [
    [
      '{at: 1m, drian: {node: zone-a-1}}',
      /^error: --event:1:10: drian: unknown field, did you mean drain\? want at, /,
    ],
    ['{at: 1m, drain: {node: zone-x}}', /^error: --event:1:1: there is no node zone-x; there are /],
    [
      '{at: 2h, failover: {}}',
      /^error: --event:1:6: at: got 2h, want less than 30m, the end of the simulation/,
    ],
    ['nothing', /^error: --event:1:1: want an object with at, .*, drain, .*, got "nothing"/],
    [
      '{at: 1m, drain: zone-a-1}',
      /^error: --event:1:17: drain: want an object with node, nodes, zone, selector, got "zone-a-1"/,
    ],
    ['', /^error: --event:1:1: the file is empty/],
    [
      '{at: 1m, leakMemory: {workload: shop/web, perSecond: 1Mi}}',
      /^error: --event:1:1: .*no controller acts on it: add pressure/,
    ],
  ] as const;
  for (const [event, expected] of events) {
    const files = ['-f', file('topology.yaml', topology), '--event', event];
    const { code, err } = await run('simulate', ...files);
    assert.equal(code, 1, err);
    assert.match(err, expected);
  }
});

it('writes no page where nothing was simulated', async () => {
  const report = path('none.html');
  const { code, err } = await run('simulate', '-f', file('empty.yaml', ''), '--report', report);
  assert.equal(code, 1);
  assert.match(
    err,
    /empty\.yaml:1:1: the file is empty, want what kubectl get -o json prints, or a Topology/,
  );
  assert.throws(() => readFileSync(report), /ENOENT/);
});
